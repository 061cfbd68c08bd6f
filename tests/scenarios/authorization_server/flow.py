"""A client's way to a token, step by step, on a world's server; the owner's step is taken at the consent desk."""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import orjson
from httpx2 import Client, Response
from starlette.testclient import TestClient

from pdpp_server.app import create_app
from pdpp_server.authorization_server.documents import NoWayOut
from pdpp_server.model.authorization import ClientDocument, Decision
from pdpp_server.owner.consent import ConsentDesk
from pdpp_server.owner.sign_in import SignIn
from pdpp_server.settings import Settings
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import decode_selection
from tests.worlds import chat
from tests.worlds.world import World

ORIGIN = "http://127.0.0.1"
MCP, REST = f"{ORIGIN}/mcp", ORIGIN
REDIRECT = "http://localhost/callback"
STATE = "a state of the client's own"
VERIFIER = "v" * 64
CHALLENGE = urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
NOTES = "https://registry.pdpp.dev/connectors/notes"
EVERY_FLOW = ["authorization_code", "refresh_token", DEVICE]

Json = dict[str, Any]


def nobody(url: str) -> ClientDocument:
    raise NoWayOut(f"Nobody answers at {url}.")


class Flow:
    """One client, registered; `http` is the server that it talks to."""

    def __init__(self, world: World, http: Client) -> None:
        self.world, self.http, self.desk = world, http, ConsentDesk(world.services)
        self.client_id = self.registered()

    # the client's steps

    def registered(self, **members: Any) -> str:
        asked = {"client_name": "Agent X", "redirect_uris": [REDIRECT], "grant_types": EVERY_FLOW, **members}
        response = self.http.post("/oauth/register", json=asked)
        assert response.status_code == 201, response.text
        return response.json()["client_id"]

    def parameters(self, **changed: Any) -> Json:
        """Of an authorization request that is right but for what is changed; None leaves a parameter out."""
        right = {
            "client_id": self.client_id,
            "redirect_uri": REDIRECT,
            "response_type": "code",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": STATE,
            "resource": MCP,
            "authorization_details": orjson.dumps([chat.detail({"name": "messages"})]).decode(),
        }
        return {name: value for name, value in (right | changed).items() if value is not None}

    def authorize(self, **changed: Any) -> Response:
        return self.http.get("/oauth/authorize", params=self.parameters(**changed), follow_redirects=False)

    def ask(self, **changed: Any) -> str:
        """The id of the ask that now waits for the owner."""
        location = self.authorize(**changed).headers["location"]
        assert location.startswith(f"{ORIGIN}/consent?ask="), location
        return location.partition("=")[2]

    def code(self, decision: Decision | None = None, **changed: Any) -> str:
        return query(self.approved(self.ask(**changed), decision))["code"]

    def token(self, **sent: Any) -> Response:
        return self.http.post("/oauth/token", data={"client_id": self.client_id, **sent})

    def redeem(self, code: str, /, **sent: Any) -> Response:
        right = {"grant_type": "authorization_code", "code": code, "code_verifier": VERIFIER, "redirect_uri": REDIRECT}
        return self.token(**(right | sent))

    def refresh(self, refresh_token: str, /, **sent: Any) -> Response:
        return self.token(grant_type="refresh_token", refresh_token=refresh_token, **sent)

    def tokens(self, decision: Decision | None = None, **changed: Any) -> Json:
        response = self.redeem(self.code(decision, **changed))
        assert response.status_code == 200, response.text
        return response.json()

    def device_code(self, **changed: Any) -> Json:
        asked = self.parameters(**changed)
        response = self.http.post("/oauth/device_authorization", data=asked)
        assert response.status_code == 200, response.text
        return response.json()

    def poll(self, device_code: str, **sent: Any) -> Response:
        return self.token(grant_type=DEVICE, device_code=device_code, **sent)

    # the owner's steps

    def sign_in(self) -> None:
        """The browser that is sent to us is one in which the owner is signed in."""
        self.http.cookies.set("pdpp", SignIn(self.world.services)._begin())

    def approved(self, ask_id: str, decision: Decision | None = None) -> str:
        """Where the browser is sent; empty where a device waits."""
        chosen = decision or self.decision()
        return self.desk.approve(ask_id, chosen, self.desk.review(ask_id, chosen).revision) or ""

    def decision(self, *details: Json, **chosen: Any) -> Decision:
        """The messages of both accounts, unless other details are given."""
        selections = decode_selection(list(details) or [chat.detail(self.world.both("messages"))])
        return Decision(selections, chosen.pop("expires_at", None), **chosen)

    # what a token is good for

    def reads(self, access_token: str, path: str = "/v1/streams") -> int:
        return self.http.get(path, headers={"Authorization": f"Bearer {access_token}"}).status_code

    def calls(self, access_token: str) -> int:
        """The status of a tool call at the MCP endpoint."""
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        headers = {"Authorization": f"Bearer {access_token}", "Accept": "application/json, text/event-stream"}
        return self.http.post("/mcp", json=message, headers=headers).status_code


@contextmanager
def flowing(
    world: World, fetch: Callable[[str], ClientDocument] = nobody, **settings: Any
) -> Generator[Flow, None, None]:
    app = create_app(Settings(home=world.home, **settings), world.services, fetch)
    with TestClient(app, base_url=ORIGIN) as http:
        yield Flow(world, http)


def query(address: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(address).query))


def error(response: Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]


def with_notes(world: World) -> Json:
    """A second source of the same shape, filled; what would be asked for all of its messages."""
    source = {"kind": "connector", "id": NOTES}
    writer = world.owner.writer(decode_declaration({**chat.DOCUMENT, "source": source}), "Notes")
    writer.deliver([chat.message("n1", subject="A note", text="Buy milk.", sent_at="2026-03-03T08:00:00Z")])
    return {**chat.detail({"name": "messages"}), "source": {"id": NOTES}}
