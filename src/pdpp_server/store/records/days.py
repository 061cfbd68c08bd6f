"""Whole days, counted beforehand; only the days at the edges of a grant need a look at their records."""

from pdpp_server.grants.permitted import Scope
from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import MAX_DAY, day_of, first_rid
from pdpp_server.store.records.scope import Reach

_INNER = "select day, live from days where sid = ? and day > ? and day < ? and live > 0 order by day"
_INNER_TOTAL = "select coalesce(sum(live), 0) from days where sid = ? and day > ? and day < ?"
_AT_EDGE = """
select count(*) from records where rid >= :first_of_day and rid < :first_of_next and {where} and data is not null
"""


def edge_days(scope: Scope) -> tuple[int, int]:
    """The days that time bounds cut; without bounds the first and the last of all, which hold what lies beyond too."""
    first = 0 if scope.since is None else day_of(scope.since)
    return first, MAX_DAY if scope.until is None else day_of(scope.until)


def inner_days(reading: Reading, reach: Reach) -> list[tuple[int, int]]:
    """Each day between the edges with its number of records. Only for a scope that is not narrowed to resources."""
    return reading.rows(_INNER, (reach.place.sid, *edge_days(reach.scope)))


def count_by_days(reading: Reading, reach: Reach) -> int:
    """How many records are visible, under the same condition."""
    sid, edges = reach.place.sid, edge_days(reach.scope)
    total: int = reading.one(_INNER_TOTAL, (sid, *edges))
    statement = _AT_EDGE.format(where=reach.narrowing("records.rid"))
    for day in set(edges):
        span = {"first_of_day": first_rid(sid, day), "first_of_next": first_rid(sid, day + 1)}
        total += reading.one(statement, {**reach.values, **span})
    return total
