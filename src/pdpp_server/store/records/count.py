"""How many records are visible, and from when to when."""

from collections.abc import Sequence

import orjson

from pdpp_server.model.queries import Condition
from pdpp_server.model.records import Span
from pdpp_server.model.streams import Field
from pdpp_server.model.times import iso_micros
from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import day_in
from pdpp_server.store.records.conditions import BEHIND_NUMBERS, LEAST, index_of
from pdpp_server.store.records.days import count_by_days
from pdpp_server.store.records.filters import passing_count, passing_rids, within_time
from pdpp_server.store.records.reach import IndexedRange, Reach


def count(reading: Reading, reach: Reach, conditions: tuple[Condition, ...] = ()) -> int:
    """Exactly."""
    if conditions:
        within, others = within_time(reach, conditions)
        return passing_count(reading, within, others) if others else count(reading, within)
    if reach.is_whole:
        return reading.records.live(reach.place.sid)
    return count_by_days(reading, reach) if reach.rids is None else len(reach.rids)


def passing_each(
    reading: Reading, reaches: Sequence[Reach], conditions: tuple[Condition, ...]
) -> tuple[tuple[str, int], ...]:
    """How many pass what is asked of each field alone; nothing where only one is asked about."""
    of_fields: dict[str, list[Condition]] = {}
    for condition in conditions:
        of_fields.setdefault(condition.field, []).append(condition)
    if len(of_fields) < 2:
        return ()
    passing: list[tuple[str, int]] = []
    for name, of in of_fields.items():
        passing.append((name, sum([count(reading, reach, (*of,)) for reach in reaches])))
    return tuple(passing)


def span(reading: Reading, reaches: Sequence[Reach], conditions: tuple[Condition, ...]) -> Span:
    """The total over all reaches, with the first and the last consent time where the grant shows that field."""
    total = 0
    times: list[int] = []
    fields: dict[str, None] = {}
    for reach in reaches:
        shown = _shown_time(reach)
        if shown is not None:
            fields[shown.name] = None
        within, others = within_time(reach, conditions)
        if others or within.rids is not None:
            passed = passing_rids(reading, within, others) if others else within.rids or ()
            total += len(passed)
            times += _times(reading, within, shown, passed) if shown else []
        else:
            total += count(reading, within)
            times += _edges(reading, within, shown) if shown else []
    if not times:
        return Span(total)
    return Span(total, iso_micros(min(times)), iso_micros(max(times)), tuple(fields))


def _shown_time(reach: Reach) -> Field | None:
    """The field of the consent time, where it may be shown."""
    name = reach.scope.stream.consent_time_field
    if name is None or name not in reach.scope.granted:
        return None
    return reach.scope.stream.fields[name]


def _edges(reading: Reading, reach: Reach, field: Field) -> list[int]:
    """The first and the last time in a stretch, by the index."""
    index = index_of(reach.place, field)
    if index is None:
        return []
    least, most = LEAST, BEHIND_NUMBERS
    if reach.shown == "timed" and field.name == reach.scope.stream.order_field:
        least, most = reach.values["since"], reach.values["until"]
    found = reading.records.edges(reach, IndexedRange(index, reach.place.fids[field.name], least, most))
    return [at for at in found if isinstance(at, int)]


def _times(reading: Reading, reach: Reach, field: Field, rids: Sequence[int]) -> list[int]:
    """Among these times are the first and the last of single records.

    They lie in the order of days. Those of the first day may have no time, then the first of all is in the next.
    """
    if field.name != reach.scope.stream.order_field:
        rows = [orjson.loads(data) for *_, data in reading.records.stored(rids)]
        values = [field.comparable(row.get(field.name)) for row in rows]
        return [at for at in values if isinstance(at, int)]
    days = sorted({day_in(rid) for rid in rids})
    outer = {*days[:2], *days[-1:]}
    looked_at = [rid for rid in rids if day_in(rid) in outer]
    return [at for *_, at in reading.records.keys(looked_at) if at is not None]
