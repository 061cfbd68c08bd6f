"""A crowd at the door: hostile requests, claimed addresses, half-open connections; and somebody known behind them."""

import resource
import socket
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import cycle, islice
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from httpx2 import Client, HTTPError, Response

from pdpp_server.app import create_app
from pdpp_server.http import protocol
from pdpp_server.owner.sign_in import SignIn
from pdpp_server.settings import Settings
from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import ORIGIN, REST, Flow, nobody
from tests.scenarios.console.visitor import PASSWORD, Visitor, cheap_passwords, fields_of
from tests.worlds.served import served
from tests.worlds.world import World

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
BAD_TOKEN = {"Authorization": "Bearer nobody's"}
SECONDS, LOOKS = 30, 5
PARTS = [
    b"",
    b"G",
    b"GET / HTTP/1.1\r\nHost: x\r\n",
    b"POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx",
]


class Crowd(NamedTuple):
    requests: int
    spoofed: int
    half_open: int
    room: int  # for connections


# Each is refused, or of no use to whoever sends it.
HOSTILE: list[Callable[[Client], Response]] = [
    lambda http: http.get("/oauth/authorize", params={"client_id": "nope"}),
    lambda http: http.get("/oauth/authorize", params={"client_id": "nope"}, headers={"Accept": "text/html"}),
    lambda http: http.get("/oauth/authorize?client_id=a&client_id=b"),
    lambda http: http.post("/oauth/register", json={"redirect_uris": ["https://evil.example/"]}),
    lambda http: http.post("/oauth/register", content=b"[" * 5000, headers={"Content-Type": "application/json"}),
    lambda http: http.post("/oauth/par", data={"client_id": "nope"}),
    lambda http: http.post("/oauth/device_authorization", data={"client_id": "https://evil.example/c.json"}),
    lambda http: http.post("/oauth/token", data={"client_id": "nope", "grant_type": "refresh_token"}),
    lambda http: http.post("/oauth/token", content=b"x" * 70_000, headers=FORM),
    lambda http: http.post("/oauth/revoke", data={"token": "nothing"}),
    lambda http: http.post("/introspect", data={"token": "nothing"}),
    lambda http: http.get("/v1/streams", headers=BAD_TOKEN),
    lambda http: http.post("/mcp", json={}, headers=BAD_TOKEN),
    lambda http: http.get("/v1/streams", headers={"Host": "evil.example"}),
    lambda http: http.post("/sign-in", data={"password": "guess"}),
    lambda http: http.get("/welcome"),
    lambda http: http.get(f"/{'x' * 5000}"),
    lambda http: http.request("BREW", "/oauth/authorize"),
]


def with_soak(few: Crowd, many: Crowd) -> pytest.MarkDecorator:
    """A small crowd in `make test`, the whole one in `make soak`."""
    return pytest.mark.parametrize("crowd", [few, pytest.param(many, marks=pytest.mark.soak)], ids=["few", "many"])


@contextmanager
def descriptors(wanted: int) -> Generator[int]:
    """How many this process may open meanwhile: as many as it is let."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = max(soft, wanted if hard == resource.RLIM_INFINITY else min(wanted, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    try:
        yield most
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def send_all(address: str, times: int) -> list[int]:
    """So many hostile requests from here; 0 where the connection broke."""
    kinds = list(islice(cycle(HOSTILE), times))
    with Client(base_url=address, timeout=SECONDS) as http, ThreadPoolExecutor(4) as threads:

        def sent(kind: Callable[[Client], Response]) -> int:
            try:
                return kind(http).status_code
            except HTTPError:
                return 0

        return list(threads.map(sent, kinds))


def spoofed(address: str, times: int) -> list[int]:
    """Registrations, each with another address that it claims to come from."""
    with Client(base_url=address, timeout=SECONDS) as http:
        claims = [f"203.0.{number // 250}.{number % 250}" for number in range(times)]
        answers = [http.post("/oauth/register", json={}, headers={"X-Forwarded-For": claim}) for claim in claims]
        return [answer.status_code for answer in answers]


def guess(address: str, door: SignIn, times: int) -> list[int]:
    """Passwords, each with another address that it claims to come from."""
    with Client(base_url=address, timeout=SECONDS) as http:
        stranger = Visitor(http, door)
        fields = [*fields_of(stranger.page("/sign-in"), "/sign-in"), ("password", "a guess of mine")]
        claims = [f"198.51.100.{number}" for number in range(times)]
        return [stranger.post("/sign-in", fields, **{"X-Forwarded-For": claim}).status_code for claim in claims]


def half_open(address: str, times: int, held: ExitStack) -> None:
    place = urlsplit(address)
    for said in islice(cycle(PARTS), times):
        connection = held.enter_context(socket.create_connection((str(place.hostname), place.port or 0), SECONDS))
        connection.sendall(said)


@requirement("as.flows.hostile")
@with_soak(few=Crowd(600, 130, 80, room=32), many=Crowd(10_000, 300, 2000, room=protocol.CONNECTIONS_MAX))
def test_behind_any_crowd_a_known_client_signs_in_and_reads(
    world: World, crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "CONNECTIONS_MAX", crowd.room)
    app = create_app(Settings(home=world.home, public_url=ORIGIN), world.services, nobody)
    needed = 2 * crowd.room + crowd.half_open + 200
    with ExitStack() as held, cheap_passwords():
        most = held.enter_context(descriptors(needed))
        address = held.enter_context(served(app))
        http = held.enter_context(Client(base_url=address, timeout=SECONDS))
        owner = Visitor(http, app.state.sign_in)
        owner.door.set_password(PASSWORD)
        known = Flow(world, http)
        given = known.tokens(resource=REST)

        half_open(address, min(crowd.half_open, most - needed + crowd.half_open), held)
        statuses: list[int] = []
        for _ in range(LOOKS):
            statuses += send_all(address, crowd.requests // LOOKS)
            assert known.reads(given["access_token"]) == 200
        claimed = spoofed(address, crowd.spoofed)
        guessed = guess(address, owner.door, 10)

        assert not [status for status in statuses if status >= 500]
        assert statuses.count(0) < len(statuses) / 100
        assert (statuses + claimed).count(201) <= 120
        assert guessed.count(401) == 5  # an address that is claimed buys no further guess
        assert known.refresh(known.tokens(resource=REST)["refresh_token"]).status_code == 200
        renewed = known.tokens(resource=REST)
        assert known.reads(renewed["access_token"]) == 200
        assert owner.sign_in().status_code == 429
        SignIn(world.services).set_password("another quiet harbour")
        assert owner.sign_in("another quiet harbour").status_code == 303
