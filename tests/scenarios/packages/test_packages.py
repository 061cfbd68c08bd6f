"""A package is one holder of several grants: what fans in, what asks for a source, and what ends with a child."""

from itertools import groupby
from typing import Any

import pytest
from httpx2 import AsyncClient
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from pdpp_server.app import create_app
from pdpp_server.evidence.handles import mint
from pdpp_server.model.queries import SchemaQuery
from pdpp_server.model.records import RecordId
from pdpp_server.settings import Settings
from tests.requirements import requirement
from tests.scenarios.mcp.agents import PDPP_MCP, ROOT, Connect, Result, environment, hosting
from tests.scenarios.packages.package import CROWD, Package, crowded
from tests.worlds.post import Post
from tests.worlds.served import served
from tests.worlds.world import World

SOURCE_REQUIRED: list[tuple[str, dict[str, Any]]] = [
    ("query_records", {"stream": "messages"}),
    ("aggregate", {"stream": "messages", "metric": "count"}),
    ("fetch", {"id": "messages:m1"}),
    ("read_record_field", {"id": "messages:m1", "field_path": "text"}),
]


def sources(result: Result) -> list[str]:
    return [hit["connection_id"] for hit in result.structured["results"]]


@requirement("mcp.packages.search-merged", "mcp.search.source-mix")
def test_a_search_is_one_ranking_with_one_limit_and_one_cursor(
    connect: Connect, world: World, package: Package
) -> None:
    agent = connect(package.token)
    whole = agent.call("search", query="lease", limit=10)
    first = agent.call("search", query="lease", limit=2)
    pages, cursor = sources(first), first.structured["data"]["next_cursor"]
    while cursor:
        page = agent.call("search", query="lease", limit=2, cursor=cursor)
        pages, cursor = pages + sources(page), page.structured["data"].get("next_cursor")

    found = sources(whole)
    assert len(list(groupby(found))) > 2  # by rank, and not one source after the other
    assert (len(sources(first)), pages) == (2, found)
    assert f"sources: {world.work} " in whole.text
    assert set(sources(agent.call("search", query="lease lake"))) == {world.work, world.family, package.notes}
    for hit, result in zip(whole.structured["data"]["data"], whole.structured["results"], strict=True):
        assert (hit["connector_key"], hit["display_name"]) in {("chat", "Work chat"), ("notes", "Notes")}
        assert result["id"] == mint(RecordId(result["connection_id"], hit["stream"], hit["record_key"]))


@requirement("rs.schema.bearer-grant")
def test_the_bearer_is_that_of_the_child_that_is_meant(connect: Connect, world: World, package: Package) -> None:
    agent = connect(package.token)

    def grant_of(**asked: str) -> str | None:
        return agent.call("schema", **asked).structured["data"]["bearer"].get("grant_id")

    assert grant_of(stream="messages", connection_id=package.notes) == package.notes_grant
    assert grant_of(stream="messages", connection_id=world.work) == package.chats_grant
    assert grant_of(stream="messages") is None, "both children have it"
    assert grant_of() is None


@requirement("mcp.packages.streams-routed")
def test_a_child_without_the_stream_is_not_searched(connect: Connect, world: World, package: Package) -> None:
    agent = connect(package.token)

    both = agent.call("search", query="lease", streams=["messages", "channels"])
    one = agent.call("search", query="lease", streams=["channels"])

    assert package.notes in sources(both)
    assert [(hit["connector_key"], hit["stream"]) for hit in one.structured["data"]["data"]] == [("chat", "channels")]
    assert agent.call("search", query="lease", streams=["nothing"]).code == "grant_stream_not_allowed"
    logged = [line for line in world.owner.activity() if line.operation == "search"]
    assert all(package.notes not in line.connections for line in logged if line.streams == ("channels",))


@requirement("mcp.packages.connection-routed", "mcp.search.connection-scope")
def test_a_connection_is_searched_alone_and_the_limit_is_for_it(connect: Connect, package: Package) -> None:
    agent = connect(package.token)

    found = agent.call("search", query="lease", connection_id=package.notes, limit=1)

    assert sources(found) == [package.notes]
    assert agent.call("fetch", id=found.structured["results"][0]["id"]).code is None
    assert agent.call("query_records", stream="messages", connection_id=package.notes).code is None


@requirement("mcp.packages.ambiguous")
@pytest.mark.parametrize(("tool", "arguments"), SOURCE_REQUIRED)
def test_a_read_that_needs_a_source_names_those_there_are(
    connect: Connect, world: World, package: Package, tool: str, arguments: dict[str, Any]
) -> None:
    refused = connect(package.token).call(tool, **arguments)

    assert refused.code == "ambiguous_connection"
    offered = refused.structured["error"]["available_connections"]
    assert [(each["connection_id"], each["connector_key"], each["grant_id"]) for each in offered] == [
        (world.work, "chat", package.chats_grant),
        (world.family, "chat", package.chats_grant),
        (package.notes, "notes", package.notes_grant),
    ]
    assert world.owner.activity() == []  # nothing was read to know that
    again = connect(package.token).call(tool, **arguments, connection_id=world.work)
    assert again.code in (None, "invalid_request")  # the chats declare no count


@requirement("mcp.packages.ambiguous")
def test_of_many_sources_twelve_are_named_and_the_rest_counted(connect: Connect, world: World) -> None:
    refused = connect(crowded(world)).call("query_records", stream="messages")

    assert refused.code == "ambiguous_connection"
    error = refused.structured["error"]
    assert len(error["available_connections"]) == 12
    assert error["available_connections_omitted"] == CROWD + 1 - 12
    assert f"{CROWD + 1} in all, {CROWD + 1 - 12} not listed; schema {{}}" in refused.text


