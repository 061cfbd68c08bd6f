"""Every scenario of a package runs in four ways: in this process, at /mcp, by `pdpp mcp` here and elsewhere."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pdpp_server.app import create_app
from pdpp_server.settings import Settings
from tests.scenarios.mcp.agents import Connect, adapter, agent_on, hosted_agent, hosting
from tests.scenarios.packages.package import Package, packed
from tests.worlds.served import served
from tests.worlds.world import World


@pytest.fixture
def package(world: World) -> Package:
    return packed(world)


@pytest.fixture(params=["in process", "hosted", "over stdio", "over the network"])
def connect(request: pytest.FixtureRequest, world: World, tmp_path: Path) -> Iterator[Connect]:
    """A token becomes an agent that reads with it."""
    with ExitStack() as started:
        match request.param:
            case "hosted":
                client = started.enter_context(hosting(world))
                yield lambda token: hosted_agent(client, token)
            case "over stdio":
                yield lambda token: started.enter_context(adapter(world.home, PDPP_ACCESS_TOKEN=token))
            case "over the network":
                app = create_app(Settings(home=world.home), world.services)
                there = {"PDPP_PROVIDER_URL": started.enter_context(served(app))}
                empty = tmp_path / "elsewhere"
                yield lambda token: started.enter_context(adapter(empty, PDPP_ACCESS_TOKEN=token, **there))
            case _:
                yield lambda token: agent_on(world.reader_of(token))
