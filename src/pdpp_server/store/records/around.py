"""The records right before and after one, in its own talk."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

import orjson

from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.queries import Condition, RecordsQuery
from pdpp_server.model.records import Record, RecordId, Span, nearest
from pdpp_server.model.streams import THREAD_ROLE
from pdpp_server.store.engine import Reading, Stored
from pdpp_server.store.layout import MAX_DAY, day_in, day_of, first_moment, first_rid
from pdpp_server.store.records.conditions import GATHERED, bounds_of, fewest, passes, passing
from pdpp_server.store.records.count import count, span
from pdpp_server.store.records.fetch import find
from pdpp_server.store.records.query_records import (
    CHUNK_MAX,
    PageEntry,
    entry_of,
    line,
    position_field,
    records_of,
    restored,
    value_order,
)
from pdpp_server.store.records.reach import IndexedRange, Reach
from pdpp_server.store.records.scope import reaches
from pdpp_server.store.records.showing import StoredRow
from pdpp_server.wire.cursors import Place, Side

_BEFORE_ALL, _BEHIND_ALL = float("-inf"), ""  # of the times of a stream


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Records from the oldest to the newest, and whether their talk has others before and behind them."""

    around: RecordId
    center: int
    records: tuple[Record, ...]
    entries: list[PageEntry]
    has_earlier: bool
    has_later: bool
    count: int | None
    span: Span | None


def around(reading: Reading, permitted: Permitted[RecordsQuery], side: Side | None, beyond: Place | None) -> Neighbours:
    """The record and those on both sides of it; with a place those on one side of that place."""
    query = permitted.query
    assert query.around is not None
    scope, origin, _, row = find(reading, permitted, query.around, "around")
    reach = next(each for each in reaches(reading, scope) if each.origin == origin)
    talk = _Talk(reading, reach, replace(query, conditions=_talk_of(reach, row.data)))
    if beyond is not None and not beyond.is_whole:
        beyond = restored(reading, [reach], beyond)
    center = entry_of(reach, row)
    found = _on_one_side(talk, side, beyond) if side and beyond else _on_both_sides(talk, center)
    return Neighbours(
        RecordId(origin.connection_id, query.stream, query.around),
        found.center,
        tuple(records_of(reading, found.entries)),
        found.entries,
        found.has_earlier,
        found.has_later,
        count(reading, reach, talk.conditions) if query.count else None,
        span(reading, [reach], talk.conditions) if query.window else None,
    )


def _talk_of(reach: Reach, data: Mapping[str, Any]) -> tuple[Condition, ...]:
    """What the records of one talk have in common: the first granted field that names it, or nothing."""
    stream = reach.scope.stream
    for name in stream.talk_fields:
        value = data.get(name)
        is_named = stream.fields[name].comparable(value) not in (None, "")
        if is_named and name in reach.scope.granted and (stream.roles[name] == THREAD_ROLE or _is_in_time(reach)):
            return (Condition(name, "eq", str(value).lower() if isinstance(value, bool) else str(value)),)
    return ()


def _is_in_time(reach: Reach) -> bool:
    """Whether pages are in the order of the time by which records are laid out, and the grant shows it."""
    time = reach.scope.stream.order_field
    return time is not None and position_field(reach) == time


@dataclass(frozen=True, slots=True)
class _Some:
    center: int
    entries: list[PageEntry]
    has_earlier: bool
    has_later: bool


def _on_both_sides(talk: "_Talk", center: PageEntry) -> _Some:
    """Half of them on either side, filled from the other at an end."""
    limit = talk.query.limit
    before = list(islice(talk.earlier(center.place), limit))
    after = list(islice(talk.later(center.place), limit))
    everything = [*reversed(before), center, *after]
    size = min(limit, len(everything))
    kept = nearest(len(before), size, len(everything))
    return _Some(len(before) - kept.start, everything[kept], kept.start > 0, kept.stop < len(everything))


def _on_one_side(talk: "_Talk", side: Side, place: Place) -> _Some:
    limit = talk.query.limit
    walk = talk.earlier(place) if side == "earlier" else talk.later(place)
    found = list(islice(walk, limit + 1))
    has_more, entries = len(found) > limit, found[:limit]
    if side == "earlier":
        return _Some(len(entries), entries[::-1], has_more, False)
    return _Some(-1, entries, False, has_more)


