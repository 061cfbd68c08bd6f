"""What the public reference does not say is not said for it."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from pdpp_server.errors import Unauthenticated
from pdpp_server.wire.errors import decode
from tests.requirements import requirement
from tests.scenarios.mcp.agents import Agent, agent_on
from tests.worlds.foreign import TOKEN, Foreign
from tests.worlds.post import Post
from tests.worlds.reference import WORK, Reference
from tests.worlds.served import network, over_network, served
from tests.worlds.world import World


@contextmanager
def agent_of(reference: Reference) -> Generator[Agent]:
    with served(reference.app()) as address, network(address) as reader_of:
        yield agent_on(reader_of(TOKEN))


@pytest.fixture
def agent() -> Generator[Agent]:
    with agent_of(Reference()) as agent:
        yield agent


# Lists --------------------------------------------------------------------------------------------------------------


@requirement("port.unknown.has-more")
def test_a_list_that_has_more_without_a_cursor_is_never_all_of_it(agent: Agent) -> None:
    found = agent.call("query_records", stream="messages", limit=4)
    one = agent.call("query_records", stream="messages", limit=4, connection_id=WORK)

    head = found.text.partition("\n")[0]
    assert head.startswith("messages: 8 records and more")
    assert "in all" not in found.text
    assert "more: no cursor leads to them; repeat with connection_id" in found.text
    assert found.structured["data"]["has_more"] is True
    assert found.structured["next"][-1] == {"tool": "schema", "arguments": {"stream": "messages"}}
    assert one.text.startswith("messages: 4 records and more")
    assert one.text.endswith("\nmore: the same call with cursor = next_cursor")
    assert one.mark("next_cursor")


@requirement("port.unknown.has-more")
def test_a_list_that_does_not_say_whether_it_has_more_is_not_called_whole() -> None:
    with agent_of(Reference(says_more=False)) as agent:
        found = agent.call("query_records", stream="messages", limit=4)

    assert found.text.startswith("messages: 8 records, whether all of them is not said")
    assert "has_more" not in found.structured["data"]


@requirement("port.unknown.has-more")
def test_a_search_that_has_more_without_a_cursor_says_so(agent: Agent) -> None:
    found = agent.call("search", query="overdraft", limit=2)

    assert found.text.startswith("search: 4 of 28 matches and more that no cursor leads to")
    assert found.structured["data"]["has_more"] is True


# Numbers ------------------------------------------------------------------------------------------------------------


@requirement("port.unknown.groups")
def test_groups_whose_sum_is_less_than_the_count_are_never_all(agent: Agent) -> None:
    found = agent.call("aggregate", stream="messages", metric="count", group_by="channel", limit=2)

    head = found.text.partition("\n")[0]
    assert head.startswith(
        "count of messages by channel: 2 groups of more, which of them is not said, largest first, 28 "
    )
    assert head.endswith("; other_count=8 records in groups not listed")
    assert found.structured["data"]["other_count"] == 8
    assert found.call_after("more")


@requirement("port.unknown.groups")
def test_periods_are_called_the_latest_only_by_a_server_that_says_so(agent: Agent) -> None:
    asked = {"stream": "messages", "metric": "count", "group_by_time": "sent_at", "granularity": "month"}
    some, every = (agent.call("aggregate", **asked, limit=limit) for limit in (3, 12))

    assert ": 3 groups of more, which of them is not said, latest first, 28 records" in some.text
    assert "2024-03-01 2 · 2024-02-01 4 · 2024-01-01 4" in some.text
    assert ": all 12 groups, latest first, 28 records" in every.text


# The schema ---------------------------------------------------------------------------------------------------------


@requirement("port.unknown.schema")
def test_a_schema_says_no_number_type_or_ability_that_the_server_did_not_say(agent: Agent) -> None:
    index = agent.call("schema")
    stream = agent.call("schema", stream="messages")

    assert "connector slack: messages[1-2] ? records" in index.text
    assert "0 records" not in index.text + stream.text
    assert "id ? | text ? | sent_at ? sort | channel ?" in stream.text
    assert "; ? not said by that server" in stream.text
    assert "search modes: not said" in stream.text
    said = "\n".join(line for line in stream.text.split("\n") if not line.startswith("flags: "))
    assert not [word for word in ("mixed", " eq", "mutable", "count: exact", "views") if word in said]
    for document in (index.structured["data"], stream.structured["data"]):
        assert "capabilities" not in document
        (row,) = document["connectors"][0]["streams"]
        assert not {"record_count", "semantics", "views"} & set(row)
    (row,) = stream.structured["data"]["connectors"][0]["streams"]
    assert set(row["field_capabilities"].values()) == {"declared"}


@requirement("port.unknown.schema")
def test_our_own_server_says_over_the_network_what_its_views_show(world: World) -> None:
    token = Post(world).grant({"name": "letters"})
    here = agent_on(world.reader_of(token))
    with over_network(world) as elsewhere:
        there = agent_on(elsewhere.reader_of(token))
        texts = [agent.call("schema", stream="letters").text for agent in (here, there)]

    assert texts[0] == texts[1]
    assert "views: short(id,written_at,secret)" in texts[1]


# Evidence -----------------------------------------------------------------------------------------------------------


@requirement("port.unknown.places")
def test_a_match_without_offsets_is_a_match_whose_place_is_not_proven(agent: Agent) -> None:
    found = agent.call("search", query="overdraft")
    tool, arguments = found.next_call
    opened = agent.call(tool, **arguments)

    assert 'text "… the <mark>overdraft</mark> fee …" (matched, place not proven)' in found.text
    assert "no match of its own" not in found.text
    assert "text@" not in found.text
    first = found.structured["data"]["data"][0]
    assert first["matched_fields"] == ["text"]
    assert first["evidence"] == [{"field_path": "text", "text": "… the overdraft fee …", "place": "not proven"}]
    assert arguments == {"id": f"{WORK}/messages:m0", "field_path": "text", "q": "overdraft"}
    assert opened.text.endswith("overdraft fee is due again.\n[end]")


@requirement("port.unknown.places")
def test_a_field_that_matched_is_named_even_without_words() -> None:
    bare = {"stream": "tasks", "record_key": "t-1", "connection_id": WORK, "matched_fields": ["what"]}
    with served(Foreign(hits=[bare]).app()) as address, network(address) as reader_of:
        found = agent_on(reader_of(TOKEN)).call("search", query="gate")

    assert " what (matched, place not proven)\n" in found.text
    assert found.call_after("next") == ("fetch", {"id": f"{WORK}/tasks:t-1"})


@requirement("port.unknown.places")
def test_the_words_of_a_match_window_are_shown() -> None:
    window = {"field_path": "what", "text": "Paint the gate green", "complete": True}
    bare = {"stream": "tasks", "record_key": "t-1", "connection_id": WORK, "matched_fields": ["what"]}
    with served(Foreign(hits=[{**bare, "match_windows": [window]}]).app()) as address, network(address) as reader_of:
        found = agent_on(reader_of(TOKEN)).call("search", query="gate")

    assert 'what "Paint the gate green" (matched, place not proven)' in found.text


@requirement("port.unknown.places")
def test_an_index_that_lags_is_told_of(agent: Agent) -> None:
    with agent_of(Reference(behind=2)) as lagging:
        found = lagging.call("search", query="overdraft")

    assert 'warning index_maintenance: "Some results may be missing."' in found.text
    assert found.structured["data"]["meta"]["warnings"][0]["code"] == "index_maintenance"
    assert "index_maintenance" not in agent.call("search", query="overdraft").text


@requirement("port.unknown.places")
def test_what_no_server_said_is_not_an_empty_text(agent: Agent) -> None:
    page = agent.call("query_records", stream="messages", limit=1)

    assert all("connector_key" not in record for record in page.structured["data"]["data"])


# Refusals -----------------------------------------------------------------------------------------------------------


@requirement("port.network.foreign-refusals")
@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"code": "authentication_error", "context": "stream_not_allowed"}, "grant_stream_not_allowed"),
        ({"code": "instance_mismatch"}, "connection_not_found"),
    ],
)
def test_a_401_that_no_new_token_would_mend_does_not_send_for_one(said: dict[str, str], code: str) -> None:
    refusal = decode(401, {"error": {"type": "authentication_error", "message": "Not in this grant.", **said}})

    assert (refusal.code, refusal.message) == (code, "Not in this grant.")
    assert "Connect again" not in refusal.remedy
    assert "schema" in refusal.remedy


@requirement("port.network.foreign-refusals")
def test_a_refusal_in_the_words_of_oauth_is_quoted() -> None:
    refusal = decode(401, {"error": "invalid_token", "error_description": "It ended at noon."})

    assert isinstance(refusal, Unauthenticated)
    assert refusal.message.startswith("It ended at noon.")
