"""Time buckets, held against what Python's own clock arithmetic says of every instant."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import get_args
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.model.buckets import Bucket, Buckets, zone_of
from pdpp_server.model.queries import Granularity
from pdpp_server.model.times import DAY_MICROS, instant

ZONES = ["UTC", "Europe/Zurich", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia", "America/St_Johns"]
NIGHTS = ["2026-10-25T01:00:00Z", "2026-03-29T01:00:00Z", "2011-12-30T10:00:00Z", "2026-04-04T15:00:00Z",
          "1990-10-28T02:31:00Z", "2026-01-01T00:00:00Z", "2026-11-01T00:00:00Z"]  # fmt: skip
MINUTE = 60_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

granularities: st.SearchStrategy[Granularity] = st.sampled_from(
    ["minute", "hour", "day", "week", "month", "quarter", "year"]
)
zones = st.sampled_from(ZONES).map(ZoneInfo)
near_a_night = st.builds(
    lambda night, micros: (instant(night) or 0) + micros,
    st.sampled_from(NIGHTS),
    st.integers(-2 * DAY_MICROS, 2 * DAY_MICROS),
)
anywhere = st.datetimes(datetime(1700, 1, 1), datetime(2300, 1, 1)).map(  # noqa: DTZ001 - hypothesis wants them naive
    lambda naive: instant(naive.isoformat()) or 0
)
moments = near_a_night | anywhere


def around_nights(*, every: int) -> Iterator[int]:
    """Instants of three days, of which each night is in the middle one."""
    for night in NIGHTS:
        day = (instant(night) or 0) // DAY_MICROS * DAY_MICROS
        yield from range(day - DAY_MICROS, day + 2 * DAY_MICROS, every)


def wall(moment: int, zone: ZoneInfo) -> datetime:
    return (EPOCH + timedelta(microseconds=moment)).astimezone(zone)


def plain_key(moment: int, granularity: Granularity, zone: ZoneInfo) -> str:
    local = wall(moment, zone)
    day: date = local.date()
    match granularity:
        case "minute":
            return local.strftime("%Y-%m-%dT%H:%M")
        case "hour":
            return local.strftime("%Y-%m-%dT%H:00")
        case "day":
            return day.isoformat()
        case "week":
            return (day - timedelta(days=day.weekday())).isoformat()
        case "month":
            return day.replace(day=1).isoformat()
        case "quarter":
            return day.replace(day=1, month=(1, 1, 1, 4, 4, 4, 7, 7, 7, 10, 10, 10)[day.month - 1]).isoformat()
        case "year":
            return day.replace(day=1, month=1).isoformat()


@given(moments, granularities, zones)
def test_the_key_of_a_bucket_is_what_a_clock_on_the_wall_shows(
    moment: int, granularity: Granularity, zone: ZoneInfo
) -> None:
    buckets = Buckets(granularity, zone)

    assert buckets.key(buckets.of(moment)) == plain_key(moment, granularity, zone)


@given(moments, granularities, zones)
def test_a_bucket_begins_with_its_first_instant(moment: int, granularity: Granularity, zone: ZoneInfo) -> None:
    buckets = Buckets(granularity, zone)
    bucket = buckets.of(moment)
    text = buckets.start(bucket)
    start = instant(text)

    assert start is not None
    assert start <= moment
    assert buckets.of(start) == bucket != buckets.of(start - 1)
    assert text == wall(start, zone).isoformat(timespec="seconds")


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("granularity", get_args(Granularity))
def test_no_instant_around_a_change_of_clocks_is_put_elsewhere(granularity: Granularity, zone: str) -> None:
    buckets = Buckets(granularity, ZoneInfo(zone))
    for moment in around_nights(every=10 * MINUTE):
        assert buckets.key(buckets.of(moment)) == plain_key(moment, granularity, ZoneInfo(zone))


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("granularity", ["day", "week", "month", "quarter", "year"])
def test_each_piece_of_a_day_lies_in_one_bucket(granularity: Granularity, zone: str) -> None:
    buckets = Buckets(granularity, ZoneInfo(zone))
    for day in around_nights(every=DAY_MICROS):
        starts = buckets.cut(day, day + DAY_MICROS)
        assert starts[0] == day
        for begin, end in pairwise((*starts, day + DAY_MICROS)):
            steps = {*range(begin, end, 10 * MINUTE), end - 1}
            assert {buckets.of(moment) for moment in steps} == {buckets.of(begin)}


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("granularity", ["day", "week", "month", "quarter", "year"])
def test_the_core_of_a_bucket_lies_in_it_in_every_zone(granularity: Granularity, zone: str) -> None:
    buckets = Buckets(granularity, ZoneInfo(zone))
    for day in around_nights(every=DAY_MICROS):
        bucket, since, until = buckets.core(day)
        if since < until:
            assert buckets.of(since) == bucket == buckets.of(until - 1)


@pytest.mark.parametrize(
    ("granularity", "zone", "time", "key", "start"),
    [
        ("hour", "Europe/Zurich", "2026-10-25T00:30:00Z", "2026-10-25T02:00", "2026-10-25T02:00:00+02:00"),
        ("hour", "Europe/Zurich", "2026-10-25T01:30:00Z", "2026-10-25T02:00", "2026-10-25T02:00:00+01:00"),
        ("hour", "Asia/Kathmandu", "2026-10-25T00:30:00Z", "2026-10-25T06:00", "2026-10-25T06:00:00+05:45"),
        ("hour", "Australia/Lord_Howe", "2026-04-04T15:10:00Z", "2026-04-05T01:00", "2026-04-05T01:30:00+10:30"),
        ("day", "Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29", "2011-12-29T00:00:00-10:00"),
        ("day", "Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31", "2011-12-31T00:00:00+14:00"),
        ("day", "America/Toronto", "1919-03-31T05:00:00Z", "1919-03-31", "1919-03-31T00:30:00-04:00"),
        ("week", "Europe/Zurich", "2026-11-01T22:59:59Z", "2026-10-26", "2026-10-26T00:00:00+01:00"),
        ("quarter", "Europe/Zurich", "2026-12-31T22:59:59Z", "2026-10-01", "2026-10-01T00:00:00+02:00"),
        ("year", "Pacific/Apia", "9999-12-31T23:59:59Z", "9999-01-01", "9999-01-01T00:00:00+13:00"),
        ("week", "America/New_York", "0001-01-01T00:00:00Z", "0001-01-01", "0001-01-01T00:00:00-04:56:02"),
    ],
)
def test_nights_that_clocks_change_and_the_ends_of_time(
    granularity: Granularity, zone: str, time: str, key: str, start: str
) -> None:
    buckets = Buckets(granularity, ZoneInfo(zone))
    bucket = buckets.of(instant(time) or 0)

    assert (buckets.key(bucket), buckets.start(bucket)) == (key, start)


def test_a_day_that_a_zone_skipped_begins_when_its_clocks_went_on() -> None:
    skipped = Bucket(instant("2011-12-30") or 0)

    assert Buckets("day", ZoneInfo("Pacific/Apia")).start(skipped) == "2011-12-31T00:00:00+14:00"


@pytest.mark.parametrize(
    "name",
    ["", "Mars", "europe/zurich", "Europe", "Europe/", "/etc/localtime", "../UTC", "posixrules", "right/UTC",
     "localtime", "leapseconds", "tzdata.zi", "UTC\0", "U" * 5000, "Zürich", "+01:00"],
)  # fmt: skip
def test_what_is_no_name_of_a_zone(name: str) -> None:
    assert zone_of(name) is None


@pytest.mark.parametrize("name", ["UTC", "Europe/Zurich", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "EST5EDT"])
def test_names_of_zones(name: str) -> None:
    zone = zone_of(name)

    assert zone is not None
    assert zone.key == name