# One talk -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)  # no slots: what was gathered is kept on the value
class _Talk:
    """The visible records of one talk, followed by its days. Where pages are in another order, a short one is read."""

    reading: Reading
    reach: Reach
    query: RecordsQuery  # its conditions say what the talk is

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return self.query.conditions

    def later(self, place: Place) -> Iterator[PageEntry]:
        """What stands behind a place, nearest first."""
        if self._days:
            return self._later_by_days(place)
        if self._is_short:
            return (entry for entry in self._gathered if _order(entry) > _place_order(place))
        return self._line(place, ascending=True)

    def earlier(self, place: Place) -> Iterator[PageEntry]:
        """What stands before a place, nearest first."""
        if self._days:
            return self._earlier_by_days(place)
        if self._is_short:
            return (entry for entry in reversed(self._gathered) if _order(entry) < _place_order(place))
        return self._line(place, ascending=False)

    @cached_property
    def _is_short(self) -> bool:
        if self.reach.scope.resources is not None:
            return True
        return bool(self.conditions) and fewest(self.reading, self.reach, self.conditions)[1] <= GATHERED

    @cached_property
    def _gathered(self) -> list[PageEntry]:
        return self._of(self.reach)

    def _of(self, reach: Reach) -> list[PageEntry]:
        entries = [entry_of(self.reach, row) for row in passing(self.reading, reach, self.conditions)]
        return sorted(entries, key=_order)

    def _line(self, place: Place, *, ascending: bool) -> Iterator[PageEntry]:
        return line(self.reading, self.reach, replace(self.query, ascending=ascending), place)

    # By days: rids are in order of days, so its entries in the index of its field are too.

    @cached_property
    def _days(self) -> IndexedRange | None:
        """The entries of the talk, where the order of pages is that of days; None where it must be looked for."""
        if not self.conditions or self.reach.rids is not None or not _is_in_time(self.reach):
            return None
        return bounds_of(self.reach, self.conditions, self.conditions[0].field)

    def _later_by_days(self, place: Place) -> Iterator[PageEntry]:
        """Records without a time lie in the first day, and stand behind all others."""
        if isinstance(place.value, int):
            yield from self._by_days(place, day_of(place.value), ascending=True)
        yield from (entry for entry in self._timeless if _order(entry) > _place_order(place))

    def _earlier_by_days(self, place: Place) -> Iterator[PageEntry]:
        if isinstance(place.value, int):
            yield from self._by_days(place, day_of(place.value), ascending=False)
            return
        yield from (entry for entry in reversed(self._timeless) if _order(entry) < _place_order(place))
        yield from self._by_days(place, MAX_DAY, ascending=False)

    def _by_days(self, place: Place, day: int, *, ascending: bool) -> Iterator[PageEntry]:
        """From that day on, in chunks that grow; a day of which a chunk holds only a part is looked at by itself."""
        assert self._days is not None
        records, chunk = self.reading.records, self.query.limit + 1
        while 0 <= day <= MAX_DAY:
            first, end = self._rids_of(day)
            reach = self._between(first, None) if ascending else self._between(None, end)
            rows = records.by_day(reach, self._days, ascending=ascending, chunk=chunk)
            days = [(each, list(same)) for each, same in groupby(rows, key=_day_of_row)]
            is_end = len(rows) < chunk
            for _, same in days if is_end else days[:-1]:
                yield from self._beyond(same, place, ascending=ascending)
            if is_end:
                return
            day = days[-1][0]
            if len(days) == 1:
                yield from self._of_day(day, place, ascending=ascending)
                day += 1 if ascending else -1
            chunk = min(chunk * 4, CHUNK_MAX)

    def _beyond(self, rows: Iterable[Stored], place: Place, *, ascending: bool) -> Iterator[PageEntry]:
        """The records of one day that belong to the talk and stand beyond a place, nearest first."""
        found = (StoredRow._make((*row[:5], orjson.loads(row[5]))) for row in rows)
        entries = [entry_of(self.reach, row) for row in found if self._passes(row.data)]
        start = _place_order(place)
        placed = [(_order(entry), entry) for entry in entries if isinstance(entry.value, int)]
        placed.sort(key=itemgetter(0), reverse=not ascending)
        return (entry for order, entry in placed if (order > start if ascending else order < start))

    @cached_property
    def _passes(self) -> Callable[[Mapping[str, Any]], bool]:
        return passes(self.reach.scope.stream, self.conditions)

    @property
    def _timeless(self) -> list[PageEntry]:
        return [entry for entry in self._of(self._between(*self._rids_of(0))) if isinstance(entry.value, bytes)]

    def _of_day(self, day: int, place: Place, *, ascending: bool) -> Iterator[PageEntry]:
        """A crowded day is walked through, whoever else spoke on it."""
        assert self._days is not None
        narrowed = self._between(*self._rids_of(day))
        if self.reading.records.entries(narrowed, self._days, GATHERED + 1) > GATHERED:
            for entry in self._line(self._edge(day, place, ascending), ascending=ascending):
                if not isinstance(entry.value, int) or day_of(entry.value) != day:
                    return
                yield entry
            return
        yield from self._beyond(self.reading.records.holding(narrowed, self._days), place, ascending=ascending)

    def _edge(self, day: int, place: Place, ascending: bool) -> Place:
        """The place itself on its own day; on another the end of that day from which it is walked through."""
        if isinstance(place.value, int) and day_of(place.value) == day:
            return place
        if ascending:
            return Place(_BEFORE_ALL if day == 0 else first_moment(day), 0, "")
        return Place(_BEHIND_ALL if day == MAX_DAY else first_moment(day + 1), 0, "")

    def _rids_of(self, day: int) -> tuple[int, int]:
        sid = self.reach.place.sid
        return first_rid(sid, day), first_rid(sid, day + 1)

    def _between(self, low: int | None, high: int | None) -> Reach:
        """Of what is visible, the records between two rids; never more."""
        values = dict(self.reach.values)
        if low is not None:
            values["low"] = max(low, int(values["low"]))
        if high is not None:
            values["high"] = min(high, int(values["high"]))
        return replace(self.reach, values=values)


def _day_of_row(row: Stored) -> int:
    return day_in(row[0])


def _order(entry: PageEntry) -> tuple[Any, ...]:
    return (*value_order(entry.value, True), entry.row.key)


def _place_order(place: Place) -> tuple[Any, ...]:
    return (*value_order(place.value, True), place.key)
