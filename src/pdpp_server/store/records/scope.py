"""A permitted scope as what it reaches: for each connection a range of records, and what bounds it."""

from dataclasses import replace

from pdpp_server.grants.permitted import Scope
from pdpp_server.model.sources import Origin
from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import StreamPlace, day_of, first_rid
from pdpp_server.store.records.reach import Reach, named

_ALWAYS, _NEVER = -(1 << 62), 1 << 62


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
        return replace(whole, shown="timed", values=_time_values(place.sid, scope))
    return whole


def _time_values(sid: int, scope: Scope) -> dict[str, int | str]:
    since = _ALWAYS if scope.since is None else scope.since
    until = _NEVER if scope.until is None else scope.until
    first_day, last_day = day_of(since), day_of(until)
    return {
        "low": first_rid(sid, first_day),
        "high": first_rid(sid, last_day + 1),
        "inner_low": first_rid(sid, first_day + 1),
        "inner_high": first_rid(sid, last_day),
        "since": since,
        "until": until,
    }


def shows(scope: Scope, key: str, at: int | None) -> bool:
    """The same narrowing for one record that is already at hand."""
    if scope.resources is not None and key not in scope.resources:
        return False
    if scope.since is None and scope.until is None:
        return True
    return at is not None and (scope.since is None or at >= scope.since) and (scope.until is None or at < scope.until)
