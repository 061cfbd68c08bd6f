"""Filters by the indexes alone: what passes of a reach, without a look at any record."""

from pdpp_server.model.queries import Condition
from pdpp_server.store.engine import Reading
from pdpp_server.store.records.conditions import asked_of, fewest, passing
from pdpp_server.store.records.ingest import INDEXED_CHARS
from pdpp_server.store.records.reach import FEW, IndexedRange, Reach, named, timed

FEW_OF_A_FILTER = 300  # so many texts are read sooner than a common word's places are passed over


def left_of(reading: Reading, reach: Reach, conditions: tuple[Condition, ...]) -> Reach:
    """Of what a reach shows, what passes every condition."""
    within, others = within_time(reach, conditions)
    if not others:
        return within
    # Between single records that a grant names there are hidden ones; between those that a filter leaves are none.
    few = FEW if reach.rids is not None else FEW_OF_A_FILTER

    def find() -> Reach:
        return named(within, passing_rids(reading, within, others), few)

    is_long = any(len(condition.value) > INDEXED_CHARS for condition in others)  # hardly asked again, but large
    return find() if is_long else reading.records.left(within, (others, few), find)


def within_time(reach: Reach, conditions: tuple[Condition, ...]) -> tuple[Reach, tuple[Condition, ...]]:
    """What conditions on the time that orders a stream leave of a reach, as a shorter stretch; and the others.

    Single records that a grant names are no stretch.
    """
    field = reach.scope.stream.order_field
    if field is None or field != reach.place.position or reach.rids is not None:
        return reach, conditions
    bounds = asked_of(reach, conditions, field)
    if bounds is None or not reach.scope.stream.fields[field].is_date:
        return reach, conditions
    since = bounds.least + bounds.is_above if isinstance(bounds.least, int) else None
    until = bounds.most + (not bounds.is_below) if isinstance(bounds.most, int) else None
    return timed(reach, since, until), tuple(condition for condition in conditions if condition.field != field)


def passing_rids(reading: Reading, reach: Reach, conditions: tuple[Condition, ...]) -> list[int]:
    ranges = _exact_ranges(reading, reach, conditions)
    if ranges is None:
        return [row.rid for row in passing(reading, reach, conditions)]
    return reading.records.passing(reach, *ranges)


def passing_count(reading: Reading, reach: Reach, conditions: tuple[Condition, ...]) -> int:
    ranges = _exact_ranges(reading, reach, conditions)
    if ranges is None:
        return sum(1 for _ in passing(reading, reach, conditions))
    return reading.records.passing_count(reach, *ranges)


def _exact_ranges(reading: Reading, reach: Reach, conditions: tuple[Condition, ...]) -> tuple[IndexedRange, ...] | None:
    """The ranges of indexes that hold nothing but what passes, the shortest first; the others are single values.

    None where somebody has to look at records: where few are visible, where an index does not tell whole values,
    or where it would have to be walked through for every record that another one gives.
    """
    shortest, _ = fewest(reading, reach, conditions)
    if shortest is None:
        return None
    ranges: list[IndexedRange] = []
    for field in dict.fromkeys(condition.field for condition in conditions):
        bounds = asked_of(reach, conditions, field)
        if bounds is None or not _is_exact(reach, bounds, field):
            return None
        ranges.append(bounds)
    ranges.sort(key=lambda bounds: bounds.fid != shortest.fid)
    others = ranges[1:]
    return tuple(ranges) if all(bounds.is_one_value for bounds in others) else None


def _is_exact(reach: Reach, bounds: IndexedRange, field: str) -> bool:
    """Whether the index tells of each record whether it passes: whole values, of the type by which it is asked."""
    declared = reach.scope.stream.fields[field]
    if not declared.is_scalar or reach.place.types[field] != declared.type or field == reach.scope.stream.order_field:
        return False
    if declared.type != "string":
        return True
    return bounds.is_one_value and len(str(bounds.least)) < INDEXED_CHARS
