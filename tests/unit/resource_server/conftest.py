"""The same small server that the scenarios use."""

import pytest

from tests.scenarios.resource_server.conftest import api, chats, database

__all__ = ["api", "chats", "database"]


@pytest.fixture
def engine() -> str:
    """What is tested here stands above any engine."""
    return "sqlite"
