"""Where things lie: days inside the numbers of records."""

from datetime import UTC, datetime

import pytest

from pdpp_server.model.sources import Origin
from pdpp_server.store.layout import (
    MAX_DAY,
    RIDS_OF_DAY,
    ConnectionPlace,
    Layout,
    StreamPlace,
    date_of,
    day_in,
    day_of,
    first_moment,
    first_rid,
)


def micros(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1_000_000)


@pytest.mark.parametrize(
    ("at", "day"),
    [("1800-01-01", 0), ("1800-01-02", 1), ("1970-01-01", 62_091), ("1970-01-01T23:59:59", 62_091), ("1700-01-01", 0)],
)
def test_a_day_is_counted_from_1800(at: str, day: int) -> None:
    assert day_of(micros(at)) == day


def test_no_time_is_the_oldest_day_and_the_far_future_the_last() -> None:
    assert day_of(None) == 0
    assert day_of(micros("9999-12-31")) == MAX_DAY


def test_the_records_of_a_day_lie_between_its_number_and_the_next() -> None:
    assert day_in(first_rid(3, 62_091)) == 62_091
    assert day_in(first_rid(3, 62_092) - 1) == 62_091
    assert first_rid(3, MAX_DAY) < first_rid(4)
    assert first_rid(3, 62_091) + RIDS_OF_DAY == first_rid(3, 62_092)
    assert first_moment(62_091) == 0
    assert day_of(first_moment(70_000)) == 70_000


def test_the_edges_of_time_are_no_dates() -> None:
    assert (date_of(0), date_of(MAX_DAY)) == (None, None)
    found = date_of(62_091)
    assert found and found.isoformat() == "1970-01-01"


def test_a_stream_has_a_place_while_its_connection_declares_it() -> None:
    streams = {name: StreamPlace(number, {}, {}, None, {}) for number, name in enumerate(("messages", "old"))}
    origin = Origin("cin_1", "mail")
    layout = Layout(
        1, {"cin_1": ConnectionPlace(1, origin, 1, streams, frozenset({"messages", "new"}))}, {"cin_1": origin}
    )
    assert layout.place("cin_1", "messages") is streams["messages"]
    assert [layout.place(*of) for of in (("cin_1", "old"), ("cin_1", "new"), ("cin_2", "messages"))] == [
        None,
        None,
        None,
    ]
