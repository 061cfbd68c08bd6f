"""One record by its key: the question, for whoever can ask it sooner than the read that needs its answer."""

from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.queries import FetchQuery, WindowQuery
from pdpp_server.store.layout import Layout
from pdpp_server.store.session import Statement

AHEAD_MAX = 4  # connections that may hold it
RECORD_BY_KEY = """
select rid, version, revised, emitted_at, data, at from records where sid = ? and key = ? and data is not null
"""


def asking_for_record(sid: int, key: str) -> Statement:
    """What `Records.get` asks."""
    return RECORD_BY_KEY, (sid, key)


def asking_ahead(layout: Layout, permitted: Permitted[FetchQuery | WindowQuery]) -> list[Statement]:
    """What that read will ask for first, as things lay before."""
    query = permitted.query
    held_by = (connection_id for scope in permitted.scopes for connection_id in scope.connections)
    places = [place for connection_id in held_by if (place := layout.place(connection_id, query.stream))]
    return [asking_for_record(place.sid, query.key) for place in places[:AHEAD_MAX]]
