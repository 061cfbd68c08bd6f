"""What was decided lies within what was asked, or the first thing beyond it is named."""

from dataclasses import replace

import pytest

from pdpp_server.grants.issue import everything
from pdpp_server.grants.narrow import excess
from pdpp_server.model.grants import Grant, StreamGrant, TimeConstraint
from pdpp_server.model.selections import Selection
from tests.requirements import requirement
from tests.worlds.chat import DECLARATION

WORK, FAMILY, OTHER = "cin_work", "cin_family", "cin_other"
MESSAGES, CHANNELS = DECLARATION.streams["messages"], DECLARATION.streams["channels"]
ASKED = Selection("chat", None, "purpose", "To help.", "continuous")
FIRST, SECOND, THIRD = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"


def stream(**changed: object) -> StreamGrant:
    return replace(StreamGrant(MESSAGES, (WORK, FAMILY), frozenset({"id", "text"})), **changed)  # pyright: ignore[reportArgumentType]


def grant(*streams: StreamGrant, **changed: object) -> Grant:
    decided = replace(
        everything(DECLARATION, (WORK, FAMILY)),
        purpose_code="purpose",
        purpose_description="To help.",
        access_mode="continuous",
        streams=streams,
    )
    return replace(decided, **changed)  # pyright: ignore[reportArgumentType]


def time(since: str | None, until: str | None) -> TimeConstraint:
    return TimeConstraint("sent_at", since, until)


@requirement("as.consent.only-narrower")
def test_what_was_asked_may_be_given_whole() -> None:
    assert excess(grant(stream()), ASKED, (stream(),)) is None
    assert excess(grant(), ASKED, (stream(),)) is None


@pytest.mark.parametrize(
    ("asked", "given", "beyond"),
    [
        ("continuous", "continuous", None),
        ("continuous", "single_use", None),
        ("single_use", "single_use", None),
        ("single_use", "continuous", "lasting access"),
    ],
)
@requirement("as.consent.only-narrower")
def test_access_may_be_for_once_and_not_last_longer(asked: str, given: str, beyond: str | None) -> None:
    assert excess(grant(stream(), access_mode=given), replace(ASKED, access_mode=asked), (stream(),)) == beyond


@pytest.mark.parametrize(
    "changed",
    [
        {"purpose_code": "a"},
        {"purpose_code": "z"},
        {"purpose_description": None},
        {"purpose_description": "A"},
        {"purpose_description": "Z"},
    ],
)
@requirement("as.consent.only-narrower")
def test_a_purpose_stays_as_it_was_asked_for(changed: dict[str, str | None]) -> None:
    assert excess(grant(stream(), **changed), ASKED, (stream(),)) == "another purpose"


@requirement("as.consent.only-narrower")
def test_a_purpose_is_compared_by_its_words() -> None:
    same = replace(ASKED, purpose_code="".join(["pur", "pose"]), purpose_description=" ".join(["To", "help."]))

    assert excess(grant(stream()), same, (stream(),)) is None


@requirement("as.consent.only-narrower")
def test_every_stream_is_looked_at() -> None:
    channels = StreamGrant(CHANNELS, (WORK,), frozenset({"id"}))

    assert excess(grant(stream(), channels), ASKED, (stream(),)) == "stream 'channels'"
    assert excess(grant(stream(), channels), ASKED, (stream(), channels)) is None
    wider = replace(channels, fields=frozenset({"id", "topic", "name"}))
    assert excess(grant(stream(), wider), ASKED, (stream(), channels)) == "field 'name' of stream 'channels'"


@pytest.mark.parametrize(
    ("decided", "asked", "beyond"),
    [
        ({"connections": (WORK,)}, {}, None),
        ({"connections": (FAMILY, WORK)}, {}, None),
        ({"connections": (OTHER,)}, {}, "other connections"),
        ({"connections": (WORK, FAMILY, OTHER)}, {}, "other connections"),
        ({"connections": (WORK, OTHER)}, {}, "other connections"),
        ({"fields": frozenset({"id"})}, {}, None),
        ({"fields": frozenset({"id", "text", "author"})}, {}, "field 'author'"),
        ({"fields": frozenset({"author"})}, {}, "field 'author'"),
        ({"resources": None}, {"resources": None}, None),
        ({"resources": frozenset({"m1"})}, {"resources": None}, None),
        ({"resources": frozenset({"m1"})}, {"resources": frozenset({"m1"})}, None),
        ({"resources": frozenset({"m1"})}, {"resources": frozenset({"m1", "m2"})}, None),
        ({"resources": frozenset[str]()}, {"resources": frozenset({"m1"})}, None),
        ({"resources": None}, {"resources": frozenset({"m1"})}, "more records"),
        ({"resources": frozenset({"m1", "m2"})}, {"resources": frozenset({"m1"})}, "more records"),
        ({"resources": frozenset({"m3"})}, {"resources": frozenset({"m1"})}, "more records"),
    ],
)
@requirement("as.consent.only-narrower")
def test_a_stream_may_be_narrowed_in_every_direction_and_widened_in_none(
    decided: dict[str, object], asked: dict[str, object], beyond: str | None
) -> None:
    found = excess(grant(stream(**decided)), ASKED, (stream(**asked),))

    assert found == (f"{beyond} of stream 'messages'" if beyond else None)


@pytest.mark.parametrize(
    ("decided", "asked", "is_within"),
    [
        (None, None, True),
        (time(FIRST, THIRD), None, True),
        (None, time(FIRST, None), False),
        (time(FIRST, THIRD), time(FIRST, THIRD), True),
        (time(SECOND, SECOND), time(FIRST, THIRD), True),
        (time(FIRST, None), time(FIRST, None), True),
        (time(SECOND, None), time(FIRST, None), True),
        (time(FIRST, None), time(SECOND, None), False),
        (time(None, FIRST), time(FIRST, None), False),
        (time(SECOND, SECOND), time(SECOND, None), True),
        (time(None, THIRD), time(None, THIRD), True),
        (time(None, SECOND), time(None, THIRD), True),
        (time(None, THIRD), time(None, SECOND), False),
        (time(FIRST, None), time(None, SECOND), False),
        (time(SECOND, None), time(FIRST, THIRD), False),
        (time(None, SECOND), time(FIRST, THIRD), False),
        (time(FIRST, SECOND), time(SECOND, THIRD), False),
        (time(SECOND, THIRD), time(FIRST, SECOND), False),
    ],
)
@requirement("as.consent.only-narrower")
def test_a_time_may_begin_later_and_end_earlier(
    decided: TimeConstraint | None, asked: TimeConstraint | None, is_within: bool
) -> None:
    found = excess(grant(stream(time=decided)), ASKED, (stream(time=asked),))

    assert found == (None if is_within else "more time of stream 'messages'")
