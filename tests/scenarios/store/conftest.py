"""Every scenario here runs twice: read from the store in this process, and over the network."""

from collections.abc import Iterator

import pytest

from tests.worlds.served import over_network
from tests.worlds.world import World


@pytest.fixture(params=["here", "over the network"])
def world(request: pytest.FixtureRequest, world: World) -> Iterator[World]:
    if request.param == "here":
        yield world
    else:
        with over_network(world) as read_from_outside:
            yield read_from_outside
