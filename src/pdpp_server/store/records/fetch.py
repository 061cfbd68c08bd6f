"""One record, where the grant shows it."""

import orjson

from pdpp_server.errors import AmbiguousConnection, Candidate, NotFound, StreamNotDeclared
from pdpp_server.grants.permitted import Permitted, Scope
from pdpp_server.model.queries import FetchQuery, SearchQuery, StreamRead, WindowQuery
from pdpp_server.model.records import Record
from pdpp_server.model.sources import Origin
from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import Layout
from pdpp_server.store.records.expand import expanded
from pdpp_server.store.records.scope import shows
from pdpp_server.store.records.showing import Row, Showing

Found = tuple[
    Scope, Origin, int, tuple[int, int, int, str, str, int | None]
]  # with the sid, and the record as it is stored


def fetch(reading: Reading, permitted: Permitted[FetchQuery]) -> Record:
    """Raises NotFound where no record is shown, AmbiguousConnection where several connections hold one."""
    scope, origin, sid, (rid, version, revised, emitted_at, text, _) = find(reading, permitted)
    row = Row(rid, permitted.query.key, version, revised, emitted_at, orjson.loads(text))
    record = Showing(reading, scope, origin, sid).record(row)
    return expanded(reading, permitted.related, [record], [row])[0] if permitted.related else record


def find(reading: Reading, permitted: Permitted[FetchQuery] | Permitted[WindowQuery]) -> Found:
    """The one visible record of that key."""
    layout = reading.layout
    query = permitted.query
    found: list[Found] = []
    for scope in permitted.scopes:
        for connection_id in scope.connections:
            place = layout.place(connection_id, query.stream)
            if place is None:
                continue
            row = reading.records.get(place.sid, query.key)
            if row is not None and shows(scope, query.key, row[5]):
                found.append((scope, layout.origins[connection_id], place.sid, row))
    if not found:
        require_declared(layout, permitted)
        raise NotFound(
            f"No record with that id in {query.stream!r}.",
            param="id",
            remedy="Pass an id as search or query_records prints it; a record may have gone since.",
        )
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


def require_declared(layout: Layout, permitted: Permitted[StreamRead] | Permitted[SearchQuery]) -> None:
    """Raises StreamNotDeclared where everything asked is of streams that no connection declares any longer."""
    asked = [(name, scope.stream.name) for scope in permitted.scopes for name in scope.connections]
    present = [(layout.connections[name], stream) for name, stream in asked if name in layout.connections]
    if present and not any(stream in place.declared for place, stream in present):
        streams = ", ".join(sorted({repr(stream) for _, stream in asked}))
        raise StreamNotDeclared(f"The source no longer declares {streams}.", param="stream")
