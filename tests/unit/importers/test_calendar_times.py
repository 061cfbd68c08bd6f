"""Times as calendars write them: dates, times of a zone, times that float."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pdpp_server.importers.formats.calendar_times import Clock, When, day_of, duration
from pdpp_server.importers.formats.content_lines import ContentLine
from tests.requirements import requirement

BERLIN, TOKYO = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Tokyo")
CLOCK = Clock({"Pier": TOKYO}, BERLIN)


def line(value: str, **params: str) -> ContentLine:
    return ContentLine(1, "", "DTSTART", {name: (told,) for name, told in params.items()}, value)


def read(value: str, **params: str) -> When:
    when = CLOCK.read(line(value, **params))
    assert when
    return when


@requirement("imp.calendar.clock")
@pytest.mark.parametrize(
    ("value", "zone", "stamp"),
    [
        ("20260701T090000Z", "", "20260701T090000Z"),
        ("20260701T0900", "", "20260701T070000Z"),  # no zone: the owner's
        (" 20260701t090000z ", "", "20260701T090000Z"),
        ("20260701T090000", "Pier", "20260701T000000Z"),  # the file's own name comes first
        ("20260701T090000", "America/New_York", "20260701T130000Z"),
        ("20260701T090000", "Nowhere", "20260701T070000Z"),
        ("20260701T090000Z", "Pier", "20260701T090000Z"),
        ("20260701T090000Z/PT1H", "", "20260701T090000Z"),  # a period begins at its start
        ("20260701", "", "20260701"),
    ],
)
def test_a_time_is_read_by_the_zone_that_it_names(value: str, zone: str, stamp: str) -> None:
    assert read(value, **({"TZID": zone} if zone else {})).stamp == stamp


@requirement("imp.calendar.clock")
@pytest.mark.parametrize(
    "value", ["", "tomorrow", "20261301", "20260701T25", "20260701T250000", "00000101", "2026-07-01"]
)
def test_what_is_no_time_is_none(value: str) -> None:
    assert CLOCK.read(line(value)) is None


@requirement("imp.calendar.clock")
def test_a_line_that_is_missing_tells_no_time_and_one_of_several_values_may_be_read() -> None:
    assert CLOCK.read(None) is None
    several = line("20260701T090000Z,20260702T090000Z")
    assert CLOCK.read(several) is None
    second = CLOCK.read(several, "20260702T090000Z")
    assert second and second.stamp == "20260702T090000Z"


@requirement("imp.calendar.clock")
def test_a_day_goes_on_by_the_calendar_and_a_time_by_the_hours_that_pass() -> None:
    day, nine = read("20260328"), read("20260328T090000")
    assert day.after(timedelta(days=1)).stamp == "20260329"
    assert (day.after(timedelta(days=2)).utc - day.utc) == timedelta(hours=47)  # a clock is put forward between
    assert nine.after(timedelta(days=1)).utc == datetime(2026, 3, 29, 8, tzinfo=UTC)
    assert nine.after(-timedelta(hours=1)) == nine  # nothing ends before it begins


@requirement("imp.files.garbage")
def test_nothing_lies_beyond_the_end_of_time() -> None:
    last = When(datetime(9999, 12, 31, 23), UTC, is_date=False)  # noqa: DTZ001  on the wall
    assert last.after(timedelta(days=1)) == last
    assert When(datetime(2026, 1, 1), TOKYO, is_date=True).at(datetime(1, 1, 1)) is None  # noqa: DTZ001


@pytest.mark.parametrize(
    ("value", "day"),
    [("20260701T090000Z", "20260701"), ("20260701", "20260701"), ("21010101", ""), ("20260231", ""), ("soon", "")],
)
def test_the_day_of_a_stamp_is_told_where_somebody_can_have_meant_it(value: str, day: str) -> None:
    assert day_of(line(value)) == day
    assert day_of(None) == ""


@requirement("imp.calendar.clock")
@pytest.mark.parametrize(
    ("text", "lasts"),
    [
        ("P1DT1H", timedelta(days=1, hours=1)),
        ("P2W", timedelta(weeks=2)),
        ("-PT15M", -timedelta(minutes=15)),
        ("+pt90s", timedelta(seconds=90)),
        ("PT", timedelta()),
        ("", None),
        ("1H", None),
        ("PT1.5H", None),
        ("P9999999D", None),
    ],
)
def test_a_duration_is_read_or_none(text: str, lasts: timedelta | None) -> None:
    assert duration(text) == lasts
