"""Declarations, connections, rejections: what the owner has brought in."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import orjson

from pdpp_server.errors import (
    AmbiguousConnectorInstance,
    Candidate,
    ConnectorInstanceNotFound,
    ConnectorInvalid,
    InvalidDeclaration,
)
from pdpp_server.model.ingest import RefusedLine, Rejection
from pdpp_server.model.sources import Declaration, StoredSource, StoredStream
from pdpp_server.model.streams import Stream
from pdpp_server.store.engine import Writing
from pdpp_server.store.layout import INDEXED, NEW_GENERATION, POSITIONED, ConnectionPlace, Layout, first_rid
from pdpp_server.store.records.connection_ids import connection_id_of, keep_connection_id
from pdpp_server.store.session import Session
from pdpp_server.wire.declarations import decode_declaration

RECEIPTS_KEPT = 1000  # of lines that came over HTTP, for each connection

_KNOWN_DECLARATION = "select declaration, document from declarations where source_id = ? and version = ?"
# Numbers are never given twice, also when a declaration was removed: whoever decoded one remembers it by its number.
_NEW_DECLARATION = """
insert into declarations(declaration, source_id, version, document, created_at)
select max(number) + 1, ?, ?, ?, ?
from (select generation number from layout union all select max(declaration) from declarations) numbers
returning declaration
"""
_KNOWN_CONNECTION = "select connection, declaration from connections where connection_id = ?"
_NEW_CONNECTION = """
insert into connections(connection_id, declaration, connector_key, display_name, created_at, updated_at)
values(:id, :declaration, :connector_key, :name, :now, :now) returning connection
"""
_ADOPT = "update connections set declaration = ?, updated_at = ? where connection = ?"
_HELD_DECLARATION = """
select document from declarations join connections using(declaration) where connection = ?
"""
_FILLED_STREAMS = "select name, laid_out from streams where connection = ? and version > 0"
_LAID_OUT = "update streams set laid_out = ? where sid = ?"
_TOUCH = "update connections set updated_at = ? where connection = ?"
_REFRESHED = "update streams set refreshed_on = ? where connection = ? and name = ?"
_NEW_STREAM = "insert into streams(connection, name) values(?, ?) on conflict do nothing"
_STREAM = "select sid from streams where connection = ? and name = ?"
_FIELDS = "select name, slot, indexed, type from fields where sid = ?"
_CLEAR_FIELDS = "delete from fields where sid = ?"
_NEW_FIELD = "insert into fields(sid, name, slot, indexed, type) values(?, ?, ?, ?, ?)"
_FORGET_REJECTED = "delete from rejections where connection = ? and (place = ? or place >= ? and place < ?)"
_REJECTIONS = """
select place, code, reason from rejections join connections using(connection) where connection_id = ?
order by length(place), place
"""
_REJECTED = """
insert into rejections(connection, place, code, reason, at) values(?, ?, ?, ?, ?)
on conflict(connection, place) do update set code = excluded.code, reason = excluded.reason, at = excluded.at
"""
_FORGET_DELIVERED = """
delete from rejections where connection = :connection and place >= 'ingest/' and place < 'ingest0' and place not in (
    select place from rejections where connection = :connection and place >= 'ingest/' and place < 'ingest0'
    order by at desc, place limit :kept)
"""
_RENAME = "update connections set display_name = ? where connection = ?"
_SOURCES = """
select c.connection_id, c.connector_key, c.display_name, c.updated_at, s.name, s.live, s.sid, s.laid_out,
       (select count(*) from rejections r where r.connection = c.connection)
