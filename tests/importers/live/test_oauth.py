"""Tokens for a mailbox: a token server and a mail server of ours, on this machine."""

import json
from base64 import b64decode
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit
from urllib.request import urlopen

import pytest

from pdpp_server.importers import registry
from pdpp_server.importers.live.oauth import SERVICES, MailClient, agreed, agreed_in_browser
from pdpp_server.importers.live.sync import Syncing, sync_one
from pdpp_server.importers.live.trouble import SourceTrouble
from pdpp_server.port.connect import challenge_of
from pdpp_server.wire.connect import Renewing, TokenService, decode_mail_service, encode_mail_service, encode_renewing
from tests.importers.live.scripted import scripted, usual
from tests.requirements import requirement
from tests.worlds.world import World

DEVICE = {"device_code": "d", "user_code": "ABCD", "verification_uri": "https://example.org/device", "interval": 1}


@contextmanager
def token_server(*answers: tuple[int, dict[str, Any]]) -> Generator[tuple[TokenService, list[dict[str, str]]], None, None]:
    """It says one after the other, and notes what it was asked."""
    asked: list[dict[str, str]] = []
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            asked.append({"path": self.path, **{name: values[0] for name, values in form.items()}})
            status, body = left.pop(0)
            raw = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as it is called there
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    here = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield TokenService(f"{here}/token", "mail offline_access", f"{here}/device", f"{here}/page"), asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _refused(error: str) -> tuple[int, dict[str, Any]]:
    return 400, {"error": error}


@requirement("imp.live.imap-oauth")
def test_the_owner_agrees_on_a_page_and_is_waited_for_as_long_as_the_service_wants() -> None:
    given = (200, {"access_token": "a1", "refresh_token": "r1", "expires_in": 3600})
    shown: list[tuple[str, str]] = []
    slept: list[float] = []
    waits = (_refused("authorization_pending"), _refused("slow_down"))
    with token_server((200, DEVICE), *waits, given) as (service, asked):
        got = agreed(service, MailClient("mine"), lambda *told: shown.append(told), sleep=slept.append)

    assert got == ("a1", Renewing("r1"))
    assert shown == [("https://example.org/device", "ABCD")]
    assert slept == [1, 1, 6]
    assert asked[0] == {"path": "/device", "client_id": "mine", "scope": "mail offline_access"}
    assert [one["path"] for one in asked[1:]] == ["/token"] * 3
    assert {one["device_code"] for one in asked[1:]} == {"d"}


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ((_refused("invalid_client"),), "The service gives no token (invalid_client)."),
        (((200, DEVICE), _refused("access_denied")), "The service gives no token (access_denied)."),
        (((200, DEVICE), (200, {"access_token": "a"})), "The service gives no refresh token"),
        (((200, {**DEVICE, "expires_in": 1}),), "Nobody agreed on the page of the service in time."),
    ],
)
@requirement("imp.live.imap-oauth")
def test_what_a_service_refuses_is_a_sentence(answers: tuple[tuple[int, dict[str, Any]], ...], says: str) -> None:
    with token_server(*answers) as (service, _), pytest.raises(SourceTrouble) as refused:
        agreed(service, MailClient("mine"), lambda *_: None, sleep=lambda _: None)
    assert refused.value.message.startswith(says)
    assert refused.value.remedy


def browser(seen: list[dict[str, str]], **brings: str) -> Callable[[str, str], None]:
    """The owner's: it notes what the page was asked, and goes back with that."""

    def opened(address: str, code: str) -> None:
        assert code == ""
        asked = dict(parse_qsl(urlsplit(address).query))
        seen.append(asked)
        back = urlencode({"state": asked["state"], **brings})
        with urlopen(f"{asked['redirect_uri']}?{back}", timeout=20) as page:
            assert page.status == 200

    return opened


@requirement("imp.live.imap-oauth")
def test_the_owner_agrees_in_a_browser_of_this_machine_and_the_code_is_bound_to_the_request() -> None:
    given = (200, {"access_token": "a1", "refresh_token": "r1", "expires_in": 3600})
    seen: list[dict[str, str]] = []
    with token_server(given) as (service, asked):
        got = agreed_in_browser(service, MailClient("mine", "not so secret"), browser(seen, code="c1"))

    assert got == ("a1", Renewing("r1", "not so secret"))
    (page,), (token,) = seen, asked
    told = {"client_id": "mine", "scope": "mail offline_access", "access_type": "offline", "prompt": "consent"}
    assert page.items() >= {**told, "response_type": "code", "code_challenge_method": "S256"}.items()
    assert page["redirect_uri"].startswith("http://127.0.0.1:")
    assert page["code_challenge"] == challenge_of(token["code_verifier"])
    sent = {"path": "/token", "grant_type": "authorization_code", "code": "c1", "client_id": "mine"}
    assert token.items() >= {**sent, "client_secret": "not so secret", "redirect_uri": page["redirect_uri"]}.items()
    assert "resource" not in token


