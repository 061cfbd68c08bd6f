"""Every scenario of a tool runs in four ways: in this process, at /mcp, over `pdpp mcp`, on another server."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.scenarios.mcp.agents import Agent, Connect, adapter, agent_on, hosted_agent, hosting
from tests.worlds.ledger import Ledger
from tests.worlds.served import over_network
from tests.worlds.world import World


@pytest.fixture(params=["in process", "hosted", "over stdio", "over the network"])
def connect(request: pytest.FixtureRequest, world: World) -> Iterator[Connect]:
    """A token becomes an agent that reads with it."""
    with ExitStack() as started:

        def over_stdio(token: str) -> Agent:
            return started.enter_context(adapter(world.home, PDPP_ACCESS_TOKEN=token))

        match request.param:
            case "hosted":
                client = started.enter_context(hosting(world))
                yield lambda token: hosted_agent(client, token)
            case "over stdio":
                yield over_stdio
            case "over the network":
                elsewhere = started.enter_context(over_network(world))
                yield lambda token: agent_on(elsewhere.reader_of(token))
            case _:
                yield lambda token: agent_on(world.reader_of(token))


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger(tmp_path / "ledger")
    yield opened
    opened.close()


@pytest.fixture
def agent(connect: Connect, world: World) -> Agent:
    """May read both streams of both chat accounts."""
    return connect(world.token)
