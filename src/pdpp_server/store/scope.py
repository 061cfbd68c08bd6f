"""A permitted scope as SQL: the only WHERE that narrows by grant."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import apsw
import orjson

from pdpp_server.grants.permitted import Scope
from pdpp_server.model.sources import Origin
from pdpp_server.store.layout import Layout, StreamPlace, day_of, first_rid

_RIDS_OF_KEYS = """
select rid from records where sid = ? and key in (select value from json_each(?)) and data is not null
"""
# The one narrowing of records; `{rid}` is the column that holds the rid in the statement at hand.
# Days that lie wholly inside the time bounds need no look at the record; the first and the last day do.
_VISIBLE = """{rid} >= :low and {rid} < :high"""
_VISIBLE_TIME = """ and (({rid} >= :inner_low and {rid} < :inner_high) or exists(
    select 1 from records bounded where bounded.rid = {rid} and bounded.at >= :since and bounded.at < :until))"""
_VISIBLE_KEYS = """ and +{rid} in (select value from json_each(:rids))"""

_ALWAYS, _NEVER = -(1 << 62), 1 << 62


@dataclass(frozen=True, slots=True)
class Reach:
    """The visible records of one stream of one connection, as a range of rids and what bounds it."""

    scope: Scope
    origin: Origin
    place: StreamPlace
    where: str  # with {rid} to fill in; ends up in fixed statements only, never holds a value
    values: dict[str, int | str]

    @property
    def is_whole(self) -> bool:
        """Whether nothing in the range is hidden."""
        return self.where is _VISIBLE

    def narrowing(self, rid: str) -> str:
        """The WHERE for a statement in which the column `rid` holds the rid."""
        return self.where.format(rid=rid)


def reaches(connection: apsw.Connection, layout: Layout, scope: Scope) -> list[Reach]:
    """One reach for each connection of the scope that holds the stream."""
    return [
        _reach(connection, scope, layout.origins[connection_id], place)
        for connection_id in scope.connections
        if (place := layout.place(connection_id, scope.stream.name)) is not None
    ]


def _reach(connection: apsw.Connection, scope: Scope, origin: Origin, place: StreamPlace) -> Reach:
    if not scope.is_bounded:
        whole: dict[str, int | str] = {"low": first_rid(place.sid), "high": first_rid(place.sid + 1)}
        return Reach(scope, origin, place, _VISIBLE, whole)
    where = _VISIBLE
    values: dict[str, int | str] = {"low": first_rid(place.sid), "high": first_rid(place.sid + 1)}
    if scope.since is not None or scope.until is not None:
        where += _VISIBLE_TIME
        values |= _time_values(place.sid, scope)
    if scope.resources is not None:
        where += _VISIBLE_KEYS
        keys = orjson.dumps(sorted(scope.resources)).decode()
        rids = sorted(row[0] for row in connection.execute(_RIDS_OF_KEYS, (place.sid, keys)))
        values["rids"] = orjson.dumps(rids).decode()
    return Reach(scope, origin, place, where, values)


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


def named(reach: Reach, rids: Iterable[int]) -> Reach:
    """Of what a reach shows, only these records."""
    values = {**reach.values, "rids": orjson.dumps(sorted(rids)).decode()}
    return replace(reach, where=reach.where.removesuffix(_VISIBLE_KEYS) + _VISIBLE_KEYS, values=values)


def shows(scope: Scope, key: str, at: int | None) -> bool:
    """The same narrowing for one record that is already at hand."""
    if scope.resources is not None and key not in scope.resources:
        return False
    if scope.since is None and scope.until is None:
        return True
    return at is not None and (scope.since is None or at >= scope.since) and (scope.until is None or at < scope.until)
