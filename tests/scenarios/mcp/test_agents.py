"""What holds for every tool: the log, the end of a grant, the owner's token, several agents at once."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from tests.engine.beneath import tables_of
from tests.requirements import requirement
from tests.scenarios.mcp.agents import PDPP_MCP, ROOT, SECONDS, Agent, adapter, environment, handle_of, reads_of
from tests.worlds.world import World

TOOLS = ["schema", "query_records", "search", "fetch", "read_record_field"]


@requirement("log.line.before-answer", "mcp.channels.request-id")
@pytest.mark.parametrize("tool", TOOLS)
def test_every_answer_has_its_line_in_the_log(tool: str, agent: Agent, world: World) -> None:
    answer = agent.call(tool, **reads_of(world)[tool])

    line, *kind_asked = world.owner.activity()
    assert [asked.operation for asked in kind_asked] in ([], ["schema"])  # another server is asked what the token is
    assert (line.operation, line.grant_ids) == (tool, (world.grant_id,))
    assert line.records == (() if tool == "schema" else (handle_of(world, "m2"),))
    assert answer.structured.get("request_id", line.request_id) == line.request_id


@requirement("mcp.credentials.revoked-live", "grants.lifecycle.revoked")
@pytest.mark.parametrize("tool", TOOLS)
def test_a_grant_that_was_revoked_between_two_calls_is_over(tool: str, agent: Agent, world: World) -> None:
    call = reads_of(world)[tool]
    assert agent.call(tool, **call).code is None
    disclosed = world.owner.activity()

    world.owner.revoke(world.grant_id)

    assert agent.call(tool, **call).code == "grant_revoked"
    assert world.owner.activity() == disclosed, "a refusal discloses nothing"


@requirement("mcp.adapter.changes-nothing")
def test_using_every_tool_leaves_the_database_as_it_was(agent: Agent, world: World) -> None:
    def everything() -> dict[str, list[Any]]:
        with world.services.database.reading() as reading:
            names = tables_of(reading)
            return {name: reading.rows(f'select * from "{name}"') for name in names}

    before = everything()
    for tool, call in reads_of(world).items():
        assert agent.call(tool, **call).code is None

    assert {"grants", "tokens", "connections", "declarations", "records"} <= before.keys()
    assert everything() == before


@requirement("mcp.credentials.kind-asked")
def test_an_owner_token_does_not_even_start_an_adapter(world: World) -> None:
    done = subprocess.run(
        PDPP_MCP,
        input=b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n',
        capture_output=True,
        cwd=ROOT,
        env=environment(world.home, PDPP_ACCESS_TOKEN=world.owner_token),
        timeout=SECONDS,
        check=False,
    )

    assert (done.returncode, done.stdout) == (77, b"")
    assert len(done.stderr.splitlines()) == 1
    assert world.owner_token.encode() not in done.stderr


@requirement("mcp.stdio.no-server-needed", "log.chain.one-segment-per-process")
def test_several_adapters_on_one_home_all_answer_and_all_write_their_log(world: World) -> None:
    narrow = world.grant({"name": "messages", "instance_ids": [world.family]})
    tokens = [world.token, world.token, narrow, narrow]

    def reads(agent: Agent) -> set[int]:
        return {len(agent.call("search", query="lake", limit=100).structured["results"]) for _ in range(10)}

    with ExitStack() as started, ThreadPoolExecutor(len(tokens)) as threads:
        agents = [started.enter_context(adapter(world.home, PDPP_ACCESS_TOKEN=token)) for token in tokens]
        assert list(threads.map(reads, agents)) == [{3}, {3}, {2}, {2}]

    assert len(world.owner.activity(limit=100)) == 40
    verdicts = world.owner.verify_activity()
    assert len(verdicts) == len(tokens)
    assert all(verdict.is_sound for verdict in verdicts)
