"""Asking about a token: with a secret, within bounds, and a yes only for as long as it may be kept."""

import json
from base64 import b64encode
from collections.abc import Iterator

import httpx2
import pytest

from pdpp_server.errors import AuthorizationServerUnavailable, GrantRevoked, Unauthenticated
from pdpp_server.resource_server import introspection
from pdpp_server.resource_server.introspection import Introspection
from pdpp_server.settings import Introspecting
from tests.requirements import requirement
from tests.unit.wire.test_introspection import ANSWER, ISSUER, RESOURCE
from tests.worlds.world import NOW

YES, NO = json.dumps(ANSWER), json.dumps({"active": False, "inactive_reason": "grant_revoked"})


class Server:
    """Gives one reply after the other, the last one for ever; time passes only in its hands."""

    def __init__(self, *replies: str | int | Exception, drips: float = 0.0) -> None:
        self.replies, self.drips, self.now = list(replies), drips, 0.0
        self.asked: list[httpx2.Request] = []

    def introspection(self, cache_seconds: int = 0) -> Introspection:
        asked = Introspecting("https://as.example/introspect", "rs", "s3cret", ISSUER, RESOURCE, cache_seconds)
        transport = httpx2.MockTransport(self._answer)
        return Introspection(asked, now=lambda: NOW, monotonic=lambda: self.now, transport=transport)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, int):
            return httpx2.Response(reply, headers={"Location": "https://evil.example/"})
        return httpx2.Response(200, content=self._pieces(reply))

    def _pieces(self, reply: str) -> Iterator[bytes]:
        for letter in reply:
            self.now += self.drips
            yield letter.encode()


@requirement("rs.separate.reads")
def test_it_posts_the_token_with_our_name_and_secret() -> None:
    server = Server(YES)

    rights = server.introspection().rights("tok/1", RESOURCE)

    (sent,) = server.asked
    assert rights.document["grant_id"] == "grt_1"
    assert (sent.method, sent.read()) == ("POST", b"token=tok%2F1")
    assert sent.headers["authorization"] == f"Basic {b64encode(b'rs:s3cret').decode()}"


@requirement("rs.separate.closed")
@pytest.mark.parametrize(
    ("reply", "asked"),
    [
        (401, 1),
        (302, 1),
        (500, 1),
        ("[]", 1),
        ("no JSON", 1),
        (httpx2.ReadTimeout("slow"), 1),
        (httpx2.ConnectError("nobody"), 2),
        (httpx2.RemoteProtocolError("broke off"), 2),
    ],
)
def test_no_answer_means_no(reply: str | int | Exception, asked: int) -> None:
    server = Server(reply)

    with pytest.raises(AuthorizationServerUnavailable) as refused:
        server.introspection(60).rights("token-1", RESOURCE)

    assert len(server.asked) == asked
    assert "token-1" not in str(refused.value)
    assert "s3cret" not in str(refused.value)


@requirement("rs.separate.closed")
def test_a_connection_that_ended_meanwhile_is_no_trouble() -> None:
    server = Server(httpx2.RemoteProtocolError("closed"), YES)

    assert server.introspection().rights("tok", RESOURCE).source_id


@requirement("rs.separate.closed")
def test_an_answer_is_bounded_in_time_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AuthorizationServerUnavailable, match="come to an end"):
        Server(YES, drips=0.1).introspection().rights("tok", RESOURCE)
    monkeypatch.setattr(introspection, "BODY_BYTES", len(YES) - 1)
    with pytest.raises(AuthorizationServerUnavailable, match="come to an end"):
        Server(YES).introspection().rights("tok", RESOURCE)


@requirement("rs.separate.closed")
@pytest.mark.parametrize("token", ["two words", "é", "\n", "x" * 4097])
def test_what_cannot_be_a_token_is_not_sent(token: str) -> None:
    server = Server(YES)

    with pytest.raises(Unauthenticated):
        server.introspection().rights(token, RESOURCE)

    assert server.asked == []


@requirement("rs.tokens.introspection-cache")
def test_a_yes_is_kept_for_as_long_as_was_said_and_a_no_never() -> None:
    server = Server(YES, NO, YES)
    asking = server.introspection(30)

    for _ in range(3):
        asking.rights("tok", RESOURCE)
    assert len(server.asked) == 1
    server.now = 30.0
    with pytest.raises(GrantRevoked):
        asking.rights("tok", RESOURCE)
    asking.rights("tok", RESOURCE)

    assert len(server.asked) == 3


@requirement("rs.tokens.introspection-cache", "rs.separate.one-answer")
def test_a_yes_that_is_kept_is_checked_like_a_new_one() -> None:
    asking = Server(YES).introspection(60)
    asking.rights("tok", RESOURCE)

    with pytest.raises(Unauthenticated, match="audience_mismatch"):
        asking.rights("tok", f"{RESOURCE}/other")


@requirement("rs.tokens.introspection-cache")
def test_no_more_is_kept_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(introspection, "KEPT_MAX", 2)
    server = Server(YES)
    asking = server.introspection(60)

    for token in ("a", "b", "c", "c", "a"):
        asking.rights(token, RESOURCE)

    assert len(server.asked) == 4
