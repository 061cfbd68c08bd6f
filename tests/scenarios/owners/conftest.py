"""Two owners with the same chats, in a database of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pdpp_server.owner import sign_in
from tests.scenarios.owners.town import Door, Town
from tests.worlds.postgres import Cluster


@pytest.fixture(autouse=True)
def light_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a password costs is looked at elsewhere."""
    monkeypatch.setattr(sign_in, "MEMORY_KIB", 64)
    monkeypatch.setattr(sign_in, "ITERATIONS", 1)


@pytest.fixture
def town(postgres: Cluster, tmp_path: Path) -> Iterator[Town]:
    town = Town(postgres.fresh(), tmp_path / "home")
    yield town
    town.close()


@pytest.fixture
def door(town: Town) -> Iterator[Door]:
    with town.serving() as door:
        for resident in town.residents.values():
            assert door.take_invitation(resident.invitation.secret, resident.password).status_code == 303
        yield door
