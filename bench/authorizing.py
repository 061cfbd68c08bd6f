"""What a client waits for before it can read: discovery, registration and tokens, of a server in its own process."""

import hashlib
from base64 import urlsafe_b64encode
from contextlib import ExitStack
from http.client import HTTPConnection
from urllib.parse import parse_qs, urlencode, urlsplit

import orjson

from bench.clock import side_by_side
from bench.hosted import serving
from bench.world import SOURCE, World
from pdpp_server.model.authorization import Decision
from pdpp_server.owner.consent import ConsentDesk
from pdpp_server.wire.discovery import AUTHORIZE, REGISTER, SERVER_METADATA, TOKEN
from pdpp_server.wire.grants import DETAIL_TYPE, decode_selection

Numbers = dict[str, float]

ROUNDS, EACH = 9, 10  # with the round that warms, and the client itself, fewer registrations than one address may have
REDIRECT = "http://localhost/callback"
VERIFIER = "v" * 64
CHALLENGE = urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


class Client:
    """One connection, kept open; it has been let in once and refreshes its token from then on."""

    def __init__(self, world: World, port: int) -> None:
        self.http = HTTPConnection("127.0.0.1", port)
        self.client_id = orjson.loads(self.register())["client_id"]
        code = self._code(world)
        asked = {"grant_type": "authorization_code", "code": code, "code_verifier": VERIFIER}
        self._keep(self._post(TOKEN, {**asked, "client_id": self.client_id}))

    def discover(self) -> bytes:
        return self._ask("GET", SERVER_METADATA)

    def register(self) -> bytes:
        return self._ask("POST", REGISTER, orjson.dumps({"redirect_uris": [REDIRECT]}), "application/json")

    def refresh(self) -> None:
        asked = {"grant_type": "refresh_token", "refresh_token": self.refresh_token, "client_id": self.client_id}
        self._keep(self._post(TOKEN, asked))

    def _keep(self, answer: bytes) -> None:
        self.refresh_token: str = orjson.loads(answer)["refresh_token"]

    def _code(self, world: World) -> str:
        """The owner allows all messages."""
        asked = {"client_id": self.client_id, "redirect_uri": REDIRECT, "response_type": "code"}
        proof = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}
        self.http.request("GET", f"{AUTHORIZE}?{urlencode({**asked, **proof})}")
        response = self.http.getresponse()
        response.read()
        (ask_id,) = parse_qs(urlsplit(response.headers["Location"]).query)["ask"]
        streams = [{"name": "messages", "instance_ids": [world.connection_id]}]
        purpose = {"purpose_code": "https://pdpp.dev/purpose/assistance", "access_mode": "continuous"}
        detail = {"type": DETAIL_TYPE, "source": {"id": SOURCE}, "streams": streams, **purpose}
        desk, decision = ConsentDesk(world.services), Decision(decode_selection([detail]), None)
        back = desk.approve(ask_id, decision, desk.review(ask_id, decision).revision)
        return parse_qs(urlsplit(back or "").query)["code"][0]

    def _post(self, path: str, form: dict[str, str]) -> bytes:
        return self._ask("POST", path, urlencode(form).encode(), "application/x-www-form-urlencoded")

    def _ask(self, method: str, path: str, body: bytes | None = None, media_type: str = "") -> bytes:
        self.http.request(method, path, body, {"Content-Type": media_type} if media_type else {})
        response = self.http.getresponse()
        answer = response.read()
        if response.status not in {200, 201}:
            raise RuntimeError(answer.decode())
        return answer


def authorizing(world: World) -> Numbers:
    """Each beside a bare route of the same server settings; they take turns."""
    numbers: Numbers = {}
    with ExitStack() as started:
        ours, bare = (started.enter_context(serving(kind, world.home)) for kind in ("ours", "bare"))
        client, floor = Client(world, ours), HTTPConnection("127.0.0.1", bare)

        def bare_route() -> None:
            floor.request("GET", "/records/m1")
            floor.getresponse().read()

        for name, step in (("discovery", client.discover), ("register", client.register), ("token", client.refresh)):
            mine, bare_time = side_by_side(step, bare_route, rounds=ROUNDS, each=EACH)
            numbers[f"as_{name}_ms_p95"] = mine.p95 * 1e3
            numbers[f"as_{name}_ratio"] = mine.p50 / bare_time.p50
    return numbers
