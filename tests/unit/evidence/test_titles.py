"""Titles, bodies and times come from declarations; names are never guessed at."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.evidence.budgets import TITLE_CHARS
from pdpp_server.evidence.titles import body, moment, short_title, title
from pdpp_server.model.records import Hit, RecordId
from pdpp_server.model.sources import Origin
from tests.requirements import requirement

ORIGIN = Origin("cin_1", "slack", "Work Slack")


def named(data: Mapping[str, object], roles: dict[str, str] | None = None, authored_at: str | None = None) -> str:
    return title(roles, data, ORIGIN, "messages", authored_at)


@requirement("ev.titles.declared-role")
def test_the_title_is_the_declared_field() -> None:
    assert named({"title": "no", "subject": " Lease\ndraft "}, {"subject": "primary-title"}) == "Lease draft"


@requirement("ev.titles.fallback", "ev.titles.no-name-guessing")
def test_without_one_it_is_label_stream_and_its_own_time_if_that_is_known() -> None:
    data = {"title": "no", "name": "no", "text": "no"}

    assert named(data, authored_at="2026-04-01T11:12:00+02:00") == "Work Slack / messages / 2026-04-01T09:12Z"
    assert named(data, {"gone": "primary-title"}) == "Work Slack / messages"
    assert title(None, {}, Origin("c", "slack"), "messages", "2026-04-01") == "slack / messages / 2026-04-01"


@pytest.mark.parametrize(
    ("field", "shown"),
    [(None, "Work Slack / messages / 2026-04-01"), ("subject", "Work Slack / messages / 2026-04-01T09:12Z")],
)
def test_a_made_up_title_of_a_hit_ends_at_the_day_and_one_that_stands_in_a_field_stays(
    field: str | None, shown: str
) -> None:
    at = "2026-04-01T09:12:33Z"
    said = "Work Slack / messages / 2026-04-01T09:12Z"
    hit = Hit(RecordId("cin_1", "messages", "m1"), ORIGIN, said, at, at, (), title_field=field)

    assert short_title(hit, TITLE_CHARS) == shown


@given(st.text())
def test_a_title_is_short_and_on_one_line(text: str) -> None:
    shown = named({"t": text}, {"t": "primary-title"})

    assert shown
    assert "\n" not in shown
    assert len(shown) <= TITLE_CHARS * 12


@requirement("ev.titles.no-name-guessing")
def test_the_body_is_the_declared_field_and_no_other() -> None:
    assert body({"note": "primary-body"}, {"text": "no", "note": "yes"}) == ("note", "yes")
    assert body({}, {"text": "no", "body": "no"}) is None
    assert body({"note": "primary-body"}, {"note": 5}) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-04-01T09:12:33.123Z", "2026-04-01T09:12Z"),
        ("2026-04-01T09:12:33+05:30", "2026-04-01T03:42Z"),
        ("0987-04-01T09:12:33", "0987-04-01T09:12Z"),
        ("2026-04-01", "2026-04-01"),
        ("0001-01-01T00:00:00+05:00", ""),
        ("next: x", ""),
        (None, ""),
    ],
)
def test_a_time_is_shown_in_utc_or_not_at_all(value: str | None, expected: str) -> None:
    assert moment(value) == expected
