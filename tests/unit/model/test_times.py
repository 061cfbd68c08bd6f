"""Instants."""

from datetime import UTC, datetime

import pytest

from pdpp_server.model.times import instant, iso, iso_exact, iso_micros, newest


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1970-01-01", 0),
        ("1970-01-01T00:00:01Z", 1_000_000),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1970-01-01T00:00:00.000001", 1),
        ("1969-12-31T23:59:59Z", -1_000_000),
    ],
)
def test_without_a_zone_it_is_utc(text: str, micros: int) -> None:
    assert instant(text) == micros


@pytest.mark.parametrize("value", ["", "soon", "2026-02-30", 5, None, "0001-01-01T00:00:00+01:00"])
def test_what_names_no_moment_that_utc_can_write_is_none(value: object) -> None:
    assert instant(value) is None


@pytest.mark.parametrize(
    "value", [f"2026-11-19T08:00:00.{'0' * 60}Z", "2026-11-19\n08:00:00", "2026-11-19\u202e08:00:00Z"]
)
def test_a_text_that_nobody_writes_as_a_time_is_none(value: str) -> None:
    assert instant(value) is None


def test_times_are_written_in_milliseconds_and_exactly_where_that_would_be_another_moment() -> None:
    assert iso_micros(1_234_567) == "1970-01-01T00:00:01.234Z"
    assert iso_exact(1_234_567) == "1970-01-01T00:00:01.234567Z"
    assert iso_exact(1_234_000) == "1970-01-01T00:00:01.234Z"


def test_the_newest_is_the_latest_moment_and_not_the_last_text() -> None:
    assert newest(["2026-01-01T00:00:00Z", None, "2026-01-01T00:30:00+01:00"]) == "2026-01-01T00:00:00Z"
    assert newest([None]) is None


@pytest.mark.parametrize("year", [1, 987, 1969, 2026, 9999])
@pytest.mark.parametrize("micros", [0, 1, 999, 1000, 999_999])
def test_a_moment_always_has_its_milliseconds_and_never_rounds_them_up(year: int, micros: int) -> None:
    moment = datetime(year, 2, 3, 4, 5, 6, micros, tzinfo=UTC)
    assert iso(moment) == moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
