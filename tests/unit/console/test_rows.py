"""A record as a line of a page, by declared roles and nothing else."""

from typing import Any

import pytest

from pdpp_server.console.rows import rows_of, rows_shown, shown_fields
from pdpp_server.model.activity import Shown
from pdpp_server.model.records import Record, RecordId, Tombstone
from pdpp_server.model.sources import Origin
from tests.worlds.chat import DECLARATION

MESSAGES, CHANNELS = (DECLARATION.streams[name] for name in ("messages", "channels"))
ORIGIN, NOON = Origin("cin_1", "chat", "Work"), "2026-03-02T12:00:00Z"


def message(at: str | None = NOON, **data: Any) -> Record:
    roles = {name: role for name, role in MESSAGES.roles.items() if name in data}
    said_by = "sent_at" if at else None
    return Record(RecordId("cin_1", "messages", "m1"), ORIGIN, data, NOON, at, roles, time_field=said_by)


def test_a_line_shows_what_roles_are_declared_for() -> None:
    assert shown_fields(MESSAGES) == ("id", "subject", "text", "author", "sent_at")
    assert shown_fields(CHANNELS) == ("team", "number")


def test_a_record_is_told_by_its_roles_and_each_part_by_its_field() -> None:
    (row,) = rows_of([message(subject="Lease", text="See you.", author="Ann", sent_at=NOON, likes=3)], MESSAGES)
    assert (row.title, row.who, row.text, row.at, row.day, row.talk) == ("Lease", "Ann", "See you.", NOON, "", "Lease")
    assert (row.amount, row.handle) == (None, "cin_1/messages:m1")
    assert row.fields == {"title": "subject", "who": "author", "text": "text", "at": "sent_at", "talk": "subject"}


def test_a_day_is_no_time_and_a_record_without_a_title_has_a_name_that_no_field_says() -> None:
    (row,) = rows_of([message("2026-03-02", text="x", sent_at="2026-03-02")], MESSAGES)
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
    (row,) = rows_of([message(None, text=text)], MESSAGES)
    assert row.text == shown


def test_what_is_gone_has_no_line_and_what_is_drawn_is_what_is_shown() -> None:
    gone = Tombstone(RecordId("cin_1", "messages", "m2"), ORIGIN, NOON, NOON)
    rows = rows_of([message(subject="Lease", text="x", author="Ann", sent_at=NOON), gone], MESSAGES)
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
    (row,) = rows_of([message(None, subject="Lease", text=written)], MESSAGES)
    assert row.text == shown
