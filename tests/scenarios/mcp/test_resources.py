"""Resources on the real store: what the tools show, under addresses; and names for those who type them."""

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import HEADER_MISMATCH, ResourceTemplateReference

from pdpp_server.app import create_app
from pdpp_server.mcp.resources import FIELD_WINDOW, RECORD, STREAM, TEMPLATES
from pdpp_server.settings import Settings
from tests.requirements import requirement
from tests.scenarios.mcp.agents import PDPP_MCP, ROOT, Agent, Connect, agent_on, environment, handle_of, hosting
from tests.scenarios.mcp.test_hosted import ENVELOPE, MODERN, PING, code_of, post
from tests.worlds import chat
from tests.worlds.served import served
from tests.worlds.world import World

SELECTED: dict[str, Any] = {"field_path": "text", "offset_chars": 10_700, "limit_chars": 300}


def packed(world: World, kind: str, key: str = "m2", **selectors: Any) -> str:
    parts = {"connection_id": world.work, "stream": "messages", "record_id": key}
    body = json.dumps({"v": 1, "kind": kind, **parts, **selectors}).encode()
    return f"pdpp://{kind}/{base64.urlsafe_b64encode(body).decode().rstrip('=')}"


def completed(agent: Agent, template: str, name: str, value: str = "", **known: str) -> list[str]:
    asked = {"ref": {"type": "ref/resource", "uri": template}, "argument": {"name": name, "value": value}}
    return agent.ask("completion/complete", **asked, context={"arguments": known})["completion"]["values"]


@requirement("mcp.resources.record", "mcp.resources.one-path")
def test_a_record_is_the_document_of_fetch(agent: Agent, world: World) -> None:
    world.deliver(chat.WORK, [chat.message("a/b c?d", text="A path of a key.")])
    id = f"{world.work}/messages:a%2Fb%20c?d"
    expanded = f"{world.work}/messages:{quote('a/b c?d', safe='')}"
    shown = agent.call("fetch", id=id).text

    for path in (id, expanded, quote(id, safe="")):
        assert agent.read(f"pdpp://record/{path}") == shown
    assert agent.read(packed(world, "record", "a/b c?d")) == shown


@requirement("mcp.resources.field-window", "mcp.resources.one-path")
def test_a_field_window_is_the_text_of_the_tool(agent: Agent, world: World) -> None:
    id = handle_of(world, "m2")
    query = "&".join(f"{name}={value}" for name, value in SELECTED.items())

    shown = agent.call("read_record_field", id=id, **SELECTED).text

    assert "walrus" in shown
    assert agent.read(f"pdpp://field-window/{id}?{query}") == shown
    assert agent.read(packed(world, "field-window", **SELECTED)) == shown
    around = agent.call("read_record_field", id=id, field_path="text", q="walrus clause", before_chars=5).text
    asked = "field_path=text&q=walrus%20clause&before_chars=5"
    assert agent.read(f"pdpp://field-window/{id}?{asked}") == around


@requirement("mcp.resources.stream", "mcp.resources.one-path")
def test_a_stream_is_the_text_of_schema(agent: Agent, world: World) -> None:
    assert agent.read("pdpp://stream/messages") == agent.call("schema", stream="messages").text
    one = agent.call("schema", stream="messages", connection_id=world.family).text
    assert agent.read(f"pdpp://stream/messages?connection_id={world.family}") == one


@requirement("mcp.resources.one-path", "log.line.before-answer")
def test_a_resource_that_is_read_has_the_line_of_its_tool(agent: Agent, world: World) -> None:
    agent.read(f"pdpp://record/{handle_of(world, 'm2')}")
    agent.read(f"pdpp://field-window/{handle_of(world, 'm2')}?field_path=text")

    window, record, *_ = world.owner.activity()
    assert [line.operation for line in (window, record)] == ["read_record_field", "fetch"]
    assert window.records == record.records == (handle_of(world, "m2"),)


