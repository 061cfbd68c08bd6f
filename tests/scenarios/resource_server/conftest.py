"""The server of the chats, for every test here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenarios.resource_server.chats import Api, Chats
from tests.scenarios.resource_server.shop import Counter, Shop
from tests.scenarios.resource_server.writes import OwnersTools

ON_BOTH_ENGINES = {"test_fetch", "test_ingest", "test_query_records", "test_search"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """What an engine must keep is proven on each: but not what a test says of the files or tables of one."""
    if "engine" in metafunc.fixturenames:
        name = metafunc.definition.path.stem
        is_of_one = any(mark.name == "sqlite" for mark in metafunc.definition.iter_markers())
        engines = ["sqlite"] if is_of_one or name not in ON_BOTH_ENGINES else ["sqlite", "postgres"]
        metafunc.parametrize("engine", engines)


@pytest.fixture
def chats(tmp_path: Path, engine: str, request: pytest.FixtureRequest) -> Iterator[Chats]:
    home = tmp_path / "home"
    database = request.getfixturevalue("postgres").open(home) if engine == "postgres" else None
    chats = Chats(home, database)
    yield chats
    chats.services.close()


@pytest.fixture
def api(chats: Chats) -> Iterator[Api]:
    with chats.serving() as api:
        yield api


@pytest.fixture
def tools(api: Api) -> OwnersTools:
    return OwnersTools(api)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    shop = Shop(tmp_path / "shop")
    yield shop
    shop.services.close()


@pytest.fixture
def counter(shop: Shop) -> Iterator[Counter]:
    with shop.serving() as counter:
        yield counter
