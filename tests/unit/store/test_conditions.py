"""Which records pass a condition on a field."""

from dataclasses import replace
from typing import Any
from unittest.mock import Mock, sentinel

import pytest

from pdpp_server.grants.permitted import Scope
from pdpp_server.model.queries import Condition
from pdpp_server.model.streams import Field, Stream
from pdpp_server.store.layout import StreamPlace
from pdpp_server.store.records.conditions import GATHERED, bounds_of, fewest, index_of, passes, within_grant
from pdpp_server.store.records.reach import Reach

FIELDS = {
    name: Field(name, kind, {})
    for name, kind in {"at": "date-time", "n": "number", "who": "string", "is": "boolean"}.items()
}
STREAM = Stream("messages", None, FIELDS, ("id",), {}, consent_time_field="at")


@pytest.mark.parametrize(
    ("condition", "data", "is_in"),
    [
        (Condition("n", "gte", "10"), {"n": 10}, True),
        (Condition("n", "gt", "10"), {"n": 10.0}, False),
        (Condition("n", "lt", "10"), {"n": 9}, True),  # by size, not by letters
        (Condition("n", "eq", "1e1"), {"n": 10}, True),
        (Condition("is", "eq", "true"), {"is": True}, True),
        (Condition("is", "eq", "true"), {"is": False}, False),
        (Condition("at", "eq", "2026-03-02T10:00:00+01:00"), {"at": "2026-03-02T09:00:00Z"}, True),
        (Condition("at", "lte", "2026-03-02T09:00:00Z"), {"at": "2026-03-02T09:00:00.000001Z"}, False),
        (Condition("who", "eq", "Ann"), {"who": "ann"}, False),
        (Condition("who", "eq", "Ann"), {}, False),
        (Condition("who", "lt", "Bo"), {"who": None}, False),
    ],
)
def test_a_value_is_compared_as_what_it_is_declared(condition: Condition, data: dict[str, Any], is_in: bool) -> None:
    assert passes(STREAM, (condition,))(data) is is_in


def test_every_condition_counts_and_none_lets_all_pass() -> None:
    both = passes(STREAM, (Condition("n", "gte", "1"), Condition("n", "lt", "3")))
    assert [both({"n": n}) for n in (0, 1, 2, 3)] == [False, True, True, False]
    assert passes(STREAM, ())({})


def test_a_field_is_looked_up_where_its_values_lie() -> None:
    place = StreamPlace(1, {}, {"at": 1, "n": 2, "who": 3}, "at", {"at": "date-time", "n": "", "who": "integer"})
    assert index_of(place, FIELDS["at"]) == "positions"
    assert index_of(place, FIELDS["n"]) == "field_values"  # an older version did not say as what
    assert index_of(place, FIELDS["who"]) is None  # it was indexed as another type
    assert index_of(place, FIELDS["is"]) is None


@pytest.mark.parametrize(
    ("asked", "narrowed"),
    [
        ((5, 50), (10, 20)),
        ((15, 18), (15, 18)),
        ((float("-inf"), ""), (10, 20)),
        ((5, 15), (10, 15)),
        ((15, ""), (15, 20)),
    ],
)
def test_a_range_of_time_stays_within_that_of_the_grant(asked: tuple[Any, Any], narrowed: tuple[int, int]) -> None:
    bounded = Scope("g", STREAM, (), frozenset(), since=10, until=20)
    assert within_grant(bounded, *asked) == narrowed
    assert within_grant(bounded._replace(since=None, until=None), *asked) == asked


AMOUNTS = replace(STREAM, fields={**FIELDS, "amount": Field("amount", "number", {})})
PLACE = StreamPlace(1, {}, {"at": 1, "n": 2, "amount": 3}, "at", {"at": "date-time", "n": "number", "amount": "number"})
BOUNDED = Reach(Scope("g", AMOUNTS, (), frozenset(), since=10, until=20), sentinel.origin, PLACE, "timed", {})


@pytest.mark.parametrize("field", ["n", "amount"])
def test_the_time_of_a_grant_bounds_no_other_field(field: str) -> None:
    bounds = bounds_of(BOUNDED, (Condition(field, "gte", "5"), Condition(field, "lte", "50")), field)

    assert bounds and (bounds.least, bounds.most) == (5, 50)


def test_where_nothing_narrows_there_are_many() -> None:
    assert fewest(sentinel.reading, replace(BOUNDED, shown="whole"), ()) == (None, GATHERED + 1)


def test_a_range_of_the_time_is_chosen_before_one_that_passes_over_hidden_records() -> None:
    reading = Mock()
    reading.records.entries.return_value = 7
    conditions = (Condition("n", "gte", "1"), Condition("at", "gte", "1970-01-01T00:00:00Z"))

    bounds, entries = fewest(reading, BOUNDED, conditions)

    assert bounds and (bounds.table, entries) == ("positions", 7)
    reading.records.entries.assert_called_once()
