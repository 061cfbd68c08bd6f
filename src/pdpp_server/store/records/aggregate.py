"""Numbers about visible records: totals, extremes and groups, over all connections together before any group is cut."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import merge, nsmallest
from itertools import groupby, pairwise
from typing import Any, cast

import orjson

from pdpp_server.errors import InvalidRequest
from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.aggregates import Aggregation, Currency, Group, Kept, Scalar, exact_sum, plain
from pdpp_server.model.buckets import Bucket, Buckets, zone_of
from pdpp_server.model.queries import AggregateQuery, Condition
from pdpp_server.model.streams import AMOUNT_ROLE, CURRENCY_ROLE, Field, Stream
from pdpp_server.model.times import DAY_MICROS, iso_exact
from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import MAX_DAY, first_moment
from pdpp_server.store.records.conditions import Value, index_of, passing
from pdpp_server.store.records.count import count
from pdpp_server.store.records.days import inner_days
from pdpp_server.store.records.fetch import require_declared
from pdpp_server.store.records.filters import within_time
from pdpp_server.store.records.ingest import INDEXED_CHARS, NO_VALUE
from pdpp_server.store.records.reach import IndexedRange, Reach
from pdpp_server.store.records.scope import reaches

ValueTally = tuple[Value, int]  # a value, and how many records have it
_PASSED_FOR_ONE = 40  # values of an index in the time in which one record is read
_LEAST = float("-inf")
_BEHIND_NUMBERS = ""


def aggregate(reading: Reading, permitted: Permitted[AggregateQuery]) -> Aggregation:
    query = permitted.query
    reached = [reach for scope in permitted.scopes for reach in reaches(reading, scope)]
    require_declared(reading.layout, permitted)
    name = query.field or query.group_by or query.group_by_time
    if name is None:
        records = sum(count(reading, reach, query.conditions) for reach in reached)
        return Aggregation(query, records, records)
    stream = permitted.scopes[0].stream
    field = stream.fields[name]
    unit = _unit(permitted)
    if query.field is not None and (query.group_by or query.group_by_time):
        return _numbers(reading, query, reached, stream, unit)
    parts = [_part(reading, reach, field, query.conditions) for reach in reached]
    records = sum(part.records for part in parts)
    if query.group_by_time is not None:
        groups = _periods(query, field, parts, records)
    elif query.group_by is not None:
        groups = _groups(field, _merged(parts), records, query.limit)
    else:
        names = _names(reading, reached, query, unit, records) if unit else ()
        return Aggregation(query, records, _value(query, field, parts), currency=_currency(unit, names))
    others = records - sum(group.count for group in groups)
    return Aggregation(query, records, None, groups, others, _kept(query))


# What a sum is counted in -------------------------------------------------------------------------------------------


def _unit(permitted: Permitted[AggregateQuery]) -> Field | None:
    """The field that says what the summed amounts are counted in, where that is declared and may be shown."""
    query, stream = permitted.query, permitted.scopes[0].stream
    if query.metric != "sum" or stream.roles.get(query.field or "") != AMOUNT_ROLE:
        return None
    for name in stream.by_role.get(CURRENCY_ROLE, ()):
        if all(name in scope.fields for scope in permitted.scopes):
            return stream.fields[name]
    return None


def _names(
    reading: Reading, reached: Sequence[Reach], query: AggregateQuery, unit: Field, records: int
) -> set[Value | None]:
    """What the records say that they are counted in; None where one does not say it."""
    parts = [_part(reading, reach, unit, query.conditions) for reach in reached]
    tallies = dict(_merged(parts))
    names: set[Value | None] = {*tallies}
    if sum(tallies.values()) < records:
        names.add(None)
    return names


def _currency(unit: Field | None, names: Collection[Value | None]) -> Currency | None:
    """None where there are no records, or nothing says what they are counted in."""
    return Currency(unit.name, _only(names)) if unit and names else None


def _only(names: Collection[Value | None]) -> str | None:
    if len(names) != 1:
        return None
    (name,) = names
    return name if isinstance(name, str) and name.strip() else None


# Values, groups, periods --------------------------------------------------------------------------------------------


def _value(query: AggregateQuery, field: Field, parts: Sequence["_Part"]) -> Scalar | None:
    match query.metric:
        case "sum":
            return _sum(_merged(parts))
        case "min":
            return _shown(field, min(_ends(parts), default=None, key=_order))
        case "max":
            return _shown(field, max(_ends(parts), default=None, key=_order))
        case _:
            return sum(1 for _ in _merged(parts))


def _ends(parts: Sequence["_Part"]) -> Iterator[Value]:
    """The least and the greatest of each part, or all that it has."""
    for part in parts:
        yield from part.ends()


def _sum(tallies: Iterable[ValueTally]) -> int | float:
    """Of numbers as they are written; their order is of no account."""
    try:
        return exact_sum((value, records) for value, records in tallies if not isinstance(value, str))
    except OverflowError:
        raise InvalidRequest("The sum is larger than a number can be.", param="field") from None


def _groups(field: Field, tallies: Iterable[ValueTally], records: int, limit: int) -> tuple[Group, ...]:
    """The largest, then by value; the records without a value stand behind others of their number."""
    known = 0

    def counted() -> Iterator[tuple[Value | None, int]]:
        nonlocal known
        for value, number in tallies:
            known += number
            yield value, number

    def rank(group: tuple[Value | None, int]) -> tuple[int, bool, tuple[bool, Value]]:
        value, number = group
        return -number, value is None, _order(value or 0)

    largest = nsmallest(limit, counted(), key=rank)
    if known < records:
        largest = nsmallest(limit, [*largest, (None, records - known)], key=rank)
    return tuple(Group(_shown(field, value), number) for value, number in largest)


def _periods(query: AggregateQuery, field: Field, parts: Sequence["_Part"], records: int) -> tuple[Group, ...]:
    """The most recent, in their order; the records without a time come last, where there is room for them."""
    periods = _Periods(query, field)
    counted = Counter[Bucket]()
    for part in parts:
        counted.update(part.periods(periods.buckets))
    recent = sorted(counted, key=_by_time)[-query.limit :]
    groups = [Group(periods.key(bucket), counted[bucket], periods.start(bucket)) for bucket in recent]
    missing = records - counted.total()
    if missing and len(groups) < query.limit:
        groups.append(Group(None, missing))
    return tuple(groups)


class _Periods:
    """The periods of a query by one field, and how each is named."""

    def __init__(self, query: AggregateQuery, field: Field) -> None:
        zone, utc = zone_of(query.time_zone), zone_of("UTC")
        assert zone is not None and utc is not None and query.granularity is not None  # wire/aggregate.py saw to it
        self._asked = Buckets(query.granularity, zone)
        self._is_floating = field.type == "date"  # a day of the calendar is that day in every zone
        self.buckets = Buckets(query.granularity, utc) if self._is_floating else self._asked

    def key(self, bucket: Bucket) -> str:
        return self._asked.key(bucket)

    def start(self, bucket: Bucket) -> str:
        return self._asked.start(Bucket(bucket.wall) if self._is_floating else bucket)


def _by_time(bucket: Bucket) -> tuple[int, int]:
    """By the clock; where it was turned back, the hour further from UTC was the first."""
    return bucket.wall, -(bucket.offset or 0)


def _shown(field: Field, value: Value | None) -> Scalar | None:
    """A value as its field has it."""
    if value is None or isinstance(value, str):
        return value
    if field.type == "boolean":
        return bool(value)
    if field.is_date and isinstance(value, int):
        is_day = field.type == "date" and value % DAY_MICROS == 0
        return iso_exact(value)[:10] if is_day else iso_exact(value)
    return plain(value)


# A number for each group --------------------------------------------------------------------------------------------


class _Numbered:
    """The records of one group, and the values of the field in them."""

    def __init__(self) -> None:
        self.records = 0
        self.values: Counter[Value] = Counter()
        self.names: set[Value | None] = set()  # of what they are counted in

    def number(self, query: AggregateQuery) -> Value | None:
        match query.metric:
            case "sum":
                return _sum(self.values.items())
            case "min":
                return min(self.values, default=None, key=_order)
            case "max":
                return max(self.values, default=None, key=_order)
            case _:
                return len(self.values)


def _numbers(
    reading: Reading, query: AggregateQuery, reached: Sequence[Reach], stream: Stream, unit: Field | None
) -> Aggregation:
    """By a look at every record that passes: no index holds two fields together."""
    field, by = stream.fields[query.field or ""], stream.fields[query.group_by or query.group_by_time or ""]
    periods = _Periods(query, by) if query.group_by_time is not None else None
    found: dict[Value | Bucket | None, _Numbered] = {}
    names: set[Value | None] = set()
    for reach in reached:
        for row in passing(reading, reach, query.conditions):
            key: Value | Bucket | None = _fitting(by, row.data)
            if periods and key is not None:
                key = periods.buckets.of(cast("int", key))
            group = found.setdefault(key, _Numbered())
            group.records += 1
            number = _fitting(field, row.data)
            if number is None:
                continue
            group.values[number] += 1
            if unit is not None:
                name = _fitting(unit, row.data)
                group.names.add(name)
                names.add(name)
    numbers = {key: group.number(query) for key, group in found.items()}
    kept = _latest(found, query.limit) if periods else _foremost(numbers, query)
    groups = [_numbered_group(query, field, by, periods, key, found[key], numbers[key]) for key in kept]
    currency = _currency(unit, names)
    if currency and currency.name is None and query.group_by != currency.field:  # else the keys say it
        groups = [replace(group, currency=_only(found[key].names)) for key, group in zip(kept, groups, strict=True)]
    left_out = [found[key] for key in found.keys() - set(kept)]
    return Aggregation(
        query,
        sum(group.records for group in found.values()),
        None,
        tuple(groups),
        sum(group.records for group in left_out),
        _kept(query),
        other_value=_sum_of(left_out) if query.metric == "sum" else None,
        currency=currency,
    )


def _sum_of(groups: Iterable[_Numbered]) -> int | float:
    values = Counter[Value]()
    for group in groups:
        values.update(group.values)
    return _sum(values.items())


def _fitting(field: Field, data: Mapping[str, Any]) -> Value | None:
    """The value of a field; one of another type comes from another declaration, and is none."""
    value = field.comparable(data.get(field.name))
    return None if isinstance(value, str) and field.type != "string" else value


def _numbered_group(
    query: AggregateQuery, field: Field, by: Field, periods: "_Periods | None", key: Any, group: _Numbered, number: Any
) -> Group:
    value = number if query.metric in ("sum", "count_distinct") else _shown(field, number)
    if key is None:
        return Group(None, group.records, None, value)
    if periods is None:
        return Group(_shown(by, key), group.records, None, value)
    return Group(periods.key(key), group.records, periods.start(key), value)


def _foremost(numbers: Mapping[Any, Value | None], query: AggregateQuery) -> list[Any]:
    """The largest numbers, of min the smallest; then by key. Groups without a number or a key stand last.

    Of sums the largest whatever their sign: what was spent is what people ask for, and is written below nothing.
    """
    keys = sorted(numbers, key=lambda key: (key is None, _order(0 if key is None else key)))
    known = [key for key in keys if numbers[key] is not None]
    if query.metric == "sum":
        known.sort(key=lambda key: abs(cast("float", numbers[key])), reverse=True)
    else:
        known.sort(key=lambda key: _order(numbers[key] or 0), reverse=query.metric != "min")
    unknown = [key for key in keys if numbers[key] is None]
    return [*known, *unknown][: query.limit]


def _latest(found: Iterable[Any], limit: int) -> list[Any]:
    """The most recent, in their order; the records without a time last, where there is room for them."""
    keys = list(found)
    recent = sorted([key for key in keys if key is not None], key=_by_time)[-limit:]
    if None in keys and len(recent) < limit:
        recent.append(None)
    return recent


def _kept(query: AggregateQuery) -> Kept:
    if query.group_by_time is not None:
        return "latest"
    return "smallest" if query.metric == "min" else "largest"


# One connection -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Indexed:
    """The values of one field in the visible records, by its index."""

    reading: Reading
    reach: Reach
    field: Field
    index: str
    records: int

    @property
    def _is_time(self) -> bool:
        """Whether records are laid out by this field."""
        return self.field.name == self.reach.scope.stream.order_field and self.reach.rids is None

    @property
    def least(self) -> Value:
        return cast("int", self.reach.values["since"]) if self._is_time and self.reach.shown == "timed" else _LEAST

    @property
    def beyond(self) -> Value | bytes:
        """Behind every value of the field's type; one of another type comes from another declaration, and is none."""
        if self._is_time and self.reach.shown == "timed":
            return cast("int", self.reach.values["until"])
        return NO_VALUE if self.field.type == "string" else _BEHIND_NUMBERS

    def is_soon_told(self) -> bool:
        """Whether the index holds not much more than what lies in the time: all of another field has to be passed."""
        return self._is_time or self.records * _PASSED_FOR_ONE > self.reading.records.live(self.reach.place.sid)

    def tallies(self) -> Iterable[ValueTally]:
        """In the order of values."""
        tallies = self._tallies(self.least, self.beyond)
        return self._whole(tallies) if self.field.type == "string" else tallies

    def ends(self) -> Iterable[Value]:
        """The least and the greatest value."""
        found = self.reading.records.edges(self.reach, self._between(self.least, self.beyond))
        return cast("list[Value]", found)

    def periods(self, buckets: Buckets) -> Counter[Bucket]:
        return self._by_days(buckets) if self._is_time and buckets.are_long else _placed(self.tallies(), buckets)

    def _by_days(self, buckets: Buckets) -> Counter[Bucket]:
        """From the numbers of whole days, except where a bucket or the grant begins or ends within a day."""
        counted = Counter[Bucket]()
        for day in set(self.reach.edge_days):
            least = _LEAST if day == 0 else first_moment(day)
            beyond = _BEHIND_NUMBERS if day == MAX_DAY else first_moment(day + 1)
            counted.update(_placed(self._tallies(least, beyond), buckets))
        bucket, since, until = buckets.core(first_moment(0))
        for day, live in inner_days(self.reading, self.reach):
            begin, end = first_moment(day), first_moment(day + 1)
            if begin >= until:
                bucket, since, until = buckets.core(begin)
            if since <= begin and end <= until:
                counted[bucket] += live
            else:
                counted.update(self._by_pieces(buckets, begin, end, live))
        return +counted  # without those that stayed empty

    def _by_pieces(self, buckets: Buckets, begin: int, end: int, live: int) -> dict[Bucket, int]:
        """The records of one day, of which there are `live`."""
        starts = buckets.cut(begin, end)
        if len(starts) == 1:
            return {buckets.of(begin): live}
        counted = Counter[Bucket]()
        for least, beyond in pairwise((*starts, end)):
            span = self._between(least, beyond)
            counted[buckets.of(least)] += self.reading.records.passing_count(self.reach, span)
        return counted

    def _whole(self, tallies: Iterable[ValueTally]) -> Iterator[ValueTally]:
        """Long texts that begin alike, told apart: the index does not hold their ends."""
        name = self.field.name
        for value, number in tallies:
            if isinstance(value, str) and len(value) == INDEXED_CHARS:
                alike = self.reading.records.holding(self.reach, self._between(value, value, is_below=False))
                texts = Counter(str(orjson.loads(data)[name]) for *_, data in alike)
                yield from sorted(texts.items())
            else:
                yield value, number

    def _tallies(self, least: Value, beyond: Value | bytes) -> Iterator[ValueTally]:
        found = self.reading.records.tallies(self.reach, self._between(least, beyond))
        return cast("Iterator[ValueTally]", found)

    def _between(self, least: Value, most: Value | bytes, *, is_below: bool = True) -> IndexedRange:
        return IndexedRange(self.index, self.reach.place.fids[self.field.name], least, most, is_below=is_below)


