"""The server of the chats, for every test here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenarios.resource_server.chats import Api, Chats
from tests.scenarios.resource_server.shop import Counter, Shop
from tests.scenarios.resource_server.writes import OwnersTools


@pytest.fixture(scope="session")
def first_chats(tmp_path_factory: pytest.TempPathFactory) -> Chats:
    """What each test gets a copy of: made once, and closed."""
    made = Chats(tmp_path_factory.mktemp("chats") / "home")
    made.services.close()
    return made


@pytest.fixture
def chats(first_chats: Chats, engine: str, tmp_path: Path) -> Iterator[Chats]:
    chats = first_chats.copied(tmp_path / "home") if engine == "sqlite" else Chats(tmp_path / "home")
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
