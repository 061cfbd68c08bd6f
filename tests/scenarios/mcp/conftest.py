"""Every scenario of a tool runs twice: dispatched in this process, and over a real `pdpp mcp`."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.scenarios.mcp.agents import Agent, Connect, adapter, agent_on
from tests.worlds.world import World


@pytest.fixture(params=["in process", "over stdio"])
def connect(request: pytest.FixtureRequest, world: World) -> Iterator[Connect]:
    """A token becomes an agent that reads with it."""
    with ExitStack() as started:

        def over_stdio(token: str) -> Agent:
            return started.enter_context(adapter(world.home, PDPP_ACCESS_TOKEN=token))

        yield over_stdio if request.param == "over stdio" else lambda token: agent_on(world.reader_of(token))


@pytest.fixture
def agent(connect: Connect, world: World) -> Agent:
    """May read both streams of both chat accounts."""
    return connect(world.token)
