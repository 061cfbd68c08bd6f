"""Calendars: the instants that times mean, and every time that a repeating event takes place."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo

import pytest

from pdpp_server.importers.sources import calendar as calendars
from pdpp_server.importers.sources.calendar import CALENDAR
from pdpp_server.model.ingest import Incoming
from tests.importers.reading import ZONE, files_of, records, rejections
from tests.requirements import requirement

OWN_ZONE = (
    "BEGIN:VTIMEZONE,TZID:Pier,"
    "BEGIN:DAYLIGHT,DTSTART:16010325T020000,RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3,TZOFFSETFROM:+0100,TZOFFSETTO:+0200,"
    "END:DAYLIGHT,"
    "BEGIN:STANDARD,DTSTART:16011028T030000,RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10,TZOFFSETFROM:+0200,TZOFFSETTO:+0100,"
    "END:STANDARD,END:VTIMEZONE"
).split(",")

COMMA_ZONE = (
    "BEGIN:VTIMEZONE", "TZID:Kuala Lumpur\\, Singapore", "BEGIN:STANDARD", "DTSTART:16010101T000000",
    "TZOFFSETFROM:+0900", "TZOFFSETTO:+0800", "END:STANDARD", "END:VTIMEZONE",
)  # fmt: skip


def calendar(*lines: str) -> bytes:
    return "\r\n".join(["BEGIN:VCALENDAR", *lines, "END:VCALENDAR", ""]).encode()


def event(*lines: str, uid: str = "u", stamp: str = "20260301T000000Z") -> list[str]:
    return ["BEGIN:VEVENT", f"UID:{uid}", f"DTSTAMP:{stamp}", *lines, "END:VEVENT"]


def starts(*lines: str) -> list[str]:
    found = records(CALENDAR, "occurrences", calendar(*lines))
    return [str(data["start"]).removesuffix(":00.000Z") for data in found]


# Times ------------------------------------------------------------------------------------------------------------


@requirement("imp.calendar.clock")
@pytest.mark.parametrize(
    ("start", "instant"),
    [
        ("DTSTART:20260701T090000Z", "2026-07-01T09:00"),
        ("DTSTART:20260701T090000", "2026-07-01T07:00"),  # floats: the owner's zone
        ("DTSTART;TZID=America/New_York:20260701T090000", "2026-07-01T13:00"),
        ("DTSTART;TZID=/mozilla.example/20050126_1/America/New_York:20260701T090000", "2026-07-01T13:00"),
        ("DTSTART;TZID=America/Argentina/Buenos_Aires:20260701T090000", "2026-07-01T12:00"),
        ('DTSTART;TZID="Tokyo Standard Time":20260701T090000', "2026-07-01T00:00"),
        ('DTSTART;TZID="Marquesas Standard Time":20260701T090000', "2026-07-01T18:30"),
        ("DTSTART;TZID=Pier:20260701T090000", "2026-07-01T07:00"),
        ("DTSTART;TZID=Pier:20260101T090000", "2026-01-01T08:00"),
        ("DTSTART;TZID=Nowhere:20260701T090000", "2026-07-01T07:00"),
        ('DTSTART;TZID="Kuala Lumpur, Singapore":20260701T093000', "2026-07-01T01:30"),
        ("DTSTART;TZID=Kuala Lumpur\\, Singapore:20260701T093000", "2026-07-01T01:30"),
        ("DTSTART;VALUE=DATE:20260701", "2026-06-30T22:00"),
        ("DTSTART;TZID=Europe/Berlin:20260329T023000", "2026-03-29T01:30"),  # skipped: as if not yet put forward
        ("DTSTART;TZID=Pier:20260329T023000", "2026-03-29T01:30"),
        ("DTSTART;TZID=Europe/Berlin:20261025T023000", "2026-10-25T00:30"),  # twice: the first
        ("DTSTART;TZID=Pier:20261025T023000", "2026-10-25T00:30"),
    ],
)
def test_a_time_is_the_instant_that_was_meant(start: str, instant: str) -> None:
    assert starts(*OWN_ZONE, *COMMA_ZONE, *event(start)) == [instant]


@requirement("imp.calendar.clock")
def test_a_zone_that_a_file_describes_is_the_one_it_describes() -> None:
    (account,) = CALENDAR.recognise(files_of(calendar(*OWN_ZONE, *event("DTSTART:20260101T000000Z"))))
    pier: tzinfo = account.found.clocks["export 1"].zones["Pier"]
    for hours in range(0, 24 * 400, 7):
        when = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hours)
        assert when.astimezone(pier).replace(tzinfo=None) == when.astimezone(ZONE).replace(tzinfo=None)


@requirement("imp.calendar.clock")
def test_the_owner_is_told_what_was_decided() -> None:
    lines = [*event("DTSTART:20260701T090000"), *event("DTSTART;TZID=Nowhere:20260701T090000", uid="v")]
    (account,) = CALENDAR.recognise(files_of(calendar(*lines, "BEGIN:VTODO", "END:VTODO")))
    assert account.notes == (
        "Repeating events are laid out until 2027-03-02, at most 3000 times each.",
        "Dates and times without a zone are read as Europe/Berlin.",
        "Zones that nobody knows are read as Europe/Berlin: 'Nowhere'.",
        "Only events are imported; to-dos and journal entries left out: 1.",
    )


@requirement("imp.calendar.clock")
@pytest.mark.parametrize(
    ("lines", "end"),
    [
        (("DTSTART:20260701T090000Z",), "2026-07-01T09:00:00.000Z"),
        (("DTSTART:20260701T090000Z", "DURATION:P1DT1H"), "2026-07-02T10:00:00.000Z"),
        (("DTSTART:20260701T090000Z", "DTEND:20260701T080000Z"), "2026-07-01T09:00:00.000Z"),
        (("DTSTART;VALUE=DATE:20260701",), "2026-07-01T22:00:00.000Z"),
        (("DTSTART;VALUE=DATE:20260329",), "2026-03-29T22:00:00.000Z"),  # a day of 23 hours
        (("DTSTART;VALUE=DATE:20260701", "DTEND;VALUE=DATE:20260703"), "2026-07-02T22:00:00.000Z"),
    ],
)
def test_an_event_ends_when_it_says_or_as_the_format_says(lines: tuple[str, ...], end: str) -> None:
    (data,) = records(CALENDAR, "events", calendar(*event(*lines)))
    assert data["end"] == end


# Repetition -------------------------------------------------------------------------------------------------------


@requirement("imp.calendar.occurrences")
def test_nine_stays_nine_when_the_clocks_change() -> None:
    assert starts(*event("DTSTART;TZID=Europe/Berlin:20260328T090000", "RRULE:FREQ=DAILY;COUNT=3")) == [
        "2026-03-28T08:00",
        "2026-03-29T07:00",
        "2026-03-30T07:00",
    ]


@requirement("imp.calendar.occurrences")
@pytest.mark.parametrize(
    ("until", "times"), [("20260703", 3), ("20260702T070000Z", 2), ("20260702T065959Z", 1), ("20260702T085959", 1)]
)
def test_the_last_time_is_told_in_utc_or_on_the_wall_or_as_a_day(until: str, times: int) -> None:
    start = "DTSTART;TZID=Europe/Berlin:20260701T090000"
    assert len(starts(*event(start, f"RRULE:FREQ=DAILY;UNTIL={until}"))) == times


@requirement("imp.calendar.occurrences")
def test_exceptions_additions_and_changes_are_kept() -> None:
    master = event(
        "DTSTART:20260701T090000Z", "SUMMARY:Call", "RRULE:FREQ=DAILY;UNTIL=20260704T090000Z",
        "EXDATE:20260702T090000Z", "RDATE:20260710T090000Z",
    )  # fmt: skip
    moved = event("DTSTART:20260703T110000Z", "RECURRENCE-ID:20260703T090000Z", "SUMMARY:Late call")
    found = records(CALENDAR, "occurrences", calendar(*moved, *master))

    assert sorted((str(data["start"])[8:16], data["title"]) for data in found) == [
        ("01T09:00", "Call"),
        ("03T11:00", "Late call"),
        ("04T09:00", "Call"),
        ("10T09:00", "Call"),
    ]
    assert len({data["id"] for data in found}) == 4


@requirement("imp.calendar.occurrences")
def test_a_whole_day_may_except_a_time() -> None:
    rule = ("RRULE:FREQ=DAILY;COUNT=3", "EXDATE;VALUE=DATE:20260702")
    assert starts(*event("DTSTART:20260701T090000Z", *rule)) == ["2026-07-01T09:00", "2026-07-03T09:00"]


@requirement("imp.calendar.occurrences")
def test_a_rule_without_end_ends_a_year_after_the_export() -> None:
    found = starts(*event("DTSTART:20260101T090000Z", "RRULE:FREQ=MONTHLY", stamp="20260601T000000Z"))
    assert (found[0], found[-1], len(found)) == ("2026-01-01T09:00", "2027-06-01T09:00", 18)


@requirement("imp.calendar.occurrences")
def test_of_too_many_times_the_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calendars, "OCCURRENCES_MAX", 10)
    found = starts(*event("DTSTART:20200101T090000Z", "RRULE:FREQ=DAILY", stamp="20260601T000000Z"))
    assert (found[-1], len(found)) == ("2027-06-01T09:00", 10)


@requirement("imp.calendar.occurrences", "imp.files.rejected")
@pytest.mark.parametrize(
    "rule",
    ["FREQ=SECONDLY", "FREQ=MINUTELY;INTERVAL=5", "FREQ=DAILY;INTERVAL=0", "FREQ=NEVER", "FREQ=DAILY;UNTIL=x",
     "FREQ=DAILY;BYDAY=XX", "FREQ=DAILY;FREQ", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"],
)  # fmt: skip
def test_a_rule_that_is_none_leaves_the_first_time(rule: str) -> None:
    lines = event("DTSTART:20260701T090000Z", f"RRULE:{rule}")
    assert starts(*lines) == ["2026-07-01T09:00"]
    assert [place for place, _ in rejections(CALENDAR, calendar(*lines))] == ["export 1:2"]


@requirement("imp.calendar.occurrences")
@pytest.mark.parametrize("rule", ["FREQ=DAILY;INTERVAL=7;BYDAY=MO;COUNT=5", "FREQ=HOURLY;INTERVAL=24;BYHOUR=3"])
def test_a_rule_that_never_falls_ends_too(rule: str) -> None:
    assert starts(*event("DTSTART:20260701T090000Z", f"RRULE:{rule}")) == ["2026-07-01T09:00"]


# Lines ------------------------------------------------------------------------------------------------------------


@requirement("imp.files.expected-records")
def test_a_fold_may_lie_inside_a_character() -> None:
    raw = calendar(*event("DTSTART:20260701T090000Z", "SUMMARY:Grüße")).replace(b"\xc3", b"\xc3\r\n ")
    assert [data["title"] for data in records(CALENDAR, "events", raw)] == ["Grüße"]


@requirement("imp.files.keys")
def test_of_two_editions_the_newer_is_kept_and_the_other_is_told() -> None:
    older = event("DTSTART:20260701T090000Z", "SEQUENCE:1", "SUMMARY:Old")
    newer = event("DTSTART:20260701T100000Z", "SEQUENCE:2", "SUMMARY:New")
    export = calendar(*newer, *older)
    assert [data["title"] for data in records(CALENDAR, "events", export)] == ["New"]
    assert [place for place, _ in rejections(CALENDAR, export)] == ["export 1:9"]
    assert rejections(CALENDAR, calendar(*newer, *event("DTSTART:20260701T100000Z", "SEQUENCE:2", "SUMMARY:New"))) == []


@requirement("imp.files.damaged")
def test_a_calendar_that_is_cut_off_gives_the_events_before() -> None:
    export = calendar(*event("DTSTART:20260701T090000Z"), *event("DTSTART:20260702T090000Z", uid="v"))
    cut = export[: export.rindex(b"END:VEVENT")]
    assert [data["id"] for data in records(CALENDAR, "events", cut)] == ["u"]
    assert [place for place, _ in rejections(CALENDAR, cut)] == ["export 1:7"]


# What programs write otherwise ------------------------------------------------------------------------------------


@requirement("imp.calendar.occurrences")
@pytest.mark.parametrize(
    "instead", ["RECURRENCE-ID;TZID=Europe/Berlin:20260702T000000", "RECURRENCE-ID:20260701T220000Z"]
)
def test_a_day_of_a_series_of_days_that_is_replaced_by_a_time_is_there_once(instead: str) -> None:
    days = event("DTSTART;VALUE=DATE:20260701", "RRULE:FREQ=DAILY;COUNT=3")
    changed = event("DTSTART;VALUE=DATE:20260705", instead)

    found = records(CALENDAR, "occurrences", calendar(*days, *changed))

    assert sorted(str(one["start_date"]) for one in found) == ["2026-07-01", "2026-07-03", "2026-07-05"]


@requirement("imp.calendar.occurrences")
def test_a_time_of_a_series_that_is_replaced_by_its_day_is_there_once() -> None:
    series = event("DTSTART:20260701T090000Z", "RRULE:FREQ=DAILY;COUNT=2")
    changed = event("DTSTART:20260702T100000Z", "RECURRENCE-ID;VALUE=DATE:20260702")
    assert sorted(starts(*series, *changed)) == ["2026-07-01T09:00", "2026-07-02T10:00"]


@requirement("imp.calendar.occurrences")
def test_a_change_of_all_later_times_moves_them_until_the_next_change() -> None:
    series = event("DTSTART;TZID=Europe/Berlin:20260323T090000", "RRULE:FREQ=DAILY;COUNT=9", "SUMMARY:old")
    later = event(
        "DTSTART;TZID=Europe/Berlin:20260325T103000", "DTEND;TZID=Europe/Berlin:20260325T110000", "SUMMARY:new",
        "RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20260325T090000",
    )  # fmt: skip
    once = event("DTSTART:20260327T180000Z", "RECURRENCE-ID;TZID=Europe/Berlin:20260327T090000", "SUMMARY:once")
    last = event("DTSTART:20260331T060000Z", "RECURRENCE-ID;RANGE=THISANDFUTURE:20260330T070000Z", "SUMMARY:last")

    found = records(CALENDAR, "occurrences", calendar(*series, *later, *once, *last))
    told = sorted((str(one["start"])[:16], str(one["title"]), str(one["end"])[11:16]) for one in found)

    assert told == [
        ("2026-03-23T08:00", "old", "08:00"),
        ("2026-03-24T08:00", "old", "08:00"),
        ("2026-03-25T09:30", "new", "10:00"),
        ("2026-03-26T09:30", "new", "10:00"),
        ("2026-03-27T18:00", "once", "18:00"),
        ("2026-03-28T09:30", "new", "10:00"),
        ("2026-03-29T08:30", "new", "09:00"),  # half past ten on a clock that was put forward
        ("2026-03-31T06:00", "last", "06:00"),
        ("2026-04-01T06:00", "last", "06:00"),
    ]
    assert len({one["id"] for one in found}) == 9


@requirement("imp.files.damaged", "imp.files.rejected")
def test_an_end_that_is_misspelt_ends_what_it_is_like_and_a_missing_one_costs_one_event() -> None:
    lines = [line for day in range(1, 16) for line in event(f"DTSTART:202607{day:02}T090000Z", uid=f"u{day}")]
    lines[lines.index("END:VEVENT")] = "END:VEVNT"
    assert len(starts(*lines)) == 15

    lines[lines.index("END:VEVNT")] = "X-NOTHING:1"
    assert len(starts(*lines)) == 14
    assert len(rejections(CALENDAR, calendar(*lines))) == 1


@requirement("imp.files.damaged")
def test_a_zone_without_an_end_swallows_no_event() -> None:
    zone = [line for line in COMMA_ZONE if line != "END:VTIMEZONE"]
    start = 'DTSTART;TZID="Kuala Lumpur, Singapore":20260701T093000'
    assert starts(*zone, *event(start), *event("DTSTART:20260702T090000Z", uid="v")) == [
        "2026-07-01T01:30",
        "2026-07-02T09:00",
    ]


@requirement("imp.files.recognised")
def test_an_event_alone_is_a_calendar_and_needs_no_uid() -> None:
    lines = [line for line in event("DTSTART:20260701T090000Z") if not line.startswith("UID")]
    text = "\r\n".join([*lines, ""]).encode()
    (account,) = CALENDAR.recognise(files_of(text))
    assert len(records(CALENDAR, "occurrences", text)) == 1
    assert "It holds no events." not in account.notes


@requirement("imp.calendar.occurrences")
def test_a_series_without_an_end_is_laid_out_until_a_year_after_today_and_further_another_month() -> None:
    files = files_of(calendar(*event("DTSTART:20200101T090000Z", "DTSTAMP:20200101T000000Z", "RRULE:FREQ=MONTHLY")))

    def last(month: int, day: int) -> tuple[str, str]:
        (account,) = CALENDAR.recognise(replace(files, now=datetime(2026, month, day, tzinfo=UTC)))
        found = [one for one in CALENDAR.read(account) if isinstance(one, Incoming) and one.stream == "occurrences"]
        return max(str((one.data or {})["start"])[:10] for one in found), account.depends_on

    assert last(3, 2) == last(3, 30) == ("2027-03-01", "2027-03-31")
    assert last(4, 2) == ("2027-04-01", "2027-04-30")
