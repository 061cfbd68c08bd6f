"""Servers that are not who they say, and owners who do not agree: nothing is kept."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from pdpp_server.app import create_app
from pdpp_server.settings import Settings
from pdpp_server.wire.discovery import (
    AUTHORIZE,
    RESOURCE_METADATA,
    SERVER_METADATA,
    TOKEN,
    encode_authorization_server,
)
from tests.requirements import requirement
from tests.scenarios.cli.command import Ran
from tests.scenarios.connect.browser import Browser, with_password
from tests.scenarios.connect.conftest import Run
from tests.worlds.served import served
from tests.worlds.world import World

Lie = Callable[[Request], Response]
Serve = Callable[..., str]


class Follower:
    """A browser whose owner does nothing: it goes where it is sent."""

    def open(self, address: str) -> bool:
        httpx2.get(address, follow_redirects=True)
        return True


@pytest.fixture
def lying(world: World) -> Iterator[Serve]:
    """The world's server, but for the paths that are answered otherwise."""
    with_password(world.services)
    with ExitStack() as opened:

        def serve(path: str, lie: Lie) -> str:
            honest = create_app(Settings(home=world.home), world.services)
            routes = [Route(path, lie, methods=["GET", "POST"]), Mount("/", app=honest)]
            return opened.enter_context(served(Starlette(routes=routes)))

        yield serve


def origin_of(request: Request) -> str:
    return str(request.base_url).rstrip("/")


def returning(**members: str | None) -> Lie:
    """An authorization endpoint that answers at once, with these members instead of the right ones."""

    def lie(request: Request) -> Response:
        asked = request.query_params
        right = {"code": "c", "state": asked["state"], "iss": origin_of(request)}
        sent = {name: value for name, value in {**right, **members}.items() if value is not None}
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(sent)}")

    return lie


def told(body: Callable[[str], dict[str, Any]]) -> Lie:
    return lambda request: JSONResponse(body(origin_of(request)))


def refused(ran: Ran, words: str, code: int = 1) -> None:
    assert (ran.code, ran.out) == (code, ""), ran
    assert words in ran.err
    assert not list(Path().rglob("clients/*.json")), "nothing is kept"


@requirement("as.connect.believes-nobody")
def test_a_resource_other_than_the_one_that_was_typed_is_refused(run: Run, lying: Serve) -> None:
    other = {"resource": "https://other.example"}
    address = lying(RESOURCE_METADATA, told(lambda origin: {**other, "authorization_servers": [origin]}))

    refused(run("connect", address), "says that its address is another one")


@requirement("as.connect.believes-nobody")
@pytest.mark.parametrize("issuer", ["https://other.example", ""])
def test_an_issuer_other_than_the_one_that_was_asked_is_refused(run: Run, lying: Serve, issuer: str) -> None:
    address = lying(SERVER_METADATA, told(lambda origin: {**encode_authorization_server(origin), "issuer": issuer}))

    refused(run("connect", address), "calls itself otherwise")


@requirement("as.connect.believes-nobody")
@pytest.mark.parametrize("member", ["token_endpoint", "registration_endpoint", "authorization_endpoint"])
def test_nobody_leads_us_to_another_host_without_tls(run: Run, lying: Serve, member: str) -> None:
    away = {member: "http://printer.local/"}
    address = lying(SERVER_METADATA, told(lambda origin: {**encode_authorization_server(origin), **away}))

    refused(run("connect", address, browser=Follower()), "leads to an address without TLS")


@requirement("as.connect.believes-nobody")
@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"state": "another"}, "a question that was not asked"),
        ({"state": None}, "a question that was not asked"),
        ({"iss": "https://other.example"}, "in another server's name"),
        ({"iss": None}, "in another server's name"),
        ({"code": None, "error": "server_error"}, "refused: server_error"),
        ({"code": "made up"}, "refused: invalid_grant"),
    ],
)
def test_an_answer_to_another_request_or_from_another_server_is_refused(
    run: Run, lying: Serve, members: dict[str, str | None], words: str
) -> None:
    refused(run("connect", lying(AUTHORIZE, returning(**members)), browser=Follower()), words)


@requirement("as.connect.believes-nobody", "mcp.credentials.kind-asked")
def test_an_owner_token_is_never_kept(run: Run, lying: Serve, browser: Browser, world: World) -> None:
    given = {"access_token": world.owner_token, "token_type": "Bearer", "expires_in": 3600}
    address = lying(TOKEN, told(lambda _: given))

    ran = run("connect", address, browser=browser)
    refused(ran, "agents never get owner credentials", code=77)
    assert world.owner_token not in ran.err


@requirement("as.connect.believes-nobody")
def test_an_owner_who_says_no_is_heard(run: Run, address: str) -> None:
    browser = Browser(answer="deny")

    refused(run("connect", address, browser=browser), "The owner said no.")
    assert browser.ended is not None and browser.ended.status_code == 200, "their browser is not left alone"


@requirement("as.connect.believes-nobody")
def test_an_owner_who_does_not_come_is_not_waited_for_any_longer(run: Run, address: str) -> None:
    refused(run("connect", address, "--wait", "0.1"), "Nobody came back from the browser in time.")


@requirement("as.connect.believes-nobody")
def test_what_is_no_server_of_ours_is_said(run: Run) -> None:
    with served(Starlette()) as address:
        refused(run("connect", address), "something else than a JSON object")
    refused(run("connect", address), "cannot be reached")
