"""The world of the tests: one owner, two chat accounts that share record ids, a clock that stands still.

`world` is a whole server in a folder of its own (see tests/worlds/world.py). What most tests need of it:

    world.reader.search(SearchQuery("lease"))       what an agent would get
    world.grant(world.both("messages", fields=[...]))   a token for less
    world.deliver(chat.WORK, [chat.message("m9", text="...")])   more records
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.durations import Durations
from tests.worlds.postgres import Cluster, cluster
from tests.worlds.world import Clock, World, build, close


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Durations())


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A server of its own for all tests of this process; each home is another owner in it."""
    with cluster() as started:
        yield started


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty folder for a server."""
    return tmp_path / "home"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def world(home: Path, clock: Clock) -> Iterator[World]:
    built = build(home, clock)
    yield built
    close(built.services)