@requirement("mcp.resources.refused")
def test_a_resource_beyond_the_grant_is_refused_in_the_words_of_the_tool(connect: Connect, world: World) -> None:
    agent = connect(world.grant({"name": "messages", "instance_ids": [world.work], "fields": ["id", "subject"]}))
    elsewhere, topic = handle_of(world, "m1", family=True), handle_of(world, "c1", stream="channels")
    hidden = {
        f"pdpp://record/{elsewhere}": agent.call("fetch", id=elsewhere),
        f"pdpp://record/{topic}": agent.call("fetch", id=topic),
        f"pdpp://field-window/{handle_of(world, 'm2')}?field_path=text": agent.call(
            "read_record_field", id=handle_of(world, "m2"), field_path="text"
        ),
    }

    for uri, refused in hidden.items():
        fault = agent.fault("resources/read", uri=uri)
        assert fault["message"] == refused.text
        assert fault["data"]["error"]["code"] == refused.code
        assert fault["code"] == (-32002 if "not_found" in str(refused.code) else -32602)
    assert agent.call("fetch", id=handle_of(world, "m2")).code is None, "the tools still read what is granted"


@requirement("mcp.resources.refused")
@pytest.mark.parametrize(
    ("uri", "code"),
    [
        ("pdpp://stream/nothing", -32002),
        ("pdpp://stream/messages?connection_id=nobody", -32002),
        ("pdpp://stream/messages?profile=full", -32602),
        ("pdpp://stream/messages?detail=full&detail=full", -32602),
        ("pdpp://stream/%ff", -32002),
        ("pdpp://stream/\ud83d", -32002),
        ("pdpp://record/", -32002),
        ("pdpp://record/garbage", -32002),
        ("pdpp://record//messages:m1", -32002),
        ("pdpp://record/cin/messages:..", -32002),
        ("pdpp://record/" + "x" * 20_000, -32002),
        ("pdpp://field-window/garbage", -32002),
        ("pdpp://field-window/cin/messages:m1", -32602),
        ("pdpp://field-window/cin/messages:m1?field_path=text&offset_chars=-1", -32602),
        ("pdpp://blob/1", -32002),
        ("file:///etc/passwd", -32002),
        ("", -32002),
    ],
)
def test_what_names_no_resource_is_told_so_before_any_record_is_read(
    uri: str, code: int, agent: Agent, world: World
) -> None:
    fault = agent.fault("resources/read", uri=uri)

    assert fault["code"] == code
    assert len(json.dumps(fault, ensure_ascii=False)) < 4000
    assert {line.operation for line in world.owner.activity()} <= {"schema"}


@requirement("mcp.resources.advertised")
def test_templates_are_listed_and_no_resource_is(agent: Agent) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}

    assert agent.ask("initialize", **hello)["capabilities"] == {"tools": {}, "resources": {}, "completions": {}}
    assert agent.ask("resources/list") == {"resources": []}
    listed = agent.ask("resources/templates/list")["resourceTemplates"]
    assert [each["uriTemplate"] for each in listed] == [template.uri for template in TEMPLATES]


@requirement("mcp.completion.granted-names")
def test_names_are_completed_by_what_the_grant_shows(connect: Connect, world: World) -> None:
    agent = connect(world.token)
    narrow = connect(world.grant({"name": "messages", "instance_ids": [world.work], "fields": ["id", "subject"]}))

    assert completed(agent, STREAM.uri, "name") == ["channels", "messages"]
    assert completed(agent, RECORD.uri, "stream", "ME", connection_id=world.work) == ["messages"]
    assert {*completed(agent, RECORD.uri, "connection_id", "chat-")} == {world.work, world.family}
    assert completed(agent, RECORD.uri, "connection_id", world.work[:-1]) == [world.work]
    assert completed(agent, RECORD.uri, "record_id") == []
    assert completed(narrow, STREAM.uri, "name") == ["messages"]
    assert completed(narrow, STREAM.uri, "name", connection_id=world.family) == []
    assert completed(narrow, RECORD.uri, "connection_id", stream="messages") == [world.work]
    assert completed(narrow, FIELD_WINDOW.uri, "field_path", stream="messages") == ["id", "subject"]


