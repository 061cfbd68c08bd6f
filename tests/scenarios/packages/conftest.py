"""Every scenario of a package runs in three ways: in this process, at /mcp, over a real `pdpp mcp`."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.scenarios.mcp.agents import Connect, adapter, agent_on, hosted_agent, hosting
from tests.scenarios.packages.package import Package, packed
from tests.worlds.world import World


@pytest.fixture
def package(world: World) -> Package:
    return packed(world)


@pytest.fixture(params=["in process", "hosted", "over stdio"])
def connect(request: pytest.FixtureRequest, world: World) -> Iterator[Connect]:
    """A token becomes an agent that reads with it."""
    with ExitStack() as started:
        match request.param:
            case "hosted":
                client = started.enter_context(hosting(world))
                yield lambda token: hosted_agent(client, token)
            case "over stdio":
                yield lambda token: started.enter_context(adapter(world.home, PDPP_ACCESS_TOKEN=token))
            case _:
                yield lambda token: agent_on(world.reader_of(token))
