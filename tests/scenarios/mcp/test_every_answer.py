"""What is promised of every answer, asked of every tool: in both channels, and of refusals too."""

import json
import re
from typing import Any

import pytest

from pdpp_server.mcp.generate import listing
from pdpp_server.mcp.surface import INSTRUCTIONS, TOOLS
from tests.requirements import requirement
from tests.scenarios.mcp.agents import Agent, Connect, handle_of
from tests.worlds import chat
from tests.worlds.world import World

Asked = tuple[str, dict[str, Any]]


def answered(world: World) -> list[Asked]:
    id = handle_of(world, "m2")
    return [
        ("schema", {}),
        ("schema", {"stream": "messages", "connection_id": world.work, "detail": "full"}),
        ("query_records", {"stream": "messages", "connection_id": world.work}),
        ("query_records", {"stream": "messages", "connection_id": world.work, "changes_since": "beginning"}),
        ("aggregate", {"stream": "messages", "metric": "count", "connection_id": world.work}),
        ("search", {"query": "lease lake"}),
        ("fetch", {"id": id}),
        ("read_record_field", {"id": id, "field_path": "text", "q": "walrus"}),
    ]


def refused(world: World) -> list[Asked]:
    """Each by another fault, and most of them beside text of a record that the caller may see."""
    id = handle_of(world, "m2")
    return [
        ("schema", {"stream": "messages", "detail": "full"}),
        ("query_records", {"stream": "messages", "filter": {"text": {"gte": "a"}}}),
        ("query_records", {"stream": "messages", "filter": {"mood": "good"}}),
        ("query_records", {"stream": "messages", "sort": "author"}),
        ("query_records", {"stream": "messages", "cursor": "no-cursor"}),
        ("query_records", {"stream": "messages", "fields": ["mood"]}),
        ("query_records", {"stream": "messages", "expand": ["channel"]}),
        ("aggregate", {"stream": "messages", "metric": "sum", "field": "text"}),
        ("search", {"query": "lease", "mode": "telepathy"}),
        ("search", {"query": "lease", "streams": ["diary"]}),
        ("fetch", {"id": "messages:m1"}),
        ("fetch", {"id": f"{world.work}/messages:nothing"}),
        ("fetch", {"id": "no id at all"}),
        ("read_record_field", {"id": id, "field_path": "likes"}),
        ("read_record_field", {"id": id, "field_path": "mood"}),
        ("read_record_field", {"id": id, "field_path": "text", "q": "zebra"}),
        ("read_record_field", {"id": id, "field_path": "text", "offset_chars": 1, "q": "walrus"}),
    ]


def words_of_records() -> set[str]:
    """Words of five letters and more that stand in values of records, and in no name of ours."""
    values = [
        value for records in chat.RECORDS.values() for record in records for value in (record.data or {}).values()
    ]
    found = {word for value in values if isinstance(value, str) for word in re.findall(r"[^\W\d_]{5,}", value)}
    surface = json.dumps([listing(tool) for tool in TOOLS]) + INSTRUCTIONS
    return {word for word in found if word.lower() not in surface.lower()}


@requirement("ev.escape.messages-without-content")
def test_no_refusal_holds_a_word_of_a_record(agent: Agent, world: World) -> None:
    words = words_of_records()
    assert {"walrus", "Holidays", "Lunch"} <= words

    for tool, arguments in refused(world):
        answer = agent.call(tool, **arguments)
        said = f"{answer.text} {json.dumps(answer.structured, ensure_ascii=False)}"
        asked = json.dumps(arguments)
        assert answer.is_error, (tool, arguments)
        assert {word for word in words if word in said and word not in asked} == set(), (tool, arguments)


@requirement("mcp.channels.no-resource-uris")
def test_no_answer_and_no_refusal_names_an_address_of_a_resource(agent: Agent, world: World) -> None:
    for tool, arguments in (*answered(world), *refused(world)):
        answer = agent.call(tool, **arguments)
        assert "pdpp://" not in answer.text, (tool, arguments)
        assert "pdpp://" not in json.dumps(answer.structured), (tool, arguments)


@requirement("mcp.resources.not-needed")
def test_where_a_resource_cannot_be_read_the_printed_calls_lead_to_the_same_evidence(
    connect: Connect, world: World
) -> None:
    agent = connect(world.grant(world.both("messages")))
    fault = agent.fault("resources/read", uri="pdpp://field-window/garbage")
    assert fault["code"] < 0

    found = agent.call("search", query="walrus")
    tool, arguments = found.next_call
    window = agent.call(tool, **arguments)

    assert tool == "read_record_field"
    assert "walrus clause" in window.text


@requirement("ev.url.absolute")
@pytest.mark.parametrize("connect", ["in process", "over stdio"], indirect=True)
def test_without_an_address_of_a_server_the_url_is_empty_everywhere(agent: Agent, world: World) -> None:
    found = agent.call("search", query="lease")

    assert {result["url"] for result in found.structured["results"]} == {""}
    assert agent.call("fetch", id=handle_of(world, "m1")).structured["url"] == ""


@requirement("ev.url.absolute")
@pytest.mark.parametrize("connect", ["hosted"], indirect=True)
def test_where_an_address_was_asked_every_url_opens_the_record_in_the_owners_pages(agent: Agent, world: World) -> None:
    id = handle_of(world, "m1")
    urls = {result["id"]: result["url"] for result in agent.call("search", query="lease").structured["results"]}

    assert urls[id].endswith(f"/records/{id}")
    assert all(re.match(r"https?://[^/]+/records/", url) for url in urls.values())
    assert agent.call("fetch", id=id).structured["url"] == urls[id]
