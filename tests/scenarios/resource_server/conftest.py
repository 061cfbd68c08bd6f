"""The server of the chats, for every test here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenarios.resource_server.chats import Api, Chats


@pytest.fixture
def chats(tmp_path: Path) -> Iterator[Chats]:
    chats = Chats(tmp_path / "home")
    yield chats
    chats.services.close()


@pytest.fixture
def api(chats: Chats) -> Iterator[Api]:
    with chats.serving() as api:
        yield api
