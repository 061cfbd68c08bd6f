"""`pdpp schema|query|aggregate|search|fetch|read`: an agent's words in the owner's terminal."""

import json

import pytest

from tests.requirements import requirement
from tests.scenarios.cli.command import Command


@pytest.fixture
def granted(notes: Command) -> Command:
    notes.grant("--save")
    return notes


def agent_sees(command: Command, tool: str, arguments: dict[str, object]) -> dict[str, object]:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    return json.loads(command("mcp", stdin=json.dumps(call) + "\n").out)["result"]


@requirement("cli.read.agents-words")
def test_the_terminal_shows_exactly_what_an_agent_reads(granted: Command) -> None:
    id = granted("search", "walrus", "--json").json["results"][0]["id"]
    asked: list[tuple[list[str], str, dict[str, object]]] = [
        (["schema"], "schema", {}),
        (["search", "night", "train"], "search", {"query": "night train"}),
        (["schema", "notes", "--full"], "schema", {"stream": "notes", "detail": "full"}),
        (
            [
                "query",
                "notes",
                "--filter",
                "written_at>=2026-01-03",
                "--filter",
                "written_at < 2027-01-01",
                "--limit",
                "2",
            ],
            "query_records",
            {"stream": "notes", "filter": {"written_at": {"gte": "2026-01-03", "lt": "2027-01-01"}}, "limit": 2},
        ),
        (
            ["query", "notes", "--fields", "title", "--count"],
            "query_records",
            {"stream": "notes", "fields": ["title"], "count": "exact"},
        ),
        (
            ["query", "notes", "--around", id, "--limit", "3"],
            "query_records",
            {"stream": "notes", "around": id, "limit": 3},
        ),
        (
            ["aggregate", "notes", "--filter", "title=Trip"],
            "aggregate",
            {"stream": "notes", "metric": "count", "filter": {"title": "Trip"}},
        ),
        (["fetch", id, "--fields", "title"], "fetch", {"id": id, "fields": ["title"]}),
        (["read", id, "body", "--q", "clause"], "read_record_field", {"id": id, "field_path": "body", "q": "clause"}),
    ]
    for words, tool, arguments in asked:
        seen = agent_sees(granted, tool, arguments)
        assert "isError" not in seen
        assert granted(*words).out.rstrip("\n") == seen["content"][0]["text"]  # pyright: ignore[reportIndexIssue]


@requirement("cli.read.agents-words")
def test_json_is_the_structured_content(granted: Command) -> None:
    id = granted("search", "walrus", "--json").json["results"][0]["id"]

    assert granted("fetch", id, "--json").json == agent_sees(granted, "fetch", {"id": id})["structuredContent"]


@requirement("cli.read.refusals")
def test_a_refusal_goes_to_stderr_with_its_request_id(granted: Command) -> None:
    id = granted("search", "walrus", "--json").json["results"][0]["id"]

    refused = granted("fetch", id, "--fields", "secret")

    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("field_not_granted: ")
    assert "request id: req_" in refused.err


@requirement("cli.read.refusals", "mcp.tools.limit-refused")
def test_a_limit_is_refused_in_the_words_of_the_tool(granted: Command) -> None:
    refused = granted("search", "walrus", "--limit", "101")

    assert refused.code == 1
    assert "limit must be at most 100" in refused.err


@requirement("cli.read.refusals")
def test_a_filter_that_compares_nothing_is_a_mistake_of_the_command(granted: Command) -> None:
    refused = granted("query", "notes", "--filter", "title")

    assert (refused.code, refused.out) == (64, "")
    assert "FIELD=VALUE" in refused.err


@requirement("cli.read.one-grant")
def test_of_several_grants_one_must_be_chosen(granted: Command) -> None:
    first = granted("grants", "list", "--json").json["grants"][0]["grant_id"]
    second = granted.grant(client="other")["grant_id"]

    refused = granted("schema")

    assert refused.code == 64
    assert first in refused.err
    assert second in refused.err
    assert "--owner" in refused.err
    assert granted("schema", "--grant", second).code == 0
    assert granted("schema", "--grant", "grt_nowhere").code == 1
