"""How many records are visible, and from when to when."""

from collections.abc import Sequence

from pdpp_server.model.queries import Condition
from pdpp_server.model.records import Span
from pdpp_server.model.times import iso_micros
from pdpp_server.store.engine import Reading
from pdpp_server.store.records.conditions import index_of, passing
from pdpp_server.store.records.days import count_by_days
from pdpp_server.store.records.reach import Reach


def count(reading: Reading, reach: Reach, conditions: tuple[Condition, ...] = ()) -> int:
    """Exactly."""
    if conditions:
        return sum(1 for _ in passing(reading, reach, conditions))
    if reach.is_whole:
        return reading.records.live(reach.place.sid)
    return count_by_days(reading, reach) if reach.rids is None else len(reach.rids)


def span(reading: Reading, reaches: Sequence[Reach], conditions: tuple[Condition, ...]) -> Span:
    """The total over all reaches, with the first and the last consent time where the grant shows that field."""
    totals: list[int] = []
    times: list[int] = []
    fields: dict[str, None] = {}
    for reach in reaches:
        field = reach.scope.stream.consent_time_field
        shown = field if field in reach.scope.granted else None
        if shown:
            fields[shown] = None
        if conditions or reach.rids is not None:
            found = [row.data.get(shown) if shown else None for row in passing(reading, reach, conditions)]
            totals.append(len(found))
            if shown:
                timed = reach.scope.stream.fields[shown]
                times += [at for value in found if isinstance(at := timed.comparable(value), int)]
        else:
            totals.append(count(reading, reach))
            times += _edges(reading, reach, shown) if shown else []
    if not times:
        return Span(sum(totals))
    return Span(sum(totals), iso_micros(min(times)), iso_micros(max(times)), tuple(fields))


def _edges(reading: Reading, reach: Reach, field: str) -> list[int]:
    index = index_of(reach.place, reach.scope.stream.fields[field])
    if index is None:
        return []
    found = reading.records.edges(reach, index, reach.place.fids[field])
    return [at for at in found if isinstance(at, int)]
