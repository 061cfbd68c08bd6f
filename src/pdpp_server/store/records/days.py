"""Whole days, counted beforehand; only the days at the edges of a grant need a look at their records."""

from pdpp_server.store.engine import Reading
from pdpp_server.store.records.reach import Reach


def inner_days(reading: Reading, reach: Reach) -> list[tuple[int, int]]:
    """Each day between the edges with its number of records. Only for a reach that does not name its records."""
    return reading.records.days(reach.place.sid, *reach.edge_days)


def count_by_days(reading: Reading, reach: Reach) -> int:
    """How many records are visible, under the same condition."""
    edges = reach.edge_days
    inner = reading.records.days_total(reach.place.sid, *edges)
    return inner + sum(reading.records.on_day(reach, day) for day in set(edges))
