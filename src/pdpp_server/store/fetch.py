"""One record, where the grant shows it."""

from collections.abc import Mapping
from typing import Any

import orjson

from pdpp_server.errors import AmbiguousConnection, Candidate, NotFound, StreamNotDeclared
from pdpp_server.grants.permitted import Permitted, Scope
from pdpp_server.model.queries import FetchQuery, WindowQuery
from pdpp_server.model.records import Record, RecordId
from pdpp_server.model.sources import Origin
from pdpp_server.store.db import Reading
from pdpp_server.store.layout import Layout
from pdpp_server.store.rows import one
from pdpp_server.store.scope import shows

_RECORD = "select data, emitted_at, at from records where sid = ? and key = ? and data is not null"


def fetch(reading: Reading, permitted: Permitted[FetchQuery]) -> Record:
    """Raises NotFound where no record is shown, AmbiguousConnection where several connections hold one."""
    scope, origin, data, emitted_at = find(reading, permitted)
    query = permitted.query
    wanted = scope.fields
    shown = {name: value for name, value in orjson.loads(data).items() if name in wanted}
    return record_of(scope, RecordId(origin.connection_id, query.stream, query.key), origin, shown, emitted_at)


def find(reading: Reading, permitted: Permitted[FetchQuery] | Permitted[WindowQuery]) -> tuple[Scope, Origin, str, str]:
    """The one visible record of that key: its scope, origin, data as stored and emission time."""
    layout = reading.layout
    query = permitted.query
    found: list[tuple[Scope, Origin, str, str]] = []
    for scope in permitted.scopes:
        for connection_id in scope.connections:
            place = layout.place(connection_id, query.stream)
            row = one(reading.connection, _RECORD, (place.sid, query.key)) if place else None
            if row is not None and shows(scope, query.key, row[2]):
                found.append((scope, layout.origins[connection_id], row[0], row[1]))
    if not found:
        _require_declared(layout, permitted)
        raise NotFound(f"No record with that id in {query.stream!r}.", param="id")
    if len(found) > 1:
        raise AmbiguousConnection(
            f"The id is held by {len(found)} connections.",
            param="connection_id",
            candidates=tuple(
                Candidate(origin.connection_id, origin.connector_key, scope.grant_id, origin.label)
                for scope, origin, *_ in found
            ),
        )
    return found[0]


def _require_declared(layout: Layout, permitted: Permitted[FetchQuery] | Permitted[WindowQuery]) -> None:
    stream = permitted.query.stream
    asked = {name for scope in permitted.scopes for name in scope.connections}
    places = [place for name, place in layout.connections.items() if name in asked]
    if places and not any(stream in place.declared for place in places):
        raise StreamNotDeclared(f"The source no longer declares {stream!r}.", param="stream")


def record_of(scope: Scope, record_id: RecordId, origin: Origin, data: Mapping[str, Any], emitted_at: str) -> Record:
    """A record with what its stream declares about the fields that are shown."""
    stream = scope.stream
    authored: str | None = None
    for name in stream.time_fields:
        if isinstance(time := data.get(name), str):
            authored = time
            break
    roles = stream.roles
    if not roles.keys() <= scope.fields:
        roles = {name: role for name, role in roles.items() if name in scope.fields}
    return Record(record_id, origin, data, emitted_at, authored, roles)
