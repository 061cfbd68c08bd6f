"""A permitted scope as SQL: the only WHERE that narrows by grant."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import orjson

from pdpp_server.grants.permitted import Scope
from pdpp_server.model.sources import Origin
from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import StreamPlace, day_of, first_rid

# Of named records, those that the time bounds show: what is left needs no other look.
_RIDS_OF_KEYS = """
select rid from records
where sid = :sid and key in (select value from json_each(:keys)) and data is not null
and (:since is null or at >= :since) and (:until is null or at < :until) order by rid
"""
# The one narrowing of records; `{rid}` is the column that holds the rid in the statement at hand.
# Days that lie wholly inside the time bounds need no look at the record; the first and the last day do.
_VISIBLE = """{rid} >= :low and {rid} < :high"""
_VISIBLE_TIME = """ and (({rid} >= :inner_low and {rid} < :inner_high) or exists(
    select 1 from records bounded where bounded.rid = {rid} and bounded.at >= :since and bounded.at < :until))"""
# Few records are looked up one by one, whatever lies between them; of many, what lies between is passed over.
_VISIBLE_FEW = """{rid} in (select value from json_each(:rids))"""
_VISIBLE_MANY = """{rid} >= :low and {rid} < :high and +{rid} in (select value from json_each(:rids))"""
FEW = 2000

_ALWAYS, _NEVER = -(1 << 62), 1 << 62


@dataclass(frozen=True, slots=True)
class Reach:
    """The visible records of one stream of one connection, as a range of rids and what bounds it."""

    scope: Scope
    origin: Origin
    place: StreamPlace
    where: str  # with {rid} to fill in; ends up in fixed statements only, never holds a value
    values: dict[str, int | str]
    rids: tuple[int, ...] | None = None  # in order, where single records are all that is visible

    @property
    def is_few(self) -> bool:
        """Whether single records are visible, and so few that each can be looked at."""
        return self.rids is not None and len(self.rids) <= FEW

    @property
    def is_whole(self) -> bool:
        """Whether nothing in the range is hidden."""
        return self.where is _VISIBLE

    def narrowing(self, rid: str) -> str:
        """The WHERE for a statement in which the column `rid` holds the rid."""
        return self.where.format(rid=rid)


def reaches(reading: Reading, scope: Scope) -> list[Reach]:
    """One reach for each connection of the scope that holds the stream."""
    return [
        _reach(reading, scope, reading.layout.origins[connection_id], place)
        for connection_id in scope.connections
        if (place := reading.layout.place(connection_id, scope.stream.name)) is not None
    ]


def _reach(reading: Reading, scope: Scope, origin: Origin, place: StreamPlace) -> Reach:
    whole = Reach(scope, origin, place, _VISIBLE, {"low": first_rid(place.sid), "high": first_rid(place.sid + 1)})
    if scope.resources is not None:
        return named(whole, _rids_of_keys(reading, scope, place.sid))
    if scope.is_bounded:
        return replace(whole, where=_VISIBLE + _VISIBLE_TIME, values=_time_values(place.sid, scope))
    return whole


def _rids_of_keys(reading: Reading, scope: Scope, sid: int) -> list[int]:
    keys = orjson.dumps(sorted(scope.resources or ())).decode()
    bounds = {"sid": sid, "keys": keys, "since": scope.since, "until": scope.until}
    return [rid for (rid,) in reading.rows(_RIDS_OF_KEYS, bounds)]


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
    """Of what a reach shows, only these records. All of them are visible, so nothing else bounds them any longer."""
    ordered = tuple(sorted(rids))
    low, high = (ordered[0], ordered[-1] + 1) if ordered else (0, 0)
    values: dict[str, int | str] = {"low": low, "high": high, "rids": orjson.dumps(ordered).decode()}
    where = _VISIBLE_FEW if len(ordered) <= FEW else _VISIBLE_MANY
    return replace(reach, where=where, values=values, rids=ordered)


def shows(scope: Scope, key: str, at: int | None) -> bool:
    """The same narrowing for one record that is already at hand."""
    if scope.resources is not None and key not in scope.resources:
        return False
    if scope.since is None and scope.until is None:
        return True
    return at is not None and (scope.since is None or at >= scope.since) and (scope.until is None or at < scope.until)
