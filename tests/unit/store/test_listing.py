"""Many rows as one statement of PostgreSQL."""

import orjson
import pytest

from pdpp_server.store.engines.postgres import listing
from pdpp_server.store.engines.postgres.listing import listed, parcels
from tests.requirements import requirement

ADD = "insert into days(sid, day, live) values(?, ?, ?) on conflict(sid, day) do update set live = excluded.live"
NAMED = "insert into brought(sid, key, first, run) values(:sid, :key, :run, :run)"


@requirement("store.engines.batches")
def test_an_insertion_reads_its_rows_from_a_list() -> None:
    adding = listed(ADD)
    assert adding is not None
    assert "from json_populate_recordset(null::days, (:rows)::json)  on conflict(sid, day) do" in adding.statement
    assert [*adding.named([(1, 2, 3)])] == [{"sid": 1, "day": 2, "live": 3}]


@requirement("store.engines.batches")
def test_a_value_may_stand_in_two_columns_by_its_name() -> None:
    adding = listed(NAMED)
    assert adding is not None
    assert [*adding.named([{"sid": 1, "key": "k", "run": 7}])] == [{"sid": 1, "key": "k", "first": 7, "run": 7}]


@requirement("store.engines.batches")
@pytest.mark.parametrize(
    "other", ["update days set live = ?", "insert into days(sid, day) values(?, 1)", "insert into a select ? from b"]
)
def test_what_is_no_mere_insertion_is_said_for_each_row(other: str) -> None:
    assert listed(other) is None


@requirement("store.engines.batches")
def test_a_row_that_replaces_another_of_the_same_list_is_said_after_it() -> None:
    adding = listed(ADD)
    assert adding is not None
    assert adding.takes([(1, 2, 3), (1, 3, 3)])
    assert not adding.takes([(1, 2, 3), (1, 2, 4)])


@requirement("store.engines.batches")
def test_a_list_is_no_longer_than_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "PARCEL_BYTES", 40)
    rows = [{"key": "x" * 10, "value": bytes([i])} for i in range(5)]
    found = [orjson.loads(parcel) for parcel in parcels(rows)]
    assert [row for parcel in found for row in parcel] == [{"key": "x" * 10, "value": f"\\x{i:02x}"} for i in range(5)]
    assert [len(parcel) for parcel in found] == [1, 1, 1, 1, 1]
