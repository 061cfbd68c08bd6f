"""When a repeating event happens, and rules that end nowhere."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given, settings
from hypothesis import strategies as st

from pdpp_server.importers.formats import recurrence
from pdpp_server.importers.formats.recurrence import UnreadableRule, repeated
from tests.requirements import requirement

EVERY_SECOND = ",".join(map(str, range(60)))


@requirement("imp.calendar.occurrences")
@settings(deadline=None, max_examples=30)
@given(
    frequency=st.sampled_from(["WEEKLY", "DAILY", "HOURLY"]),
    limits=st.fixed_dictionaries(
        {},
        optional={
            "BYMONTH": st.sampled_from(["7", "7,8,12"]),
            "BYDAY": st.sampled_from(["MO", "WE,FR", "MO,TU,WE,TH,FR"]),
            "BYMONTHDAY": st.sampled_from(["1,2,3", "-1", "15,-2"]),
            "INTERVAL": st.sampled_from(["1", "2", "3"]),
        },
    ),
)
def test_limits_leave_out_what_the_library_leaves_out(frequency: str, limits: dict[str, str]) -> None:
    if frequency == "WEEKLY":
        limits.pop("BYMONTHDAY", None)
    start, end = datetime(2026, 7, 1, 9), datetime(2026, 12, 31, 9)  # noqa: DTZ001
    rule = ";".join(f"{name}={value}" for name, value in {"FREQ": frequency, **limits}.items())
    expected = rrulestr(f"{rule};UNTIL=20261231T090000", dtstart=start)
    assert recurrence.repeated(rule, start, UTC, end) == list(expected)


@requirement("imp.calendar.occurrences")
@pytest.mark.parametrize(
    ("rule", "year"),
    [("FREQ=HOURLY", 1), ("FREQ=DAILY", 1), (f"FREQ=DAILY;BYMINUTE={EVERY_SECOND};BYSECOND={EVERY_SECOND}", 2020)],
)
def test_a_rule_that_repeats_without_measure_is_none(rule: str, year: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recurrence, "LAID_OUT_MAX", 5000)
    with pytest.raises(UnreadableRule):
        repeated(rule, datetime(year, 1, 1), UTC, datetime(2028, 1, 1))  # noqa: DTZ001  times on the wall


@requirement("imp.calendar.occurrences")
@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=YEARLY;BYDAY=53MO;BYMONTH=2",  # the library looks behind the end of a month
        f"FREQ=HOURLY;BYHOUR={','.join(['1'] * 20_000)}",
        f"FREQ=MONTHLY;BYDAY=MO;BYSETPOS={','.join(['1'] * 5000)}",
    ],
)
def test_a_rule_that_nobody_writes_is_none(rule: str) -> None:
    with pytest.raises(UnreadableRule):
        repeated(rule, datetime(2020, 1, 1), UTC, datetime(2028, 1, 1))  # noqa: DTZ001  times on the wall


def on(text: str) -> datetime:
    return datetime.fromisoformat(text)


@requirement("imp.calendar.occurrences")
@pytest.mark.parametrize(
    ("rule", "days"),
    [
        ("FREQ=MONTHLY;COUNT=3", ["07-31", "08-31", "10-31"]),  # a month without that day has none
        ("freq=weekly;byday=mo,fr;count=3;", ["07-31", "08-03", "08-07"]),
        ("FREQ=MONTHLY;BYDAY=-1FR;COUNT=2", ["07-31", "08-28"]),
        ("FREQ=DAILY;BYMONTHDAY=-1;COUNT=2", ["07-31", "08-31"]),
        ("FREQ=DAILY;UNTIL=20260802", ["07-31", "08-01", "08-02"]),
        ("FREQ=DAILY;UNTIL=20260802T065959Z", ["07-31", "08-01"]),  # 08:59:59 on the wall in Berlin
        ("FREQ=DAILY;UNTIL=20200101", []),
        ("FREQ=DAILY;COUNT=0", []),
    ],
)
def test_a_rule_falls_on_these_days(rule: str, days: list[str]) -> None:
    found = repeated(rule, on("2026-07-31T09:00"), ZoneInfo("Europe/Berlin"), on("2026-12-31T09:00"))
    assert [f"{when:%m-%d}" for when in found] == days


@requirement("imp.calendar.occurrences")
@pytest.mark.parametrize(
    "rule",
    ["", "DAILY", "FREQ=SECONDLY", "FREQ=DAILY;INTERVAL=0", "FREQ=DAILY;BYDAY=XX", "FREQ=DAILY;BYSETPOS=1",
     "FREQ=DAILY;COUNT=x", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
     "FREQ=YEARLY;BYMONTH=13;BYMONTHDAY=1", "FREQ=DAILY;UNTIL=soon"],
)  # fmt: skip
def test_a_rule_that_is_none_is_refused(rule: str) -> None:
    with pytest.raises(UnreadableRule):
        repeated(rule, on("2026-07-31T09:00"), UTC, on("2026-12-31T09:00"))
