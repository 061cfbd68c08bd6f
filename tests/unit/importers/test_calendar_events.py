"""One event of a calendar as the fields of a record."""

import io
from zoneinfo import ZoneInfo

import pytest

from pdpp_server.evidence.budgets import SCHEMA_SAID_CHARS
from pdpp_server.importers.formats.calendar_events import CalendarEvent, event_data, occurrence_data, read_event
from pdpp_server.importers.formats.calendar_times import Clock
from pdpp_server.importers.formats.content_lines import Component, components
from pdpp_server.importers.registry import declaration_of
from pdpp_server.model.ingest import Rejection
from tests.requirements import requirement

CLOCK = Clock({}, ZoneInfo("Europe/Berlin"))


def component(*lines: str, end: str = "END:VEVENT") -> Component:
    text = "\r\n".join(["BEGIN:VEVENT", *lines, end]).encode()
    (found,) = components(io.BytesIO(text), frozenset({"VEVENT"}))
    assert isinstance(found, Component)
    return found


def event(*lines: str) -> CalendarEvent:
    found = read_event(component("UID:u", *lines), "a.ics:1", CLOCK)
    assert isinstance(found, CalendarEvent)
    return found


NINE = "DTSTART:20260701T090000Z"


@requirement("imp.files.rejected")
@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (component("UID:u", NINE, end=""), "the event has no end: the file was cut, or a line is missing"),
        (component("UID:u"), "the event has no start that can be read"),
        (component("UID:u", "DTSTART:soon"), "the event has no start that can be read"),
        (component("UID:u", NINE, "RECURRENCE-ID:soon"), "RECURRENCE-ID is no time"),
    ],
)
def test_an_event_without_a_start_or_an_end_is_rejected_with_the_reason(found: Component, reason: str) -> None:
    assert read_event(found, "a.ics:1", CLOCK) == Rejection("a.ics:1", "invalid_record", reason)


@requirement("imp.files.keys")
def test_a_changed_time_of_a_series_has_a_key_of_its_own_and_an_event_without_uid_has_one_too() -> None:
    assert event(NINE).key == "u"
    assert event(NINE, "RECURRENCE-ID:20260702T090000Z").key == "u_20260702T090000Z"
    assert event(NINE, "RECURRENCE-ID;VALUE=DATE:20260702").key == "u_20260702"
    unnamed = [read_event(component(NINE, f"SUMMARY:{title}"), "", CLOCK) for title in ("a", "a", "b")]
    keys = [one.key for one in unnamed if isinstance(one, CalendarEvent)]
    assert keys[0] == keys[1] != keys[2]


@requirement("imp.files.keys")
def test_the_later_edition_is_the_one_with_the_higher_number_then_the_later_change() -> None:
    editions = [
        event(NINE, "SEQUENCE:many", "LAST-MODIFIED:20260101T000000Z").edition,
        event(NINE, "SEQUENCE:2").edition,
        event(NINE, "SEQUENCE:10", "LAST-MODIFIED:20260101T000000Z").edition,
        event(NINE, "SEQUENCE:10", "LAST-MODIFIED:20260301T000000Z").edition,
    ]
    assert editions == sorted(editions)


@requirement("imp.files.expected-records")
def test_people_links_and_states_are_told_as_they_are_meant() -> None:
    data = event_data(
        event(
            NINE, "SUMMARY:Call\\, short", "STATUS:tentative", "CLASS:PRIVATE", "TRANSP:TRANSPARENT",
            "ORGANIZER;CN=Ann  Lee:MAILTO:Ann@X.example", "ATTENDEE;PARTSTAT=accepted:mailto:bo@x.example",
            "ATTENDEE;CN=Room 2:urn:uuid:1", "CATEGORIES:work,\\,odd,", "URL:https://x.example", "ATTACH:file:///etc/passwd",
            "CONFERENCE:https://x.example", "DESCRIPTION:<p>one</p><p>two</p>", "RRULE:FREQ=DAILY;COUNT=2",
        )
    )  # fmt: skip
    assert (data["title"], data["status"], data["visibility"], data["is_free"]) == (
        "Call, short",
        "tentative",
        "private",
        True,
    )
    assert (data["organizer_name"], data["organizer_address"]) == ("Ann Lee", "ann@x.example")
    assert data["attendees"] == [
        {"address": "bo@x.example", "answer": "accepted"},
        {"name": "Room 2", "answer": "none"},
    ]
    assert data["people"] == "Ann Lee <ann@x.example>, bo@x.example, Room 2"
    assert (data["categories"], data["links"]) == (["work", ",odd"], ["https://x.example"])
    assert (data["description"], data["recurrence"], data["is_recurring"]) == ("one\n\ntwo", "FREQ=DAILY;COUNT=2", True)
    assert "location" not in data


@requirement("imp.calendar.clock")
def test_another_time_of_an_event_lasts_as_long_as_the_first() -> None:
    days = event("DTSTART;VALUE=DATE:20260327", "DTEND;VALUE=DATE:20260329")
    later = days.start.at(days.start.wall.replace(day=28))
    assert later
    told = occurrence_data(days, later)
    assert (told["event_id"], told["start_date"], told["end_date"], told["is_all_day"]) == (
        "u",
        "2026-03-28",
        "2026-03-29",
        True,
    )
    assert told["end"] == "2026-03-29T22:00:00.000Z"  # two days, of which one has 23 hours


def test_a_zone_that_only_its_file_knows_has_no_name() -> None:
    assert event_data(event(NINE))["time_zone"] == "UTC"
    assert event_data(event("DTSTART:20260701T090000"))["time_zone"] == "Europe/Berlin"


@requirement("imp.calendar.clock")
@pytest.mark.parametrize("stream", ["events", "occurrences"])
def test_a_reader_of_the_schema_is_told_which_zone_a_time_is_in_and_where_a_day_stands(stream: str) -> None:
    said = declaration_of("calendar").streams[stream].fields["start"].description or ""

    assert "in UTC" in said and "start_date" in said
    assert ("time_zone" if stream == "events" else "start_local") in said
    assert len(said) <= SCHEMA_SAID_CHARS  # else the schema cuts it