@dataclass(frozen=True, slots=True)
class _Scanned:
    """The same by a look at every record that passes the conditions."""

    records: int
    counted: Mapping[Value, int]

    def tallies(self) -> Iterable[ValueTally]:
        return sorted(self.counted.items(), key=lambda tally: _order(tally[0]))

    def ends(self) -> Iterable[Value]:
        return self.counted

    def periods(self, buckets: Buckets) -> Counter[Bucket]:
        return _placed(self.counted.items(), buckets)


_Part = _Indexed | _Scanned


def _part(reading: Reading, reach: Reach, field: Field, conditions: tuple[Condition, ...]) -> _Part:
    within, others = within_time(reach, conditions)
    index = None if others or within.is_few else index_of(within.place, field)
    if index is not None:
        indexed = _Indexed(reading, within, field, index, count(reading, within))
        if within is reach or indexed.is_soon_told():
            return indexed
    values = [field.comparable(row.data.get(field.name)) for row in passing(reading, within, others)]
    fitting = (value for value in values if value is not None)
    if field.type != "string":
        fitting = (value for value in fitting if not isinstance(value, str))
    return _Scanned(len(values), Counter(fitting))


def _merged(parts: Sequence[_Part]) -> Iterable[ValueTally]:
    """The tallies of all connections as one, still in order."""
    return parts[0].tallies() if len(parts) == 1 else _interleaved(parts)


def _interleaved(parts: Sequence[_Part]) -> Iterator[ValueTally]:
    ordered = merge(*(part.tallies() for part in parts), key=lambda tally: _order(tally[0]))
    for value, same in groupby(ordered, key=lambda tally: tally[0]):
        yield value, sum(number for _, number in same)


def _placed(tallies: Iterable[ValueTally], buckets: Buckets) -> Counter[Bucket]:
    counted = Counter[Bucket]()
    for moment, number in tallies:
        counted[buckets.of(cast("int", moment))] += number
    return counted


def _order(value: Value) -> tuple[bool, Value]:
    """As SQLite orders them: numbers before text."""
    return isinstance(value, str), value
