"""A world with letters, and the two ways in which a client of another maker reaches it."""

from collections.abc import Iterator
from typing import Any

import pytest

from pdpp_server.app import create_app
from pdpp_server.settings import Settings
from tests.engine.homes import told_processes
from tests.scenarios.clients.door import Door
from tests.scenarios.mcp.agents import PDPP_MCP
from tests.worlds import post
from tests.worlds.served import served
from tests.worlds.world import World


@pytest.fixture
def token(world: World) -> str:
    """May read the letters of both accounts."""
    return post.Post(world).grant({"name": "letters"})


@pytest.fixture
def door(world: World) -> Door:
    return Door(create_app(Settings(home=world.home), world.services))


@pytest.fixture
def hosted(door: Door, token: str) -> Iterator[dict[str, Any]]:
    """/mcp on a loopback socket, as tests/node/bridge.mjs takes it."""
    with served(door) as address:
        yield {"url": f"{address}/mcp", "token": token}


@pytest.fixture
def local(world: World, token: str) -> dict[str, Any]:
    """A `pdpp mcp` that the client starts itself."""
    command, *args = PDPP_MCP
    variables = {"PDPP_HOME": str(world.home), "PDPP_ACCESS_TOKEN": token, **told_processes()}
    return {"stdio": {"command": command, "args": args, "env": variables}}


@pytest.fixture(params=["local", "hosted"])
def server(request: pytest.FixtureRequest) -> dict[str, Any]:
    return request.getfixturevalue(request.param)
