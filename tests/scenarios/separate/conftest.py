"""Two servers of one owner: one issues tokens, the other has a copy of the data and asks it about them."""

from collections.abc import Iterator

import pytest

from tests.scenarios.separate.servers import Servers, opened
from tests.worlds.world import World


@pytest.fixture
def servers(world: World) -> Iterator[Servers]:
    with opened(world) as both:
        yield both
