"""Each kind of client: it connects, reads, refreshes, and is sent away by the owner with one click."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from httpx2 import Response

from pdpp_server.app import create_app
from pdpp_server.model.authorization import ClientDocument
from pdpp_server.settings import Settings
from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import DEVICE, REDIRECT, STATE, Flow, error, query
from tests.scenarios.console.visitor import Visitor, at_home
from tests.worlds import chat
from tests.worlds.world import World

DOCUMENT = "https://agent.example/client.json"
MESSAGES = json.dumps([chat.detail({"name": "messages"})])
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "lake"}}}


def fetch(url: str) -> ClientDocument:
    about = {"client_id": url, "client_name": "Agent X", "redirect_uris": [REDIRECT]}
    return ClientDocument(json.dumps(about).encode(), None)


class Agent(Flow):
    """A client over a socket; what it is given it uses at the MCP endpoint."""

    def __init__(self, world: World, owner: Visitor) -> None:
        super().__init__(world, owner.http)
        self.owner, self.mcp = owner, f"{owner.origin}/mcp"

    def let_in(self, asked: Response, box: str = "pick") -> dict[str, str]:
        """The owner ticks a box, and it may read what is the family's; what the client is told."""
        chosen = {box: f"0:{self.world.family}"}
        return query(self.owner.allow(asked.headers["location"], **chosen).headers["location"])

    def authorization(self, **asked: Any) -> dict[str, Any]:
        return self.parameters(**{"resource": self.mcp, "authorization_details": None, **asked})

    def search(self, token: str) -> Response:
        return self.http.post("/mcp", json=CALL, headers={"Authorization": f"Bearer {token}"})


@pytest.fixture
def agent(world: World) -> Iterator[Agent]:
    with at_home(world, create_app(Settings(home=world.home), world.services, fetch)) as owner:
        yield Agent(world, owner)


def stays_until_it_is_sent_away(agent: Agent, given: dict[str, Any]) -> None:
    (hit, *_) = agent.search(given["access_token"]).json()["result"]["structuredContent"]["results"]
    renewed = agent.refresh(given["refresh_token"]).json()
    assert agent.search(renewed["access_token"]).status_code == 200

    assert agent.owner.end("Agent X").status_code == 200

    refused = agent.search(renewed["access_token"])
    assert hit["connection_id"] == agent.world.family
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "grant_revoked")
    assert refused.headers["www-authenticate"] == (
        'Bearer error="insufficient_scope", error_description="The grant of the owner has ended.", '
        f'resource_metadata="{agent.owner.origin}/.well-known/oauth-protected-resource/mcp", scope="pdpp:read"'
    )
    again = agent.refresh(renewed["refresh_token"])
    assert (error(again), again.json()["fresh_authorization_required"]) == ((400, "invalid_grant"), True)


@requirement("as.clients.registration", "as.metadata.ended", "as.revocation.immediate")
def test_a_client_that_registers(agent: Agent) -> None:
    back = agent.let_in(agent.http.get("/oauth/authorize", params=agent.authorization()))

    assert (back["state"], back["iss"]) == (STATE, agent.owner.origin)
    stays_until_it_is_sent_away(agent, agent.redeem(back["code"]).json())


@requirement("as.clients.metadata-document", "as.metadata.ended", "as.revocation.immediate")
def test_a_client_that_is_named_by_its_document(agent: Agent) -> None:
    agent.client_id, port = DOCUMENT, "http://localhost:49152/callback"
    back = agent.let_in(agent.http.get("/oauth/authorize", params=agent.authorization(redirect_uri=port)))

    stays_until_it_is_sent_away(agent, agent.redeem(back["code"], redirect_uri=port).json())


@requirement("as.par.resumed", "as.metadata.ended", "as.revocation.immediate")
def test_a_client_that_pushes_what_it_wants(agent: Agent) -> None:
    pushed = agent.http.post("/oauth/par", data=agent.authorization(authorization_details=MESSAGES)).json()
    told = {"client_id": agent.client_id, "request_uri": pushed["request_uri"]}
    back = agent.let_in(agent.http.get("/oauth/authorize", params=told), "connection")

    given = agent.redeem(back["code"]).json()
    assert [stream["name"] for stream in given["authorization_details"][0]["streams"]] == ["messages"]
    stays_until_it_is_sent_away(agent, given)


@requirement("con.consent.device", "as.metadata.ended", "as.revocation.immediate")
def test_a_device(agent: Agent) -> None:
    wanted = {"client_id": agent.client_id, "resource": agent.mcp, "authorization_details": MESSAGES}
    begun = agent.http.post("/oauth/device_authorization", data=wanted).json()
    assert error(agent.poll(begun["device_code"])) == (400, "authorization_pending")
    typed = agent.owner.send(agent.owner.page("/device"), "/device", user_code=begun["user_code"])
    agent.owner.allow(typed.headers["location"], connection=f"0:{agent.world.family}")

    stays_until_it_is_sent_away(agent, agent.token(grant_type=DEVICE, device_code=begun["device_code"]).json())
