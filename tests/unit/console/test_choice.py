"""The owner's choice: boxes that are ticked, and the decision that they make."""

from dataclasses import replace
from datetime import UTC

import pytest

from pdpp_server.console.choice import Ticks, decision_of, first_ticks, named_place, place_of, ticks_of
from pdpp_server.errors import InvalidRequest
from pdpp_server.model.grants import StreamGrant, TimeConstraint
from pdpp_server.model.selections import Selection, StreamSelection, TimeRange
from tests.requirements import requirement
from tests.worlds.chat import DECLARATION

MESSAGES, CHANNELS = (DECLARATION.streams[name] for name in ("messages", "channels"))
ASKED = Selection(
    "chat", None, "p", None, "continuous", (StreamSelection("messages"), StreamSelection("channels", "optional"))
)
MOST = (
    (
        StreamGrant(
            MESSAGES, ("cin_a", "cin_b"), frozenset(MESSAGES.fields), TimeConstraint("sent_at", "2026-01-01", None)
        ),
        StreamGrant(CHANNELS, ("cin_a",), frozenset(CHANNELS.fields)),
    ),
)


def ticks(**changed: object) -> Ticks:
    ticked = replace(first_ticks((ASKED,), MOST, "2027-01-01"), connections=frozenset({(0, "cin_a")}))
    return replace(ticked, **changed)  # pyright: ignore[reportArgumentType]


@requirement("as.consent.only-narrower")
def test_at_first_only_what_is_needed_is_ticked_and_no_account_among_several() -> None:
    ticked = first_ticks((ASKED,), MOST, "2027-01-01")
    assert (ticked.streams, ticked.connections) == (frozenset({(0, 0)}), frozenset({(0, "cin_a")}))
    several = first_ticks((ASKED,), (MOST[0][:1],), "")
    assert several.connections == frozenset()


def test_what_is_ticked_is_what_is_decided_and_its_end_is_a_time() -> None:
    decision = decision_of(ticks(), (ASKED,), MOST, UTC)
    assert decision.expires_at == "2027-01-01T00:00:00.000Z"
    (stream,) = decision.selections[0].streams
    assert (stream.name, stream.connections, stream.fields) == ("messages", ("cin_a",), None)
    assert decision_of(ticks(end=""), (ASKED,), MOST, UTC).expires_at is None


def test_the_boxes_of_a_decision_are_those_that_made_it() -> None:
    ticked = ticks(since="2026-03-01", once=True)
    decided = ticks_of(decision_of(ticked, (ASKED,), MOST, UTC), MOST, (ASKED,), UTC)
    assert replace(decided, fields=frozenset()) == replace(ticked, fields=frozenset())


def test_fewer_fields_are_named_and_no_field_leaves_the_key() -> None:
    for kept, fields in ((("text",), ("text",)), ((), MESSAGES.primary_key)):
        ticked = ticks(fields=frozenset((0, 0, name) for name in kept))
        assert decision_of(ticked, (ASKED,), MOST, UTC).selections[0].streams[0].fields == fields


@pytest.mark.parametrize(
    ("since", "before", "time"),
    [
        ("", "", TimeRange("2026-01-01", None)),
        ("2025-01-01", "", TimeRange("2026-01-01", None)),  # no more than was asked for
        ("2026-03-01", "2026-04-01", TimeRange("2026-03-01", "2026-04-01")),
    ],
)
def test_of_the_times_that_were_asked_and_chosen_the_narrower_counts(since: str, before: str, time: TimeRange) -> None:
    assert decision_of(ticks(since=since, before=before), (ASKED,), MOST, UTC).selections[0].streams[0].time == time


@pytest.mark.parametrize(
    ("ticked", "says"),
    [
        (ticks(streams=frozenset()), "Choose at least one stream."),
        (ticks(connections=frozenset()), "Choose from which of your connections it may read."),
        (ticks(since="soon"), "A date is written as 2026-01-31."),
    ],
)
def test_what_is_left_to_choose_is_said(ticked: Ticks, says: str) -> None:
    with pytest.raises(InvalidRequest, match=says):
        decision_of(ticked, (ASKED,), MOST, UTC)


def test_a_place_is_numbers_and_a_name_may_hold_anything() -> None:
    assert named_place("1.2:a:b.c") == ((1, 2), "a:b.c")
    for bad in ("", "1.", "a", "1.-2", "\u0661", "999999999"):
        with pytest.raises(InvalidRequest, match="cannot be read"):
            place_of(bad)