from connections c left join streams s on s.connection = c.connection
order by c.connection, s.name
"""
_OLDEST = """
select at from records where rid >= ? and rid < ? and at is not null and data is not null order by rid limit 1
"""
_NEWEST = """
select at from records where rid >= ? and rid < ? and at is not null and data is not null order by rid desc limit 1
"""


def declare(writer: Writing, declaration: Declaration, now: str) -> int:
    """Keep a declaration for ever.

    Raises:
        InvalidDeclaration: the same source published something else under this version before.
    """
    document = orjson.dumps(declaration.document).decode()  # in its own order: that is the order of the fields
    known = writer.one(_KNOWN_DECLARATION, (declaration.source.id, declaration.version))
    if known is not None:
        number, kept = known
        if orjson.loads(kept) != declaration.document:
            raise InvalidDeclaration(
                f"{declaration.source.id} already declared something else as version {declaration.version!r}.",
                param="declaration_version",
                remedy="Give the changed declaration a new declaration_version.",
            )
        return number
    return writer.one(_NEW_DECLARATION, (declaration.source.id, declaration.version, document, now))


class Connected(NamedTuple):
    connection_id: str
    is_new: bool
    is_stale: bool  # its index must be rebuilt


def connect(writer: Writing, declaration: Declaration, name: str, *, subject: str, now: str) -> Connected:
    """The connection of that name, made or brought to this declaration."""
    source = declaration.source
    connection_id = connection_id_of(writer, source, name, subject=subject)
    number = declare(writer, declaration, now)
    known = writer.one(_KNOWN_CONNECTION, (connection_id,))
    if known is not None and known[1] == number:
        return Connected(connection_id, is_new=False, is_stale=False)
    if known is None:
        row = {
            "id": connection_id,
            "declaration": number,
            "connector_key": source.connector_key,
            "name": name,
            "now": now,
        }
        connection = writer.one(_NEW_CONNECTION, row)
        keep_connection_id(writer, connection_id, source, name, subject)
    else:
        connection = known[0]
        held = decode_declaration(orjson.loads(writer.one(_HELD_DECLARATION, (connection,))))
        _require_same_layout(writer, connection, held, declaration)
        _forget_other_meanings(writer, connection, held, declaration)
        writer.run(_ADOPT, (number, now, connection))
    changed = [_lay_out(writer, connection, stream, declaration) for stream in declaration.streams.values()]
    writer.run(NEW_GENERATION)
    return Connected(connection_id, is_new=known is None, is_stale=known is not None and any(changed))


def is_untouched(reader: Session, connection: int) -> bool:
    """Whether no record ever came into it."""
    return not reader.rows(_FILLED_STREAMS, (connection,))


def resolve_connection(layout: Layout, connector_key: str, connection_id: str | None) -> ConnectionPlace:
    """The connection that a write means: the one named, else the connector's only one.

    Raises:
        ConnectorInvalid: nothing was ever brought in by such a connector.
        ConnectorInstanceNotFound: the connection named is none of its connections.
        AmbiguousConnectorInstance: it has several, and none was named.
    """
    places = [place for place in layout.connections.values() if place.origin.connector_key == connector_key]
    if not places:
        raise ConnectorInvalid("No connection of such a connector is here.", param="connector_id")
    if connection_id is None:
        if len(places) > 1:
            raise AmbiguousConnectorInstance(
                "The connector has several connections.",
                param="connection_id",
                candidates=tuple(
                    Candidate(p.origin.connection_id, connector_key, label=p.origin.label) for p in places
                ),
            )
        return places[0]
    named = next((place for place in places if place.origin.connection_id == connection_id), None)
    if named is None:
        raise ConnectorInstanceNotFound("The connector has no such connection.", param="connection_id")
    return named


def _require_same_layout(writer: Writing, connection: int, held: Declaration, declaration: Declaration) -> None:
    """Records lie by their key and their time. Grants bound by that time would show other records if it changed."""
    for name, laid_out in writer.rows(_FILLED_STREAMS, (connection,)):
        before, after = held.streams.get(name), declaration.streams.get(name)
        laid_by = laid_out or (_laid_out(before) if before else None)
        if after is not None and laid_by is not None and laid_by != _laid_out(after):
            key, time = orjson.loads(laid_by)
            raise InvalidDeclaration(
                f"Stream {name!r} holds records by {', '.join(key)} and {time}.",
                param="streams",
                remedy="Import under another name where the primary key or the time field of a stream has changed.",
            )


def _forget_other_meanings(writer: Writing, connection: int, held: Declaration, declaration: Declaration) -> None:
    """Records of a stream whose meaning is now looked for in other fields wait for it anew."""
    for name, before in held.streams.items():
        after = declaration.streams.get(name)
        if before.semantic_fields != (after.semantic_fields if after else ()):
            sid = writer.one(_STREAM, (connection, name))
            writer.meanings.drop_between(first_rid(sid), first_rid(sid + 1))


def _laid_out(stream: Stream) -> str:
    return orjson.dumps([stream.primary_key, stream.order_field]).decode()


def _lay_out(writer: Writing, connection: int, stream: Stream, declaration: Declaration) -> bool:
    """Number the stream and its fields; whether that differs from what was there."""
    writer.run(_NEW_STREAM, (connection, stream.name))
    sid = writer.one(_STREAM, (connection, stream.name))
    writer.run(_LAID_OUT, (_laid_out(stream), sid))
    wanted = _field_rows(stream, declaration)
    if {row[0]: row[1:] for row in writer.rows(_FIELDS, (sid,))} == wanted:
        return False
    writer.run(_CLEAR_FIELDS, (sid,))
    writer.run_many(_NEW_FIELD, [(sid, name, *row) for name, row in wanted.items()])
    return True


def _field_rows(stream: Stream, declaration: Declaration) -> dict[str, tuple[int | None, int, str]]:
    """Field to its column of the word index, whether its values are indexed, and its type; nothing for others."""
    slots = {name: slot for slot, name in enumerate(stream.lexical_fields)}
    indexed = dict.fromkeys(indexed_fields(stream, declaration), INDEXED)
    if stream.position_field:
        indexed[stream.position_field] = POSITIONED
    return {
        name: (slots.get(name), indexed.get(name, 0), field.type or "")
        for name, field in stream.fields.items()
        if name in slots or name in indexed
    }


def indexed_fields(stream: Stream, declaration: Declaration) -> frozenset[str]:
    """The fields that declared filters, orders, aggregations and relationships need."""
    declared = stream.aggregations
    related = {
        relationship.foreign_key
        for other in declaration.streams.values()
        for relationship in other.relationships
        if relationship.stream == stream.name and relationship.joins_there(stream)
    }
    wanted = {
        *stream.time_fields, *stream.range_filters, *declared.sum, *declared.min, *declared.max, *related,
        *declared.count_distinct, *declared.group_by, *declared.group_by_time, stream.cursor_field,
        *stream.talk_fields[:1],
    }  # fmt: skip
    return frozenset(name for name in wanted if name and stream.fields[name].is_scalar)


def finish_run(
    writer: Writing,
    connection_id: str,
    files: Iterable[str],
    rejections: Sequence[Rejection],
    now: str,
    *,
    complete: Iterable[str] = (),
) -> None:
    """Note that files were taken in, and what of them was not: the rejections of the last run are those that stand.

    Of the streams in `complete` they were all that there is. If something was rejected they were not, and nobody knows
    of which stream.
    """
    connection = writer.one(_KNOWN_CONNECTION, (connection_id,))[0]
    writer.run(_TOUCH, (now, connection))
    if not rejections:
        writer.run_many(_REFRESHED, [(now[:10], connection, stream) for stream in complete])
    writer.run_many(_FORGET_REJECTED, ((connection, file, f"{file}:", f"{file};") for file in files))
    writer.run_many(_REJECTED, [(connection, r.place, r.code, r.reason, now) for r in rejections])


def finish_delivery(writer: Writing, connection: int, stream: str, refused: Sequence[RefusedLine], now: str) -> None:
    """Note that lines were taken in over HTTP, and those that were not, by their receipts; the newest are kept."""
    writer.run(_TOUCH, (now, connection))
    if refused:
        rows_of = [(connection, f"ingest/{stream}/{r.receipt_id}", r.code, r.reason, now) for r in refused]
        writer.run_many(_REJECTED, rows_of)
        writer.run(_FORGET_DELIVERED, {"connection": connection, "kept": RECEIPTS_KEPT})


def rename(writer: Writing, connection: int, name: str) -> None:
    writer.run(_RENAME, (name, connection))
    writer.run(NEW_GENERATION)


def list_rejections(reader: Session, connection_id: str) -> list[Rejection]:
    return [Rejection(*row) for row in reader.rows(_REJECTIONS, (connection_id,))]


def list_sources(reader: Session) -> list[StoredSource]:
    found: dict[str, StoredSource] = {}
    streams: dict[str, list[StoredStream]] = {}
    for connection_id, connector_key, name, updated_at, stream, live, sid, laid_out, rejected in reader.rows(_SOURCES):
        found[connection_id] = StoredSource(connection_id, connector_key, name, updated_at, rejected, ())
        if stream is not None:
            oldest, newest = _span(reader, sid) if _has_times(laid_out) else (None, None)
            streams.setdefault(connection_id, []).append(StoredStream(stream, live, oldest, newest))
    return [
        StoredSource(
            s.connection_id, s.connector_key, s.name, s.updated_at, s.rejected, tuple(streams.get(s.connection_id, ()))
        )
        for s in found.values()
    ]


def _has_times(laid_out: str | None) -> bool:
    """Whether records lie by a time of their own: without one they lie by when they were stored."""
    return laid_out is not None and orjson.loads(laid_out)[1] is not None


def _span(reader: Session, sid: int) -> tuple[int | None, int | None]:
    rids = (first_rid(sid), first_rid(sid + 1))
    return reader.one(_OLDEST, rids), reader.one(_NEWEST, rids)