@requirement("mcp.completion.granted-names", "mcp.credentials.revoked-live")
def test_nothing_is_completed_once_the_grant_is_over(world: World) -> None:
    agent = agent_on(world.reader)
    assert completed(agent, STREAM.uri, "name")

    world.owner.revoke(world.grant_id)

    asked = {"ref": {"type": "ref/resource", "uri": STREAM.uri}, "argument": {"name": "name", "value": ""}}
    assert agent.fault("completion/complete", **asked)["data"]["error"]["code"] == "grant_revoked"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def use(client: Client, world: World, missing: int) -> None:
    """Templates, a record, a name, and what is not there; as the official client does it."""
    templates = (await client.list_resource_templates()).resource_templates
    read = await client.read_resource(f"pdpp://record/{handle_of(world, 'm1')}")
    reference = ResourceTemplateReference(type="ref/resource", uri=templates[0].uri_template)
    names = await client.complete(reference, {"name": "name", "value": "mess"})
    with pytest.raises(MCPError) as refused:
        await client.read_resource(f"pdpp://record/{handle_of(world, 'none')}")

    assert "The lease draft is ready." in read.contents[0].text  # pyright: ignore[reportAttributeAccessIssue]
    assert names.completion.values == ["messages"]
    assert refused.value.code == missing


ERAS = [("legacy", -32002), (MODERN, -32602)]


@requirement("mcp.resources.refused", "mcp.protocol.both-eras")
@pytest.mark.parametrize(("mode", "missing"), ERAS)
async def test_the_official_client_reads_resources_over_stdio(world: World, mode: str, missing: int) -> None:
    variables = environment(world.home, PDPP_ACCESS_TOKEN=world.token)
    started = StdioServerParameters(command=PDPP_MCP[0], args=PDPP_MCP[1:], env=variables, cwd=Path(ROOT))

    async with Client(stdio_client(started), mode=mode) as client:
        await use(client, world, missing)


@requirement("mcp.resources.refused", "mcp.protocol.both-eras")
@pytest.mark.parametrize(("mode", "missing"), ERAS)
async def test_the_official_client_reads_resources_at_mcp(world: World, mode: str, missing: int) -> None:
    bearer = {"Authorization": f"Bearer {world.token}"}
    with served(create_app(Settings(home=world.home), world.services)) as address:
        async with (
            httpx2.AsyncClient(headers=bearer) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode) as client,
        ):
            await use(client, world, missing)


@requirement("mcp.hosted.versions", "mcp.hosted.observed")
def test_in_the_stateless_era_the_name_header_is_the_address(world: World) -> None:
    uri = f"pdpp://record/{handle_of(world, 'm1')}"
    message = {**PING, "method": "resources/read", "params": {"uri": uri, "_meta": ENVELOPE}}
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "resources/read"}
    with hosting(world, metrics_remote=True) as client:
        agreed = post(client, world.token, message, **headers, **{"Mcp-Name": uri})
        other = post(client, world.token, message, **headers, **{"Mcp-Name": "fetch"})
        gone = f"pdpp://record/{handle_of(world, 'none')}"
        message["params"] = {"uri": gone, "_meta": ENVELOPE}
        missing = post(client, world.token, message, **headers, **{"Mcp-Name": gone})
        counted = client.get("/metrics").text

    assert (agreed.status_code, agreed.json()["result"]["ttlMs"]) == (200, 0)
    assert code_of(other) == (400, HEADER_MISMATCH)
    assert code_of(missing) == (400, -32602)
    for code in ("ok", "not_found"):
        assert f'pdpp_requests_total{{operation="fetch",code="{code}"}} 1' in counted
