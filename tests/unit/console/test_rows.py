"""A record as a line of a page, by declared roles and nothing else."""

from datetime import UTC
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pdpp_server.console.rows import rows_of, rows_shown, shown_fields
from pdpp_server.importers.registry import declaration_of
from pdpp_server.model.activity import Shown
from pdpp_server.model.records import Record, RecordId, Tombstone
from pdpp_server.model.sources import Origin
from tests.worlds.chat import DECLARATION

MESSAGES, CHANNELS = (DECLARATION.streams[name] for name in ("messages", "channels"))
TIMES = declaration_of("calendar").streams["occurrences"]
ORIGIN, NOON = Origin("cin_1", "chat", "Work"), "2026-03-02T12:00:00Z"


def message(at: str | None = NOON, **data: Any) -> Record:
    roles = {name: role for name, role in MESSAGES.roles.items() if name in data}
    said_by = "sent_at" if at else None
    return Record(RecordId("cin_1", "messages", "m1"), ORIGIN, data, NOON, at, roles, time_field=said_by)


def test_a_line_shows_what_roles_are_declared_for() -> None:
    assert shown_fields(MESSAGES) == ("id", "subject", "text", "author", "sent_at")
    assert shown_fields(CHANNELS) == ("team", "number")


def test_a_record_is_told_by_its_roles_and_each_part_by_its_field() -> None:
    (row,) = rows_of([message(subject="Lease", text="See you.", author="Ann", sent_at=NOON, likes=3)], MESSAGES, UTC)
    assert (row.title, row.who, row.text, row.at, row.day, row.talk) == ("Lease", "Ann", "See you.", NOON, "", "Lease")
    assert (row.amount, row.handle) == (None, "cin_1/messages:m1")
    assert row.fields == {"title": "subject", "who": "author", "text": "text", "at": "sent_at", "talk": "subject"}


def test_a_day_is_no_time_and_a_record_without_a_title_has_a_name_that_no_field_says() -> None:
    (row,) = rows_of([message("2026-03-02", text="x", sent_at="2026-03-02")], MESSAGES, UTC)
    assert (row.day, row.at, row.title) == ("2026-03-02", None, "Work / messages")
    assert "title" not in row.fields


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x" * 240, "x" * 240),
        ("x" * 241, "x" * 240 + " …"),
        (7, ""),
        ("data:image/png;base64," + "iVBORw0KGgo" * 20, ""),
    ],
)
def test_a_long_text_is_cut_and_bytes_are_no_text(text: object, shown: str) -> None:
    (row,) = rows_of([message(None, text=text)], MESSAGES, UTC)
    assert row.text == shown


def test_what_is_gone_has_no_line_and_what_is_drawn_is_what_is_shown() -> None:
    gone = Tombstone(RecordId("cin_1", "messages", "m2"), ORIGIN, NOON, NOON)
    rows = rows_of([message(subject="Lease", text="x", author="Ann", sent_at=NOON), gone], MESSAGES, UTC)
    assert rows_shown(rows, ("title", "text", "amount")) == Shown(
        ("cin_1",), ("messages",), ("subject", "text"), ("cin_1/messages:m1",)
    )


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("# Lease\n\nThe best chapter.", "The best chapter."),
        ("# Other\n\nThe best chapter.", "# Other\n\nThe best chapter."),
        ("Lease\nis a word", "Lease\nis a word"),
        ("# Lease", ""),
    ],
)
def test_a_first_heading_is_left_out_where_it_only_repeats_the_title(written: str, shown: str) -> None:
    (row,) = rows_of([message(None, subject="Lease", text=written)], MESSAGES, UTC)
    assert row.text == shown


@pytest.mark.parametrize(
    ("day", "start", "end", "zone", "until"),
    [
        (None, "2026-03-02T12:00:00Z", "2026-03-02T13:00:00Z", "UTC", ""),
        (None, "2026-03-02T12:00:00Z", "2026-03-03T00:00:00Z", "UTC", ""),  # until midnight
        (None, "2026-03-02T12:00:00Z", "2026-03-03T00:00:00Z", "Europe/Amsterdam", "2026-03-03"),
        (None, "2026-03-02T12:00:00Z", "2026-03-02T12:00:00Z", "UTC", ""),
        (None, "2026-03-02T12:00:00Z", None, "UTC", ""),
        (None, "2026-03-02T12:00:00Z", "9999-12-31T23:59:59Z", "Asia/Tokyo", "9999-01-01"),
        ("2026-03-28", "2026-03-27T23:00:00Z", "2026-03-29T22:00:00Z", "Asia/Tokyo", "2026-03-29"),  # 47 hours there
        ("2026-03-28", "2026-03-27T23:00:00Z", "2026-03-28T23:00:00Z", "America/Lima", ""),
        ("2026-03-28", "2026-03-27T23:00:00Z", "9999-12-31T00:00:00Z", "UTC", "9999-01-01"),
    ],
)
def test_the_last_day_is_told_where_it_is_not_the_first(
    day: str | None, start: str, end: str | None, zone: str, until: str
) -> None:
    id = RecordId("cin_1", "occurrences", "o1")
    data = {"start": start, "end": end, **({"start_date": day} if day else {})}
    record = Record(id, ORIGIN, data, NOON, day or start, TIMES.roles, time_field="start_date" if day else "start")

    (row,) = rows_of([record], TIMES, ZoneInfo(zone))

    assert (row.until, row.fields.get("until")) == (until, "end" if until else None)
