"""The client of the official SDK, on its own way from a bare address to a tool's answer."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import httpx2
import orjson
import pytest
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from pdpp_server.app import create_app
from pdpp_server.model.authorization import ClientDocument, Decision
from pdpp_server.owner.consent import ConsentDesk
from pdpp_server.settings import Settings
from pdpp_server.wire.grants import decode_selection
from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import query
from tests.worlds import chat
from tests.worlds.served import served
from tests.worlds.world import World

REDIRECT = "http://localhost:33418/callback"
DOCUMENT = "https://agent.example/client.json"


@dataclass
class Kept:
    """What the client keeps for itself."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@dataclass
class Browser:
    """Follows the client to the consent page, where the owner picks the messages of both accounts."""

    world: World
    back: dict[str, str] = field(default_factory=dict[str, str])

    async def go(self, address: str) -> None:
        async with httpx2.AsyncClient() as http:
            location = (await http.get(address)).headers["location"]
        desk, ask_id = ConsentDesk(self.world.services), query(location)["ask"]
        decision = Decision(decode_selection([chat.detail(self.world.both("messages"))]), None)
        self.back = query(desk.approve(ask_id, decision, desk.review(ask_id, decision).revision) or "")

    async def come_back(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(code=self.back["code"], state=self.back["state"], iss=self.back["iss"])


def fetch(url: str) -> ClientDocument:
    return ClientDocument(orjson.dumps({"client_id": url, "client_name": "Agent", "redirect_uris": [REDIRECT]}), None)


@asynccontextmanager
async def signed_in(world: World, kept: Kept, document: str | None) -> AsyncGenerator[Client]:
    browser = Browser(world)
    with served(create_app(Settings(home=world.home), world.services, fetch)) as address:
        auth = OAuthClientProvider(
            f"{address}/mcp",
            OAuthClientMetadata(client_name="Agent", redirect_uris=[REDIRECT]),  # pyright: ignore[reportArgumentType]
            kept,
            browser.go,
            browser.come_back,
            document,
        )
        async with (
            httpx2.AsyncClient(auth=auth) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
        ):
            yield client


@requirement("as.clients.metadata-document", "as.clients.registration", "as.tokens.audience")
@pytest.mark.anyio
@pytest.mark.parametrize("document", [None, DOCUMENT])
async def test_a_bare_address_is_all_it_needs(world: World, document: str | None) -> None:
    kept = Kept()
    with anyio.fail_after(30):
        async with signed_in(world, kept, document) as client:
            answer = await client.call_tool("search", {"query": "lease"})

    assert not answer.is_error
    assert kept.client is not None and kept.tokens is not None
    assert (kept.client.client_id == DOCUMENT) is (document is not None)
    assert kept.tokens.refresh_token is not None