@requirement("mcp.packages.one-child", "mcp.packages.unusable-child", "as.packages.revocation")
def test_a_revoked_child_is_gone_from_the_very_next_call_and_the_last_one_is_a_grant(
    connect: Connect, world: World, package: Package
) -> None:
    agent = connect(package.token)
    assert package.notes in sources(agent.call("search", query="lease"))

    world.owner.revoke(package.chats_grant)

    assert set(sources(agent.call("search", query="lease"))) == {package.notes}
    assert world.work not in agent.call("schema").text
    assert agent.call("query_records", stream="messages").structured["data"]["data"][0]["id"] == "n1"
    assert world.reader_of(package.token).schema(SchemaQuery()).value.grant_ids == (package.notes_grant,)
    assert agent.call("fetch", id="messages:n1").code is None
    refused = agent.call("query_records", stream="messages", connection_id=world.work)
    assert refused.code == "connection_not_found"
    assert "ask the owner to approve this one again" in refused.text

    world.owner.revoke(package.notes_grant)

    assert agent.call("search", query="lease").code == "package_revoked"


@requirement("mcp.packages.partial", "rs.warnings.source-skipped")
def test_a_source_that_the_owner_removed_is_marked_as_missing(connect: Connect, world: World, package: Package) -> None:
    agent = connect(package.token)
    assert "partial" not in agent.call("schema").structured["data"]

    world.owner.remove_source(package.notes)

    index, found = agent.call("schema"), agent.call("search", query="lease lake")
    missing = [{"source": "notes", "connection_id": package.notes, "grant_id": package.notes_grant}]
    assert (index.structured["data"]["partial"], index.structured["data"]["missing_sources"]) == (True, missing)
    assert f"partial: removed by the owner, so nothing of it is here: {package.notes} notes" in index.text
    assert set(sources(found)) == {world.work, world.family}
    assert found.structured["data"]["meta"]["partial"] is True
    (warning,) = found.structured["data"]["meta"]["warnings"]
    assert (warning["code"], warning["detail"]["sources"]) == ("source_skipped_not_applicable", missing)
    assert package.notes in found.text


@requirement("mcp.packages.partial", "rs.warnings.source-skipped")
def test_lists_and_numbers_are_partial_too_when_a_connection_is_gone(connect: Connect, world: World) -> None:
    post = Post(world)
    agent = connect(post.grant({"name": "letters"}))
    world.owner.remove_source(post.home)

    for tool, asked in (
        ("query_records", {}),
        ("query_records", {"changes_since": "beginning"}),
        ("query_records", {"filter": {"pages": 12345}}),
        ("aggregate", {"metric": "count"}),
        ("aggregate", {"metric": "count", "group_by_time": "written_at", "granularity": "month"}),
    ):
        told = agent.call(tool, stream="letters", **asked)
        meta = told.structured["data"]["meta"]
        assert meta["partial"] is True
        assert meta["warnings"][0]["detail"]["sources"][0]["connection_id"] == post.home
        assert f"nothing of it is here: {post.home} of post" in told.text
    whole = agent.call("query_records", stream="letters", connection_id=post.office)
    assert "partial" not in whole.structured["data"]["meta"]


@requirement("mcp.hosted.package-headers")
def test_headers_tell_of_the_package(world: World, package: Package) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    told: list[list[str | None]] = []
    with hosting(world) as client:
        for token in (package.token, package.token, world.token):
            response = client.post("/mcp", json=ping, headers={"Authorization": f"Bearer {token}"})
            names = ("x-pdpp-grant-package-id", "x-pdpp-grant-package-member-count")
            told.append([response.headers.get(name) for name in names])
            world.owner.revoke(package.notes_grant)
        rest = client.get("/v1/schema", headers={"Authorization": f"Bearer {package.token}"})
        world.owner.revoke(package.chats_grant)
        ended = client.post("/mcp", json=ping, headers={"Authorization": f"Bearer {package.token}"})

    assert told == [[package.package_id, "2"], [package.package_id, "1"], [None, None]]
    assert (rest.status_code, rest.json()["error"]["code"]) == (401, "authentication_error")
    assert (ended.status_code, ended.json()["error"]["code"]) == (403, "package_revoked")


@requirement("mcp.packages.search-merged", "mcp.protocol.both-eras")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_official_client_reads_a_package_over_http_in_both_eras(
    world: World, package: Package, mode: str
) -> None:
    with served(create_app(Settings(home=world.home), world.services)) as address:
        async with (
            AsyncClient(headers={"Authorization": f"Bearer {package.token}"}) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode) as client,
        ):
            await require_fan_in(client, world, package)


@requirement("mcp.packages.search-merged", "mcp.protocol.both-eras")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_official_client_reads_a_package_over_stdio_in_both_eras(
    world: World, package: Package, mode: str
) -> None:
    variables = environment(world.home, PDPP_ACCESS_TOKEN=package.token)
    started = StdioServerParameters(command=PDPP_MCP[0], args=PDPP_MCP[1:], env=variables, cwd=ROOT)
    async with Client(stdio_client(started), mode=mode) as client:
        await require_fan_in(client, world, package)


async def require_fan_in(client: Client, world: World, package: Package) -> None:
    found = await client.call_tool("search", {"query": "lease"})
    index = await client.call_tool("schema", {})
    refused = await client.call_tool("query_records", {"stream": "messages"})

    assert {hit["connection_id"] for hit in found.structured_content["results"]} == {world.work, package.notes}
    assert index.structured_content["data"]["connector_count"] == 2
    assert refused.is_error
    assert refused.structured_content["error"]["code"] == "ambiguous_connection"
