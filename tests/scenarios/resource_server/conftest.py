"""The server of the chats, for every test here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pdpp_server.store.engine import Database
from tests.scenarios.resource_server.chats import Api, Chats
from tests.scenarios.resource_server.shop import Counter, Shop
from tests.scenarios.resource_server.writes import OwnersTools


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """What an engine must keep is proven on each: but not what a test says of the files or tables of one."""
    if "engine" in metafunc.fixturenames:
        is_of_one = any(mark.name == "sqlite" for mark in metafunc.definition.iter_markers())
        engines = ["sqlite"] if is_of_one else ["sqlite", "postgres"]
        metafunc.parametrize("engine", engines)


@pytest.fixture
def database(tmp_path: Path, engine: str, request: pytest.FixtureRequest) -> Database | None:
    """Where a home of the test is kept; None for a file of its own."""
    return request.getfixturevalue("postgres").open(tmp_path / "home") if engine == "postgres" else None


@pytest.fixture
def chats(tmp_path: Path, database: Database | None) -> Iterator[Chats]:
    chats = Chats(tmp_path / "home", database)
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
