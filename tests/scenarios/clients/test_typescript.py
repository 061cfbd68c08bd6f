"""The clients of the TypeScript SDKs, which most agents are built on, in both protocol eras."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from pdpp_server.errors import DisclosureLogUnavailable
from tests.requirements import requirement
from tests.scenarios.clients.door import Door
from tests.scenarios.clients.node import Client, Fault, client
from tests.scenarios.mcp.agents import Result
from tests.worlds import post
from tests.worlds.world import World

SIX = ["schema", "query_records", "aggregate", "search", "fetch", "read_record_field"]
HANDSHAKE, MODERN = "2025-11-25", "2026-07-28"
OLD, NEW, NEWEST = ["sdk.mjs"], ["client.mjs", "legacy"], ["client.mjs", "auto"]
NAMES = {"1.x": OLD, "2.x": NEW, "2.x, modern": NEWEST}


@pytest.fixture(params=list(NAMES.values()), ids=list(NAMES))
def other(request: pytest.FixtureRequest, server: dict[str, Any]) -> Iterator[Client]:
    """A client that has listed the tools, so that it checks every answer against the output schema."""
    with client(request.param, server) as connected:
        assert [tool["name"] for tool in connected.do("listTools")["tools"]] == SIX
        yield connected


def call(other: Client, tool: str, /, **arguments: Any) -> Result:
    result = other.do("callTool", {"name": tool, "arguments": arguments})
    (block,) = result["content"]
    return Result(block["text"], result["structuredContent"], result.get("isError", False))


@requirement("mcp.clients.typescript", "mcp.protocol.both-eras")
def test_a_journey_through_all_tools_is_made_of_what_the_answers_say(other: Client, world: World) -> None:
    long = post.letter("l5", text=f"{'The way there. ' * 200}Lighthouse", written_at="2026-04-01T09:00:00Z")
    assert world.owner.writer(post.DECLARATION, post.OFFICE).deliver([long]).rejected == ()
    index = call(other, "schema")
    (stream,) = index.structured["data"]["connectors"][0]["streams"]
    total = call(other, "aggregate", stream=stream["name"], metric="sum", field="pages")
    tool, arguments = total.next_call
    page = call(other, tool, **arguments)
    letter = page.structured["data"]["data"][0]
    document = call(other, "fetch", id=letter["handle"])
    found = call(other, "search", query=document.structured["text"].split()[-1])
    step = found.structured["next"][0]
    window = call(other, step["tool"], **step["arguments"])

    assert (total.structured["data"]["value"], tool, step["tool"]) == (31, "query_records", "read_record_field")
    assert letter["data"]["text"] in document.structured["text"]
    assert letter["data"]["text"].endswith(window.structured["window"]["text"])
    assert window.text.endswith("Lighthouse\n[end]")
    assert not any(answer.is_error for answer in (index, total, page, document, found, window))


@requirement("mcp.hosted.trouble")
@pytest.mark.parametrize("script", list(NAMES.values()), ids=list(NAMES))
def test_a_client_is_told_of_trouble_and_goes_on_when_it_is_over(
    script: list[str], hosted: dict[str, Any], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: object) -> None:
        raise DisclosureLogUnavailable("The disk is full.")

    with client(script, hosted) as other:
        with monkeypatch.context() as patch, pytest.raises(Fault, match="disclosure_log_unavailable: The disk is full"):
            patch.setattr(world.services.database.log, "append", full)
            call(other, "schema")

        assert not call(other, "schema").is_error


@requirement("mcp.clients.faults", "mcp.protocol.unknown-tool", "mcp.refusals.same-code")
def test_a_refusal_is_an_answer_and_a_tool_that_does_not_exist_is_a_fault(other: Client) -> None:
    refused = call(other, "fetch", id="nonsense")
    misspelt = call(other, "search", query="lease", fuzzy=True)
    with pytest.raises(Fault, match="There is no such tool") as fault:
        call(other, "list_streams")

    assert (refused.code, misspelt.code, fault.value.code) == ("invalid_record_id", "invalid_request", -32602)
    assert call(other, "schema").code is None, "and the connection goes on"


@requirement("mcp.clients.resources")
def test_a_letter_is_read_by_its_address_and_a_template_is_completed(other: Client) -> None:
    templates = other.do("listResourceTemplates")["resourceTemplates"]
    (stream,) = (each["uriTemplate"] for each in templates if each["name"] == "stream")
    (hit,) = call(other, "search", query="Second").structured["results"]

    (content,) = other.do("readResource", {"uri": f"pdpp://record/{hit['id']}"})["contents"]
    asked = {"ref": {"type": "ref/resource", "uri": stream}, "argument": {"name": "name", "value": "let"}}

    assert json.loads(content["text"])["text"] == "Second"
    assert other.do("complete", asked)["completion"]["values"] == ["letters"]
    with pytest.raises(Fault, match="not_found"):
        other.do("readResource", {"uri": f"pdpp://record/{hit['id']}0"})


@requirement("mcp.clients.typescript", "mcp.protocol.both-eras")
@pytest.mark.parametrize(("script", "version"), [(NEW, HANDSHAKE), (NEWEST, MODERN)])
def test_the_newer_client_speaks_the_era_that_it_asks_for(
    script: list[str], version: str, server: dict[str, Any]
) -> None:
    with client(script, server) as other:
        assert other.do("getNegotiatedProtocolVersion") == version
        assert other.do("getServerVersion")["name"] == "pdpp"
        assert other.do("getInstructions").startswith("Read-only")


@requirement("mcp.clients.no-stream", "mcp.hosted.methods")
@pytest.mark.parametrize("script", [OLD, NEW], ids=["1.x", "2.x"])
def test_a_client_that_is_given_no_stream_of_events_goes_on_without(
    script: list[str], hosted: dict[str, Any], door: Door
) -> None:
    with client(script, hosted) as other:
        assert other.do("ping") == {}
        assert call(other, "search", query="lease").code is None

    assert ("GET", 405) in door.passed
    assert {status for method, status in door.passed if method == "POST"} == {200, 202}
