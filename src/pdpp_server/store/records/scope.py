"""A permitted scope as what it reaches: for each connection a range of records, and what bounds it."""

from pdpp_server.grants.permitted import Scope
from pdpp_server.model.sources import Origin
from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import StreamPlace, first_rid
from pdpp_server.store.records.reach import Reach, named, timed


def reaches(reading: Reading, scope: Scope) -> list[Reach]:
    """One reach for each connection of the scope that holds the stream."""
    return [
        _reach(reading, scope, reading.layout.origins[connection_id], place)
        for connection_id in scope.connections
        if (place := reading.layout.place(connection_id, scope.stream.name)) is not None
    ]


def _reach(reading: Reading, scope: Scope, origin: Origin, place: StreamPlace) -> Reach:
    whole = Reach(scope, origin, place, "whole", {"low": first_rid(place.sid), "high": first_rid(place.sid + 1)})
    if scope.resources is not None:
        rids = reading.records.rids_of(place.sid, scope.resources, scope.since, scope.until)
        return named(whole, rids)
    if scope.is_bounded:
        return timed(whole, scope.since, scope.until)
    return whole


def shows(scope: Scope, key: str, at: int | None) -> bool:
    """The same narrowing for one record that is already at hand."""
    if scope.resources is not None and key not in scope.resources:
        return False
    if scope.since is None and scope.until is None:
        return True
    return at is not None and (scope.since is None or at >= scope.since) and (scope.until is None or at < scope.until)