@pytest.mark.parametrize(
    ("brings", "answers", "says"),
    [
        ({"error": "access_denied"}, (), "The service gives no token (access_denied)."),
        ({"code": "c1", "state": "another"}, (), "The browser brought an answer to another question."),
        ({"code": "c1"}, (_refused("invalid_grant"),), "The service gives no token (invalid_grant)."),
        ({"code": "c1"}, ((200, {"access_token": "a"}),), "The service gives no refresh token"),
    ],
)
@requirement("imp.live.imap-oauth")
def test_what_a_browser_brings_that_is_no_consent_is_a_sentence(
    brings: dict[str, str], answers: tuple[tuple[int, dict[str, Any]], ...], says: str
) -> None:
    with token_server(*answers) as (service, asked), pytest.raises(SourceTrouble) as refused:
        agreed_in_browser(service, MailClient("mine"), browser([], **brings))
    assert refused.value.message.startswith(says)
    assert refused.value.remedy
    assert len(asked) == len(answers)


@requirement("imp.live.imap-oauth")
def test_nobody_who_comes_back_and_services_that_lack_a_way_are_told_of() -> None:
    nobody = TokenService("https://token.example.org/", "mail", page="https://page.example.org/")
    with pytest.raises(SourceTrouble, match="in time"):
        agreed_in_browser(nobody, MailClient("mine"), lambda *_: None, seconds=0)
    with pytest.raises(SourceTrouble, match="on another device"):
        agreed(nobody, MailClient("mine"), lambda *_: None)
    with pytest.raises(SourceTrouble, match="no page for a browser"):
        agreed_in_browser(nobody._replace(page=None), MailClient("mine"), lambda *_: None)
    with pytest.raises(SourceTrouble, match="cannot be asked for"):
        agreed_in_browser(nobody._replace(page="http://page.example.org/"), MailClient("mine"), lambda *_: None)


@requirement("imp.live.imap-oauth")
@pytest.mark.parametrize("client_secret", ["", "not so secret"])
def test_each_try_signs_in_with_a_new_token_and_keeps_the_newest_refresh_token(
    world: World, client_secret: str
) -> None:
    signed: list[bytes] = []
    is_signing_in = False

    def mail(tag: str, command: str) -> bytes | None:
        nonlocal is_signing_in
        if command.upper().startswith("AUTHENTICATE"):
            assert command.upper() == "AUTHENTICATE XOAUTH2"
            is_signing_in, mail.tag = True, tag  # pyright: ignore[reportFunctionMemberAccess]
            return b"+ \r\n"
        if is_signing_in:
            is_signing_in = False
            signed.append(b64decode(tag))
            return mail.tag.encode() + b" OK in\r\n"  # pyright: ignore[reportFunctionMemberAccess]
        return usual(tag, command)

    answers = [(200, {"access_token": f"a{n}", "refresh_token": f"r{n}"}) for n in (2, 3)]
    with token_server(*answers, _refused("invalid_grant")) as (service, asked), scripted(mail) as port:
        settings = {
            "host": "127.0.0.1",
            "port": port,
            "security": "none",
            "user": "ann@example.org",
            "account": "ann@example.org",
            "oauth": encode_mail_service(service, "mine"),
        }
        live = world.owner.live
        live.add("ann", "imap", settings, encode_renewing(Renewing("r1", client_secret)))
        syncing = Syncing(world.owner, UTC, registry.IMPORTERS, world.clock)
        for _ in range(2):
            sync_one(syncing, live.named("ann"))
        with pytest.raises(SourceTrouble, match="gives no token"):
            sync_one(syncing, live.named("ann"))

    assert signed == [f"user=ann@example.org\1auth=Bearer a{n}\1\1".encode() for n in (2, 3)]
    assert [one["refresh_token"] for one in asked] == ["r1", "r2", "r3"]
    assert {one.get("client_secret", "") for one in asked} == {client_secret}
    assert live.secret("ann") == encode_renewing(Renewing("r3", client_secret))
    assert client_secret == "" or client_secret not in str(live.named("ann"))
    assert "invalid_grant" in (live.named("ann").trouble or "")


@requirement("imp.live.imap-oauth")
def test_known_services_are_asked_over_tls_and_kept_as_they_are() -> None:
    for service in SERVICES.values():
        assert all(place.startswith("https://") for place in (service.token, service.device, service.page) if place)
        assert decode_mail_service(encode_mail_service(service, "mine")) == (service, "mine")
