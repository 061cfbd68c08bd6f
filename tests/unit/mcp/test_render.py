"""A refusal says the same in both channels, and what to do next."""

from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import orjson
from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.errors import AmbiguousConnection, Candidate, InvalidFilter, NotFound, StreamNotGranted
from pdpp_server.evidence.text import byte_len
from pdpp_server.mcp.render import passed_on, record_url, refuse
from pdpp_server.model.activity import NOTHING
from pdpp_server.model.pending import Leaving
from pdpp_server.wire.far_tools import ToolAnswer
from tests.requirements import requirement
from tests.unit.mcp.hostile import LONG, TEXTS, is_visible


@requirement("mcp.refusals.remedy", "mcp.refusals.same-code")
def test_a_refusal_says_code_message_and_remedy_in_both_channels() -> None:
    result = refuse(StreamNotGranted("The grant does not include that stream.", param="streams"))

    remedy = "Call `schema` to see the granted streams; only the owner can widen a grant."
    assert result.is_error
    assert result.text == f"grant_stream_not_allowed: The grant does not include that stream. {remedy}"
    assert result.structured["error"]["code"] == "grant_stream_not_allowed"
    assert result.structured["error"]["next_step"] == remedy


@requirement("mcp.refusals.ambiguity")
def test_an_ambiguity_lists_at_most_twelve_candidates_then_total_and_omitted() -> None:
    candidates = tuple(Candidate(f"cin_{n:02}", "slack", f"grt_{n:02}", f"Slack {n}") for n in range(25))

    result = refuse(AmbiguousConnection("The id could be in 25 connections.", candidates=candidates))
    lines = result.text.split("\n")

    assert lines[0] == "ambiguous_connection: The id could be in 25 connections. Repeat with connection_id."
    assert lines[1] == 'cin_00 slack "Slack 0" grant grt_00'
    assert len(lines) == 1 + 12 + 2
    assert lines[13] == "25 in all, 13 not listed; schema {} lists every connection"
    assert lines[14] == 'next: the same call with {"connection_id":"cin_00"}'
    error = result.structured["error"]
    assert len(error["available_connections"]) == 12
    assert (error["available_connection_count"], error["available_connections_omitted"]) == (25, 13)
    assert error["retry_with"] == "connection_id"


def test_where_fewer_candidates_fit_the_count_of_the_others_is_right() -> None:
    candidates = tuple(Candidate(f"cin_{n:024}", "slack", f"grt_{n:024}", "é\u200b" * 40) for n in range(12))

    error = refuse(AmbiguousConnection("Which?", candidates=candidates)).structured["error"]

    assert 0 < len(error["available_connections"]) < 12
    assert error["available_connections_omitted"] == 12 - len(error["available_connections"])


@requirement("mcp.budget.refusal")
@given(
    LONG,
    TEXTS,
    st.lists(st.builds(Candidate, TEXTS.map(lambda t: t[:60] or "c"), TEXTS, st.none() | TEXTS, TEXTS), max_size=14),
)
def test_any_refusal_keeps_its_budget(message: str, remedy: str, candidates: list[Candidate]) -> None:
    candidates = [
        Candidate(c.connection_id, c.connector_key[:60], (c.grant_id or "")[:60], c.label) for c in candidates
    ]

    result = refuse(AmbiguousConnection(message, remedy=remedy, candidates=tuple(candidates)))

    assert byte_len(result.text) <= 2000
    assert len(orjson.dumps(result.structured)) <= 4000
    assert is_visible(result.text)


def test_a_long_message_is_cut_with_a_mark() -> None:
    result = refuse(NotFound("x" * 5000))

    assert result.text.endswith("x…")
    assert result.structured["error"]["message"].endswith("x…")


def test_a_refusal_without_remedy_ends_with_its_message() -> None:
    assert refuse(InvalidFilter("No.")).text == "invalid_filter: No."


def test_what_another_server_answered_is_passed_on_with_nothing_invisible_in_it() -> None:
    far = ToolAnswer("a\u202eb\n\tc", {"data": []}, is_error=True)
    told = passed_on(far).leave(lambda result: Leaving(result, NOTHING, 0))
    assert (told.text, told.structured, told.is_error) == ("a\\u202eb\n\tc", {"data": []}, True)


@given(TEXTS)
def test_the_page_of_a_record_is_named_as_addresses_are(handle: str) -> None:
    reader: Any = SimpleNamespace(public_url="https://me.example/")
    for each in (handle, "cin_1/mail:42", f"cin_1/mail:{handle}"):
        assert record_url(reader, each) == f"https://me.example/records/{quote(each, safe='/:')}"
    reader.public_url = None
    assert record_url(reader, handle) == ""
