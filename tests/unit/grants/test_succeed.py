"""A grant that takes the place of another, and never a wider one."""

from dataclasses import replace

import pytest

from pdpp_server.errors import InvalidAuthorizationDetails
from pdpp_server.grants.issue import everything
from pdpp_server.grants.succeed import selection_of, successor
from pdpp_server.model.grants import Grant, StreamGrant, TimeConstraint
from pdpp_server.model.selections import StreamSelection, TimeRange
from tests.requirements import requirement
from tests.worlds.chat import DECLARATION

MESSAGES = DECLARATION.streams["messages"]
FIRST, SECOND, THIRD = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"
HELD = StreamGrant(
    MESSAGES,
    ("cin_a", "cin_b"),
    frozenset({"id", "text", "sent_at"}),
    TimeConstraint("sent_at", FIRST, THIRD),
    frozenset({"m1", "m2"}),
)
GRANT = replace(
    everything(DECLARATION, ("cin_a", "cin_b")), access_mode="continuous", purpose_code="p", streams=(HELD,)
)


def narrowed(*streams: StreamSelection) -> Grant:
    selection = replace(selection_of(GRANT), streams=streams)
    return successor(GRANT, selection, DECLARATION, grant_id="grt_2", issued_at=SECOND, expires_at=THIRD)


@requirement("as.consent.only-narrower")
def test_what_is_not_narrowed_stays_as_it_was() -> None:
    made = narrowed(*selection_of(GRANT).streams)
    assert made.streams == (HELD,)
    assert (made.grant_id, made.issued_at, made.expires_at) == ("grt_2", SECOND, THIRD)
    assert (made.client_id, made.subject) == (GRANT.client_id, GRANT.subject)


@requirement("as.consent.only-narrower")
def test_fields_connections_and_times_can_be_fewer() -> None:
    (stream,) = narrowed(
        StreamSelection("messages", connections=("cin_b",), fields=("text",), time=TimeRange(SECOND, THIRD))
    ).streams
    assert stream.connections == ("cin_b",)
    assert "text" in stream.fields and "sent_at" not in stream.fields
    assert stream.time is not None and (stream.time.since, stream.time.until) == (SECOND, THIRD)
    assert stream.resources == frozenset({"m1", "m2"})


@requirement("as.consent.only-narrower")
@pytest.mark.parametrize(
    "stream",
    [
        StreamSelection("channels"),
        StreamSelection("messages", connections=("cin_c",)),
        StreamSelection("messages", fields=("text", "author")),
        StreamSelection("messages", time=TimeRange(None, THIRD)),
        StreamSelection("messages", resources=("m3",)),
    ],
)
def test_nothing_can_be_more_than_the_grant_gives(stream: StreamSelection) -> None:
    with pytest.raises(InvalidAuthorizationDetails):
        narrowed(stream)


def test_a_grant_of_nothing_is_none() -> None:
    with pytest.raises(InvalidAuthorizationDetails, match="end it instead"):
        narrowed()
