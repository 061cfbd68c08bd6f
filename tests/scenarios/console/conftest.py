"""The owner's pages of a world: at the door, and signed in."""

from collections.abc import Iterator

import pytest

from tests.scenarios.authorization_server.flow import Flow
from tests.scenarios.console import visitor as visitors
from tests.scenarios.console.visitor import Visitor, visiting
from tests.worlds.world import World


@pytest.fixture(autouse=True)
def cheap_passwords() -> Iterator[None]:
    with visitors.cheap_passwords():
        yield


@pytest.fixture
def flow(owner: Visitor, world: World) -> Flow:
    """A client that asks the same server."""
    return Flow(world, owner.http)


@pytest.fixture
def visitor(world: World) -> Iterator[Visitor]:
    with visiting(world) as somebody:
        yield somebody


@pytest.fixture
def owner(visitor: Visitor) -> Visitor:
    assert visitor.sign_in().status_code == 303
    return visitor
