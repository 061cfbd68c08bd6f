"""A client at a world's server."""

from collections.abc import Iterator

import pytest

from tests.scenarios.authorization_server.flow import Flow, flowing
from tests.worlds.world import World


@pytest.fixture
def flow(world: World) -> Iterator[Flow]:
    with flowing(world) as opened:
        yield opened
