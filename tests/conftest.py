"""The world of the tests: one owner, two chat accounts that share record ids, a clock that stands still.

`world` is a whole server in a folder of its own (see tests/worlds/world.py). What most tests need of it:

    world.reader.search(SearchQuery("lease"))       what an agent would get
    world.grant(world.both("messages", fields=[...]))   a token for less
    world.deliver(chat.WORK, [chat.message("m9", text="...")])   more records
"""

import os
import signal
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tests.durations import Durations
from tests.engine.homes import keep_homes_in, tell_processes
from tests.engine.share import reason_of, runs_on_both
from tests.worlds.postgres import PROGRAMS, Cluster, cluster
from tests.worlds.world import Clock, World, build, close, copied

# Whose tests take the longest: they come first, so that nobody waits for one of them in the end.
LONG = ("tests/two_worlds/", "tests/log_truth/", "tests/model/", "tests/crash/", "tests/budgets/")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--engine",
        choices=["sqlite", "postgres"],
        default="sqlite",
        help="What keeps the homes of the tests; what a test says of the files of SQLite is then left out.",
    )

    parser.addoption(
        "--postgres-bin",
        type=Path,
        help="The folder of another PostgreSQL's programs, such as /usr/lib/postgresql/15/bin; else those of a wheel.",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Durations())
    os.environ.setdefault(
        "OPENBLAS_NUM_THREADS", "1"
    )  # or numpy's threads wait for each other, busily, on small arrays
    if programs := config.getoption("--postgres-bin"):
        os.environ[PROGRAMS] = str(programs)
    # A shell in the background ignores interrupts, and so would every process that a test starts and then interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """By default everything runs on SQLite, and a fair share on both: what an engine must keep is proven on each."""
    asked = metafunc.config.getoption("--engine")
    if asked == "sqlite" and runs_on_both(metafunc.definition):
        metafunc.parametrize("engine", ["sqlite", "postgres"], indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--engine") == "postgres":
        config.hook.pytest_deselected(items=[item for item in items if reason_of(item)])
        items[:] = [item for item in items if not reason_of(item)]
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A server of its own for all tests of this process; each home is another owner in it."""
    with cluster() as started:
        yield started


def kept_in(started: Cluster) -> AbstractContextManager[None]:
    """Every home, in this process and in those that it starts, is an owner there."""
    return kept_at(started.url)


@contextmanager
def kept_at(url: str) -> Generator[None, None, None]:
    """The same in the database of that address."""
    with pytest.MonkeyPatch.context() as patch:
        keep_homes_in(url, patch.setattr)
        tell_processes(url, patch.setenv)
        yield


@pytest.fixture(scope="session", autouse=True)
def engine_of_all(request: pytest.FixtureRequest) -> Iterator[None]:
    """The one that was asked for, also for what several tests share."""
    if request.config.getoption("--engine") == "sqlite":
        yield
        return
    with kept_in(request.getfixturevalue("postgres")):
        yield


@pytest.fixture(autouse=True)
def engine(request: pytest.FixtureRequest, engine_of_all: None) -> Iterator[str]:
    """What keeps the homes of this test."""
    del engine_of_all
    asked = str(getattr(request, "param", request.config.getoption("--engine")))
    if asked == request.config.getoption("--engine"):
        yield asked
        return
    with kept_in(request.getfixturevalue("postgres")):
        yield asked


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty folder for a server."""
    return tmp_path / "home"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def first_world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """What each test gets a copy of: built once, and closed."""
    built = build(tmp_path_factory.mktemp("world") / "home", Clock())
    close(built.services)
    return built


@pytest.fixture
def world(first_world: World, engine: str, home: Path, clock: Clock) -> Iterator[World]:
    opened = copied(first_world, home, clock) if engine == "sqlite" else build(home, clock)
    yield opened
    close(opened.services)
