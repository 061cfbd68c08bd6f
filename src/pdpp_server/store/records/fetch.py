"""One record, where the grant shows it."""

import orjson

from pdpp_server.errors import AmbiguousConnection, Candidate, NotFound, StreamNotDeclared
from pdpp_server.grants.permitted import Permitted, Scope
from pdpp_server.model.queries import FetchQuery, SearchQuery, StreamRead
from pdpp_server.model.records import Record
from pdpp_server.model.sources import Origin
from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import Layout
from pdpp_server.store.records.expand import expanded
from pdpp_server.store.records.scope import shows
from pdpp_server.store.records.showing import Showing, StoredRow

FoundRecord = tuple[Scope, Origin, int, StoredRow]  # whose it is, the number of its stream, and what is stored


def fetch(reading: Reading, permitted: Permitted[FetchQuery]) -> Record:
    """Raises NotFound where no record is shown, AmbiguousConnection where several connections hold one."""
    scope, origin, sid, row = find(reading, permitted, permitted.query.key)
    record = Showing(reading, scope, origin, sid).record(row)
    return expanded(reading, permitted.related, [record], [row])[0] if permitted.related else record


def find(reading: Reading, permitted: Permitted[StreamRead], key: str, param: str = "id") -> FoundRecord:
    """The one visible record of that key."""
    layout = reading.layout
    query = permitted.query
    found: list[FoundRecord] = []
    for scope in permitted.scopes:
        for connection_id in scope.connections:
            place = layout.place(connection_id, query.stream)
            if place is None:
                continue
            stored = reading.records.get(place.sid, key)
            if stored is None:
                continue
            rid, version, revised, emitted_at, text, at = stored
            if shows(scope, key, at):
                row = StoredRow(rid, key, version, revised, emitted_at, orjson.loads(text))
                found.append((scope, layout.origins[connection_id], place.sid, row))
    if not found:
        require_declared(layout, permitted)
        raise NotFound(
            f"No record with that id in {query.stream!r}.",
            param=param,
            remedy="Pass an id as search or query_records prints it; a record may have gone since.",
        )
    if len(found) > 1:
        raise AmbiguousConnection(
            f"The id is held by {len(found)} connections.",
            param="connection_id",
            candidates=tuple(
                Candidate(origin.connection_id, origin.connector_key, scope.grant_id, origin.label)
                for scope, origin, _, _ in found
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
