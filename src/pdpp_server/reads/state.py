"""How far the owner's own collectors have come."""

from pdpp_server.errors import InvalidRequest, NotFound
from pdpp_server.grants.lifecycle import require_live_grant
from pdpp_server.model.grants import Grant
from pdpp_server.model.state import Cursors, StateQuery, SyncState
from pdpp_server.model.times import iso
from pdpp_server.reads.services import Call, Services
from pdpp_server.reads.writes import require_owner, writing
from pdpp_server.store.consent.grants import grant_state
from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import ConnectionPlace
from pdpp_server.store.records.sources import resolve_connection
from pdpp_server.store.records.sync_state import keep_cursors, list_cursors


def get_state(services: Services, call: Call, query: StateQuery) -> SyncState:
    require_owner(services, call)
    with services.database.reading() as reading:
        connection = resolve_connection(reading.layout, *query.target)
        if query.grant_id is not None:
            _require_grant(services, reading, query.grant_id, connection)
        cursors, updated_at = list_cursors(reading, connection.number, query.grant_id)
        return SyncState(connection.origin, query.grant_id, cursors, updated_at)


def put_state(services: Services, call: Call, query: StateQuery, cursors: Cursors) -> SyncState:
    """All of the cursors, or none."""
    require_owner(services, call)
    with services.database.reading() as reading:
        connection = resolve_connection(reading.layout, *query.target)
        if not cursors.keys() <= connection.declared:
            raise NotFound("The source declares no such stream.", param="state")
        if query.grant_id is not None:
            grant = _require_grant(services, reading, query.grant_id, connection)
            _require_granted(grant, connection, cursors)
    with writing(services, call) as write:
        connection = resolve_connection(write.layout, *query.target)
        keep_cursors(write, connection.number, query.grant_id, cursors, write.now)
    return get_state(services, call, query)


def _require_grant(services: Services, reading: Reading, grant_id: str, connection: ConnectionPlace) -> Grant:
    """A state of its own has only a grant that goes on, and that is of this connector."""
    state = grant_state(reading, grant_id)
    grant = services.shelf.get(reading, grant_id) if state else None
    if state is None or grant is None or grant.source.connector_key != connection.origin.connector_key:
        raise NotFound("The connector has no such grant.", param="grant_id")
    require_live_grant(state, iso(services.now()))
    if grant.access_mode != "continuous":
        raise InvalidRequest("Only a continuous grant has a state of its own.", param="grant_id")
    return grant


def _require_granted(grant: Grant, connection: ConnectionPlace, cursors: Cursors) -> None:
    connection_id = connection.origin.connection_id
    granted = {stream.name for stream in grant.streams if connection_id in stream.connections}
    if not cursors.keys() <= granted:
        raise InvalidRequest("The grant does not cover such a stream of this connection.", param="state")
