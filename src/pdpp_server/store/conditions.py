"""Conditions on fields: which records pass, and which index leads to them soonest."""

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from pdpp_server.model.queries import Condition
from pdpp_server.model.streams import Field, Stream
from pdpp_server.store.db import Reading
from pdpp_server.store.ingest import INDEXED_CHARS
from pdpp_server.store.layout import StreamPlace
from pdpp_server.store.records import Row
from pdpp_server.store.rows import one
from pdpp_server.store.scope import Reach

GATHERED = 2000  # so many records are read and sorted at once, rather than walking a stream for them

_FIELD_INDEX = {True: "positions", False: "field_values"}
_BETWEEN = "i.fid = :fid and i.value >= :least and i.value <= :most"
_MATCHES = "select count(*) from (select 1 from {index} i where {between} limit :enough)"
_BY_INDEX = """
select r.rid, r.key, r.version, r.revised, r.emitted_at, r.data from {index} i cross join records r on r.rid = i.rid
where {between} and {where} and r.data is not null
"""
_ALL = "select rid, key, version, revised, emitted_at, data from records where {where} and data is not null"

Value = int | float | str
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "gte": operator.ge,
    "gt": operator.gt,
    "lte": operator.le,
    "lt": operator.lt,
}


class Bounds(NamedTuple):
    """A range of one indexed field in which every record that passes lies; both ends belong to it."""

    table: str
    fid: int
    least: Value
    most: Value

    @property
    def values(self) -> dict[str, Value]:
        return {"fid": self.fid, "least": self.least, "most": self.most}


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


def bounds_of(reach: Reach, conditions: tuple[Condition, ...], field: str) -> Bounds | None:
    """The narrowest range that the conditions leave of an indexed field; None where they say nothing of it."""
    declared = reach.scope.stream.fields[field]
    index = index_of(reach.place, declared)
    about = [condition for condition in conditions if condition.field == field]
    if index is None or not about:
        return None
    least: Value = float("-inf")
    most: Value = ""  # behind every number
    for condition in about:
        literal = declared.literal(condition.value)
        assert literal is not None  # grants/permit.py has read it
        value = literal[:INDEXED_CHARS] if isinstance(literal, str) else literal
        if condition.comparison in ("eq", "gte", "gt"):
            least = value if least == float("-inf") else max(least, value)  # pyright: ignore[reportArgumentType]
        if condition.comparison in ("eq", "lte", "lt"):
            most = value if most == "" else min(most, value)  # pyright: ignore[reportArgumentType]
    return Bounds(index, reach.place.fids[field], least, most)


def fewest(reading: Reading, reach: Reach, conditions: tuple[Condition, ...]) -> tuple[Bounds | None, int]:
    """The index range with the fewest entries, and how many they are; more than GATHERED is not counted further."""
    best: tuple[Bounds | None, int] = (None, GATHERED + 1)
    for field in dict.fromkeys(condition.field for condition in conditions):
        bounds = bounds_of(reach, conditions, field)
        if bounds is not None:
            statement = _MATCHES.format(index=bounds.table, between=_BETWEEN)
            matches: int = one(reading.connection, statement, {**bounds.values, "enough": GATHERED + 1})
            if best[0] is None or matches < best[1]:
                best = bounds, matches
    return best


def passing(reading: Reading, reach: Reach, conditions: tuple[Condition, ...]) -> Iterator[Row]:
    """Every visible record that passes, in no order worth a name."""
    bounds, _ = fewest(reading, reach, conditions)
    if bounds is None:
        statement, values = _ALL.format(where=reach.narrowing("records.rid")), reach.values
    else:
        where = reach.narrowing("i.rid")
        statement = _BY_INDEX.format(index=bounds.table, between=_BETWEEN, where=where)
        values = {**reach.values, **bounds.values}
    test = passes(reach.scope.stream, conditions)
    for *stored, text in reading.connection.execute(statement, values):
        if test(data := orjson.loads(text)):
            yield Row._make((*stored, data))
