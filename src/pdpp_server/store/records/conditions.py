"""Conditions on fields: which records pass, and which index leads to them soonest."""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any

import orjson

from pdpp_server.grants.permitted import Scope
from pdpp_server.model.queries import Condition
from pdpp_server.model.streams import Field, Stream
from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import StreamPlace
from pdpp_server.store.records.days import count_by_days
from pdpp_server.store.records.ingest import INDEXED_CHARS
from pdpp_server.store.records.reach import IndexedRange, Reach
from pdpp_server.store.records.showing import StoredRow

GATHERED = 2000  # so many records are read and sorted at once, rather than walking a stream for them

_FIELD_INDEX = {True: "positions", False: "field_values"}
Value = int | float | str
LEAST: Value = float("-inf")
BEHIND_NUMBERS: Value = ""  # the first of all texts
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "gte": operator.ge,
    "gt": operator.gt,
    "lte": operator.le,
    "lt": operator.lt,
}


def passes(stream: Stream, conditions: tuple[Condition, ...]) -> Callable[[Mapping[str, Any]], bool]:
    """Whether the data of a record passes every condition; a record without the value does not."""
    tests = [
        (field, _COMPARE[condition.comparison], field.literal(condition.value))
        for condition in conditions
        for field in [stream.fields[condition.field]]
    ]

    def test(data: Mapping[str, Any]) -> bool:
        for field, compare, literal in tests:
            value = field.comparable(data.get(field.name))
            if value is None or not compare(value, literal):
                return False
        return True

    return test


def index_of(place: StreamPlace, field: Field) -> str | None:
    """The table that holds the values of a field in order; none where its source now declares another type."""
    if field.name not in place.fids or place.types[field.name] not in ("", field.type):
        return None
    return _FIELD_INDEX[field.name == place.position]


def bounds_of(reach: Reach, conditions: tuple[Condition, ...], field: str) -> IndexedRange | None:
    """The narrowest range that the conditions leave of an indexed field; None where they say nothing of it."""
    asked = asked_of(reach, conditions, field)
    if asked is None or field != reach.scope.stream.order_field:
        return asked
    least, most = within_grant(reach.scope, asked.least, asked.most)
    return IndexedRange(asked.table, asked.fid, least, most)


def asked_of(reach: Reach, conditions: tuple[Condition, ...], field: str) -> IndexedRange | None:
    """The same, whatever the grant says of its time."""
    declared = reach.scope.stream.fields[field]
    index = index_of(reach.place, declared)
    about = [condition for condition in conditions if condition.field == field]
    if index is None or not about:
        return None
    beginnings: list[tuple[Any, bool]] = []  # values, and whether what passes lies beyond them
    ends: list[tuple[Any, bool]] = []  # values, and whether they pass themselves
    for condition in about:
        literal = declared.literal(condition.value)
        assert literal is not None  # grants/permit.py has read it
        value = literal[:INDEXED_CHARS] if isinstance(literal, str) else literal
        if condition.comparison in ("eq", "gte", "gt"):
            beginnings.append((value, condition.comparison == "gt"))
        if condition.comparison in ("eq", "lte", "lt"):
            ends.append((value, condition.comparison != "lt"))
    least, is_above = max(beginnings, default=(LEAST, False))
    most, is_in = min(ends, default=(BEHIND_NUMBERS, True))
    return IndexedRange(index, reach.place.fids[field], least, most, is_above, not is_in)


def within_grant(scope: Scope, least: Any, most: Any) -> tuple[Any, Any]:
    """A range of the time that orders a stream, without what lies outside the grant's own."""
    if scope.since is not None:
        least = max(least, scope.since)
    if scope.until is not None:
        most = scope.until if isinstance(most, str | bytes) else min(most, scope.until)
    return least, most


def fewest(reading: Reading, reach: Reach, conditions: tuple[Condition, ...]) -> tuple[IndexedRange | None, int]:
    """The index range with the fewest entries, and how many they are; more than GATHERED is not counted further.

    None where the visible records themselves are few. How long it takes must not tell of others, so what passes over
    hidden records on its way, a range of a field that is not the stream's time, is the last choice.
    """
    if reach.rids is not None and reach.is_few:
        return None, len(reach.rids)
    found = [bounds for field in _fields(conditions) if (bounds := bounds_of(reach, conditions, field)) is not None]
    ranges = [bounds for bounds in found if not _is_narrow(reach, bounds)]
    if len(ranges) < len(found):
        found = [bounds for bounds in found if bounds not in ranges]
    elif found and not reach.is_whole and reach.rids is None:
        visible = count_by_days(reading, reach)
        if visible <= GATHERED:
            return None, visible
    counted = [(bounds, reading.records.entries(reach, bounds, GATHERED + 1)) for bounds in found]
    return min(counted, key=itemgetter(1), default=(None, GATHERED + 1))


def _fields(conditions: tuple[Condition, ...]) -> Iterable[str]:
    return dict.fromkeys(condition.field for condition in conditions)


def _is_narrow(reach: Reach, bounds: IndexedRange) -> bool:
    """Whether the range holds nothing but what the grant's own time leaves of it."""
    is_time = bounds.table == _FIELD_INDEX[True] and reach.place.position == reach.scope.stream.order_field
    return is_time or bounds.is_one_value


def passing(reading: Reading, reach: Reach, conditions: tuple[Condition, ...]) -> Iterator[StoredRow]:
    """Every visible record that passes, in no order worth a name."""
    bounds, _ = fewest(reading, reach, conditions)
    found = reading.records.visible(reach) if bounds is None else reading.records.holding(reach, bounds)
    test = passes(reach.scope.stream, conditions)
    for *stored, text in found:
        if test(data := orjson.loads(text)):
            yield StoredRow._make((*stored, data))
