"""Whole days, counted beforehand; only the days at the edges of a grant need a look at their records."""

from pdpp_server.grants.permitted import Scope
from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import MAX_DAY, day_of
from pdpp_server.store.records.reach import Reach


def edge_days(scope: Scope) -> tuple[int, int]:
    """The days that time bounds cut; without bounds the first and the last of all, which hold what lies beyond too."""
    first = 0 if scope.since is None else day_of(scope.since)
    return first, MAX_DAY if scope.until is None else day_of(scope.until)


def inner_days(reading: Reading, reach: Reach) -> list[tuple[int, int]]:
    """Each day between the edges with its number of records. Only for a scope that is not narrowed to resources."""
    return reading.records.days(reach.place.sid, *edge_days(reach.scope))


def count_by_days(reading: Reading, reach: Reach) -> int:
    """How many records are visible, under the same condition."""
    edges = edge_days(reach.scope)
    inner = reading.records.days_total(reach.place.sid, *edges)
    return inner + sum(reading.records.on_day(reach, day) for day in set(edges))
