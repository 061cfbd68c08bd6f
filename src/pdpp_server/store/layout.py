"""Where things lie: connections, streams and fields as the numbers that other tables use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

import orjson

from pdpp_server.model.sources import Declaration, Origin
from pdpp_server.store.session import Session, Statement
from pdpp_server.wire.declarations import decode_declaration

SID_BITS, DAY_BITS = 43, 26
RIDS_OF_DAY = 1 << DAY_BITS
INDEXED, POSITIONED = 1, 2  # of fields.indexed
MAX_DAY = (1 << (SID_BITS - DAY_BITS)) - 1
_DAYS_BEFORE_1970 = 62_091  # 1800-01-01
_FIRST_DAY = date(1800, 1, 1).toordinal()

GENERATION: Statement = ("select generation from layout", ())
# Whoever writes what no version of a stream tells of says so by it: nothing that was kept of before is believed then.
NEW_GENERATION = "update layout set generation = generation + 1"
_CONNECTIONS = """
select connection, connection_id, declaration, connector_key, display_name from connections order by connection
"""
_STREAMS = "select sid, connection, name from streams"
_FIELDS = "select sid, name, fid, slot, indexed, type from fields"
_DECLARATION = "select document from declarations where declaration = ?"


def first_rid(sid: int, day: int = 0) -> int:
    return (sid << SID_BITS) + (day << DAY_BITS)


def day_in(rid: int) -> int:
    return (rid >> DAY_BITS) & MAX_DAY


def day_of(at: int | None) -> int:
    """The day number inside a rid; a record without a time counts as the oldest."""
    return 0 if at is None else min(max(at // 86_400_000_000 + _DAYS_BEFORE_1970, 0), MAX_DAY)


def date_of(day: int) -> date | None:
    """The date of a day number; none of what lies before all days, or had no time."""
    return date.fromordinal(_FIRST_DAY + day) if 0 < day < MAX_DAY else None


def first_moment(day: int) -> int:
    """The instant at which a day number begins."""
    return (day - _DAYS_BEFORE_1970) * 86_400_000_000


@dataclass(frozen=True, slots=True)
class StreamPlace:
    sid: int
    slots: Mapping[str, int]  # field to column of the word index
    fids: Mapping[str, int]  # field to number in field_values, or in positions
    position: str | None  # the one field whose values lie in positions
    types: Mapping[str, str]  # field to the type as which it is indexed; empty where an older version indexed it


@dataclass(frozen=True, slots=True)
class ConnectionPlace:
    number: int
    origin: Origin
    declaration: int
    streams: Mapping[str, StreamPlace]
    declared: frozenset[str]  # names of the streams that its declaration of now still has


@dataclass(frozen=True, slots=True)
class Layout:
    generation: int
    connections: Mapping[str, ConnectionPlace]  # by connection id, oldest first
    origins: Mapping[str, Origin]

    def place(self, connection_id: str, stream: str) -> StreamPlace | None:
        """None where a connection is gone, or no longer declares that stream."""
        connection = self.connections.get(connection_id)
        return connection.streams.get(stream) if connection and stream in connection.declared else None


class LayoutCache:
    """The layout as of a snapshot; read anew only when a declaration or connection changed."""

    def __init__(self) -> None:
        self._layout: Layout | None = None
        self._declarations: dict[int, Declaration] = {}

    def of(self, connection: Session) -> Layout:
        generation: int = connection.one(*GENERATION)
        layout = self._layout
        if layout is None or layout.generation != generation:
            layout = self._layout = self._load(connection, generation)
        return layout

    def declaration(self, connection: Session, number: int) -> Declaration:
        """Declarations never change once stored, so one decoding serves for ever."""
        known = self._declarations.get(number)
        if known is None:
            document = connection.one(_DECLARATION, (number,))
            known = self._declarations[number] = decode_declaration(orjson.loads(document))
        return known

    def _load(self, connection: Session, generation: int) -> Layout:
        fields: dict[int, list[_FieldRow]] = {}
        for sid, *row in connection.rows(_FIELDS):
            fields.setdefault(sid, []).append(_FieldRow(*row))
        streams: dict[int, dict[str, StreamPlace]] = {}
        for sid, number, name in connection.rows(_STREAMS):
            streams.setdefault(number, {})[name] = _stream_place(sid, fields.get(sid, ()))
        connections: dict[str, ConnectionPlace] = {}
        for number, connection_id, declaration, connector_key, label in connection.rows(_CONNECTIONS):
            connections[connection_id] = ConnectionPlace(
                number,
                Origin(connection_id, connector_key, label),
                declaration,
                streams.get(number, {}),
                frozenset(self.declaration(connection, declaration).streams),
            )
        return Layout(generation, connections, {name: place.origin for name, place in connections.items()})


class _FieldRow(NamedTuple):
    name: str
    fid: int
    slot: int | None
    indexed: int
    kind: str


def _stream_place(sid: int, fields: Sequence[_FieldRow]) -> StreamPlace:
    return StreamPlace(
        sid,
        {field.name: field.slot for field in fields if field.slot is not None},
        {field.name: field.fid for field in fields if field.indexed},
        next((field.name for field in fields if field.indexed == POSITIONED), None),
        {field.name: field.kind for field in fields},
    )
