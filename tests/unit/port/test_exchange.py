"""One question to another server: when it is asked again, and when it is given up."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import httpx2
import pytest

from pdpp_server.errors import DisclosureLogUnavailable, PdppError, RateLimited, SourceUnavailable, Unauthenticated
from pdpp_server.port.exchange import Bounds, Exchange
from pdpp_server.wire.errors import encode
from tests.requirements import requirement


@dataclass(frozen=True)
class Said:
    """A reply before it is sent; `drips` where its pieces come one by one, each after some seconds, for ever."""

    status: int
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    drips: float = 0.0

    def pieces(self, server: "Server") -> Iterator[bytes]:
        while self.drips:
            server.now += self.drips
            yield b" "
        yield self.body.encode()


OK = Said(200, '{"object": "list"}')
Reply = Said | Exception


class Pieces(httpx2.SyncByteStream):
    def __init__(self, pieces: Callable[[], Iterator[bytes]]) -> None:
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces()


class Server:
    """Gives one reply after the other, the last one for ever; time passes only in its hands."""

    def __init__(self, *replies: Reply, takes: float = 0.0) -> None:
        self.replies, self.takes = list(replies), takes
        self.asked: list[httpx2.Request] = []
        self.slept: list[float] = []
        self.now = 0.0

    def exchange(self, url: str = "https://me.example", token: str = "tok", **bounds: float) -> Exchange:
        return Exchange(
            url,
            token,
            Bounds(**bounds),  # pyright: ignore[reportArgumentType]
            transport=httpx2.MockTransport(self._answer),
            sleep=self._sleep,
            monotonic=lambda: self.now,
        )

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        self.now += self.takes
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return httpx2.Response(reply.status, headers=reply.headers, stream=Pieces(lambda: reply.pieces(self)))

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def busy(status: int, after: str | None = None, body: str = "<h1>Busy</h1>") -> Said:
    return Said(status, body, {} if after is None else {"Retry-After": after})


@requirement("port.network.tries")
@pytest.mark.parametrize(
    "trouble",
    [
        httpx2.ConnectError("refused"),
        httpx2.ConnectTimeout("no route"),
        httpx2.RemoteProtocolError("closed while idle"),
        busy(502),
        busy(503, "1"),
        busy(504, "0"),
        busy(429, "2"),
    ],
)
def test_what_was_not_heard_is_asked_again_after_a_pause(trouble: Reply) -> None:
    server = Server(trouble, trouble, OK)

    assert server.exchange().get("/v1/search?q=x").body == {"object": "list"}
    assert len(server.asked) == 3
    assert all(0 < pause < 3 for pause in server.slept)
    assert len({request.headers["request-id"] for request in server.asked}) == 1


@requirement("port.network.tries")
@pytest.mark.parametrize(
    "trouble",
    [
        httpx2.ReadTimeout("slow"),
        Said(500, "Oops"),
        Said(404, "Where?"),
        busy(429),
        busy(429, "60"),
        busy(503, "3600"),
        busy(503, "Wed, 21 Oct 2026 07:28:00 GMT", '{"error": {"code": "query_timeout", "message": "Too long."}}'),
        Said(503, json.dumps(encode(DisclosureLogUnavailable("The log is full.")))),
    ],
)
def test_what_was_decided_is_not_asked_again(trouble: Reply) -> None:
    server = Server(trouble)

    with pytest.raises(PdppError):
        server.exchange(seconds=10_000).get("/v1/search?q=x")

    assert (len(server.asked), server.slept) == (1, [])


@requirement("port.network.tries")
def test_three_tries_are_enough() -> None:
    server = Server(busy(503))

    with pytest.raises(SourceUnavailable):
        server.exchange().get("/v1/schema")

    assert len(server.asked) == 3


@requirement("port.network.tries", "port.network.bounded")
def test_nothing_is_asked_after_the_time_is_over() -> None:
    server = Server(busy(503, "2"), takes=9)

    with pytest.raises(SourceUnavailable):
        server.exchange(seconds=10).get("/v1/schema")

    assert (len(server.asked), server.slept) == (1, [])


@requirement("port.network.bounded")
def test_an_answer_that_drips_in_is_given_up_in_time() -> None:
    server = Server(Said(200, drips=4))

    with pytest.raises(SourceUnavailable, match="did not answer in time"):
        server.exchange(seconds=10).get("/v1/schema")

    assert (server.now, len(server.asked)) == (12, 1)


@requirement("port.network.address", "port.network.token-stays")
def test_a_server_under_a_path_is_asked_there() -> None:
    server = Server(OK)

    server.exchange("https://Me.Example:443/data/").get("/v1/streams/a%2Fb/records/%5B%22x%22%5D?q=a+b")

    (request,) = server.asked
    assert request.url.raw_path == b"/data/v1/streams/a%2Fb/records/%5B%22x%22%5D?q=a+b"
    assert (request.headers["host"], request.headers["authorization"]) == ("me.example", "Bearer tok")
    assert request.headers["accept-encoding"] == "identity"


@requirement("port.network.token-stays")
@pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "schlüssel", "x" * 5000, "\ud800"])
def test_a_token_that_cannot_stand_in_a_header_is_not_sent(token: str) -> None:
    server = Server(OK)

    with pytest.raises(Unauthenticated):
        server.exchange(token=token).get("/v1/schema")

    assert server.asked == []


@requirement("port.network.foreign-refusals")
@pytest.mark.parametrize(
    ("headers", "theirs"),
    [({"Request-Id": "r-1"}, "r-1"), ({"X-Request-Id": "r-2"}, "r-2"), ({"Request-Id": "a b"}, None), ({}, None)],
)
def test_the_request_id_is_the_servers_if_it_is_one(headers: dict[str, str], theirs: str | None) -> None:
    server = Server(Said(200, "{}", headers), Said(404, "?", headers))
    exchange = server.exchange()

    told = exchange.get("/v1/schema").request_id
    with pytest.raises(SourceUnavailable) as refused:
        exchange.get("/v1/schema")

    ours = [request.headers["request-id"] for request in server.asked]
    assert [told, refused.value.request_id] == ([theirs, theirs] if theirs else ours)


@requirement("port.network.foreign-refusals")
def test_a_busy_server_that_says_when_is_quoted() -> None:
    with pytest.raises(RateLimited) as refused:
        Server(busy(429, "60")).exchange().get("/v1/schema")

    assert refused.value.remedy == "Try again after 60 seconds."
