"""Many rows as one statement of PostgreSQL."""

from collections.abc import Sequence
from typing import Any

import orjson
import pytest

from pdpp_server.store.engines.postgres import listing
from pdpp_server.store.engines.postgres.listing import ListedInsert, listed
from tests.requirements import requirement

ADD = "insert into days(sid, day, live) values(?, ?, ?) on conflict(sid, day) do update set live = excluded.live"
NAMED = "insert into brought(sid, key, first, run) values(:sid, :key, :run, :run)"


def listing_of(statement: str) -> ListedInsert:
    adding = listed(statement)
    assert adding is not None
    return adding


def lists(adding: ListedInsert, said: Sequence[Any]) -> list[list[dict[str, Any]]]:
    return [orjson.loads(parcel) for parcel in adding.parcels(adding.in_columns(said))]


@requirement("store.engines.batches")
def test_an_insertion_reads_its_rows_from_a_list() -> None:
    adding = listing_of(ADD)
    assert "from json_populate_recordset(null::days, $1::json)  on conflict(sid, day) do" in adding.statement
    assert lists(adding, [(1, 2, 3)]) == [[{"sid": 1, "day": 2, "live": 3}]]


@requirement("store.engines.batches")
def test_a_value_may_stand_in_two_columns_by_its_name() -> None:
    said = [{"sid": 1, "key": "k", "run": 7}]
    assert lists(listing_of(NAMED), said) == [[{"sid": 1, "key": "k", "first": 7, "run": 7}]]


@requirement("store.engines.batches")
def test_whether_something_is_true_is_a_number_in_a_list() -> None:
    rows = listing_of(ADD).in_columns([(1, 2, True), (1, 3, False), (1, 4, 5)])
    assert [[*map(str, row)] for row in rows] == [["1", "2", "1"], ["1", "3", "0"], ["1", "4", "5"]]
    (told,) = listing_of("insert into days(sid) values(:sid)").in_columns([{"sid": True}])
    assert [*map(type, told)] == [int]


@requirement("store.engines.batches")
@pytest.mark.parametrize(
    "other", ["update days set live = ?", "insert into days(sid, day) values(?, 1)", "insert into a select ? from b"]
)
def test_what_is_no_mere_insertion_is_said_for_each_row(other: str) -> None:
    assert listed(other) is None


@requirement("store.engines.batches")
def test_a_row_that_replaces_another_of_the_same_list_is_said_after_it() -> None:
    adding = listing_of(ADD)
    assert adding.takes([(1, 2, 3), (1, 3, 3)])
    assert not adding.takes([(1, 2, 3), (1, 2, 4)])


@requirement("store.engines.batches")
def test_a_list_is_no_longer_than_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "PARCEL_BYTES", 100)
    monkeypatch.setattr(listing, "ROWS_AT_ONCE", 2)
    found = lists(listing_of("insert into a(key, value) values(?, ?)"), [("x" * 10, bytes([i])) for i in range(7)])
    assert [row for parcel in found for row in parcel] == [{"key": "x" * 10, "value": f"\\x{i:02x}"} for i in range(7)]
    assert [len(parcel) for parcel in found] == [2, 2, 2, 1]
