"""The MCP Inspector, from its command line: each call is a client of its own."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.requirements import requirement
from tests.scenarios.clients.node import ended

Inspect = Callable[..., dict[str, Any]]


@pytest.fixture(params=["legacy", "modern"])
def inspect(request: pytest.FixtureRequest, server: dict[str, Any], tmp_path: Path) -> Inspect:
    """One method of the protocol, with options of the Inspector, becomes what it prints."""

    def ask(method: str, *options: str) -> dict[str, Any]:
        asked = ["--method", method, *options, "--protocol-era", request.param, "--format", "json"]
        done = ended("mcp-inspector", "--cli", *_reached(server), *asked, home=tmp_path)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["result"]

    return ask


def _reached(server: dict[str, Any]) -> list[str]:
    match server:
        case {"stdio": {"command": command, "args": args, "env": variables}}:
            settings = [part for name, value in variables.items() for part in ("-e", f"{name}={value}")]
            return [command, *args, *settings]
        case _:
            return [server["url"], "--header", f"Authorization: Bearer {server['token']}", "--stored-auth-only"]


def called(inspect: Inspect, tool: str, **arguments: Any) -> Any:
    result = inspect("tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))
    return result["structuredContent"]


@requirement("mcp.clients.inspector")
def test_it_finds_and_opens_a_letter(inspect: Inspect) -> None:
    (hit,) = called(inspect, "search", query="Second")["results"]

    assert called(inspect, "fetch", id=hit["id"])["text"] == "Second"


@requirement("mcp.clients.inspector")
def test_it_lists_all_tools_and_no_model_provider_would_refuse_their_schemas(inspect: Inspect) -> None:
    tools = inspect("tools/list", "--strict")["tools"]

    assert [tool["name"] for tool in tools] == [
        "schema", "query_records", "aggregate", "search", "fetch", "read_record_field",
    ]  # fmt: skip


@requirement("mcp.clients.inspector")
def test_it_is_offered_no_resource_that_it_did_not_ask_for(inspect: Inspect) -> None:
    assert inspect("resources/list")["resources"] == []
