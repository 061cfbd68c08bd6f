"""The same small server that the scenarios use."""

from tests.scenarios.resource_server.conftest import api, chats, first_chats

__all__ = ["api", "chats", "first_chats"]
