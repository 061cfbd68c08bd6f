"""Servers that are broken, foolish or hostile: each is named in a refusal, and none gets more than it was sent."""

import gzip
import socket
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import repeat

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from pdpp_server.errors import (
    Candidate,
    InvalidRequest,
    NotFound,
    PdppError,
    PermissionDenied,
    RateLimited,
    ServerTrouble,
    SourceUnavailable,
    Unauthenticated,
)
from pdpp_server.model.queries import SchemaQuery, SearchQuery
from pdpp_server.port.exchange import Bounds, Exchange
from pdpp_server.port.network import NetworkReader
from pdpp_server.wire.errors import CLASSES, encode
from tests.requirements import requirement
from tests.worlds.foreign import TOKEN, Foreign
from tests.worlds.served import served

SECRET_WORDS = "what nobody else may know"
BOMB = gzip.compress(b" " * 50_000_000)


class Hostile:
    """Knows the schema, and answers every search with `response`."""

    def __init__(self) -> None:
        self.response = Response()
        self.address = ""

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/v1/search", self._search), *Foreign().app().routes])

    async def _search(self, _: Request) -> Response:
        return self.response

    def refusal(self, response: Response, *, named: bool = True) -> PdppError:
        self.response = response
        with reader_at(self.address) as reader, pytest.raises(PdppError) as refused:
            reader.search(SearchQuery(SECRET_WORDS))
        refusal = refused.value
        assert refusal.request_id
        assert not any(secret in str(vars(refusal)) for secret in (TOKEN, SECRET_WORDS, "%20nobody", "+nobody"))
        if named and isinstance(refusal, SourceUnavailable):
            assert refusal.message.startswith(f"The server {self.address.removeprefix('http://')} ")
            assert refusal.remedy
        return refusal


@pytest.fixture(scope="module")
def hostile() -> Iterator[Hostile]:
    hostile = Hostile()
    with served(hostile.app()) as hostile.address:
        yield hostile


@contextmanager
def reader_at(address: str) -> Generator[NetworkReader]:
    exchange = Exchange(address, TOKEN, Bounds(body_bytes=1_000_000), sleep=lambda _: None)
    yield NetworkReader(exchange)
    exchange.close()


def endless() -> Iterator[bytes]:
    return repeat(b'{"a":' * 10_000)


@requirement("port.network.trouble-named", "port.network.bounded")
@pytest.mark.parametrize(
    ("response", "why"),
    [
        (HTMLResponse("<h1>It works!</h1>"), "something else than a JSON object"),
        (Response(b'{"data": [', media_type="application/json"), "something else than a JSON object"),
        (JSONResponse([]), "something else than a JSON object"),
        (Response(b"[" * 500_000), "something else than a JSON object"),
        (Response(status_code=204), "answered 204"),
        (JSONResponse({"ok": True}), "no list of objects called data"),
        (JSONResponse({"data": ["t-1"]}), "no list of objects called data"),
        (JSONResponse({"data": [{}]}), "has no stream"),
        (HTMLResponse("<h1>Oops</h1>", 500), "answered 500 without saying why"),
        (HTMLResponse("<h1>Where?</h1>", 404), "answered 404 without saying why"),
        (StreamingResponse(endless()), "more than 1,000,000 bytes"),
        (Response(b"x" * 2_000_000), "more than 1,000,000 bytes"),
        (Response(BOMB, headers={"Content-Encoding": "gzip"}), "packed answer"),
        (RedirectResponse("https://elsewhere.example/v1/search"), "points to another address"),
    ],
)
def test_an_answer_that_is_none_is_refused_by_the_servers_name(hostile: Hostile, response: Response, why: str) -> None:
    refusal = hostile.refusal(response)

    assert (refusal.code, refusal.status) == ("source_unavailable", 502)
    assert why in refusal.message


@requirement("port.network.foreign-refusals")
@pytest.mark.parametrize(
    ("response", "refusal"),
    [
        (HTMLResponse("Who?", 401), Unauthenticated),
        (JSONResponse({"error": "invalid_token", "error_description": "Gone."}, 401), Unauthenticated),
        (HTMLResponse("Slow down.", 429), RateLimited),
        (JSONResponse({"error": {"code": "brand_new", "message": "No."}}, 400), InvalidRequest),
        (JSONResponse({"error": {"code": "brand_new", "message": "No."}}, 403), PermissionDenied),
        (JSONResponse({"error": {"code": "brand_new", "message": "No."}}, 404), NotFound),
        (JSONResponse({"error": {"code": "brand_new", "message": "No."}}, 507), ServerTrouble),
    ],
)
def test_a_status_says_what_an_unknown_refusal_means(
    hostile: Hostile, response: Response, refusal: type[PdppError]
) -> None:
    assert type(hostile.refusal(response)) is refusal


@requirement("port.network.token-stays")
def test_a_redirect_is_not_followed(hostile: Hostile) -> None:
    thief = Foreign()
    with served(thief.app()) as elsewhere:
        hostile.refusal(RedirectResponse(f"{elsewhere}/v1/search?q=x"))

    assert thief.asked == []


@requirement("port.network.token-stays")
def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    thief = Foreign()
    with served(thief.app()) as proxy, served(Foreign().app()) as address:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy)
        with reader_at(address) as reader:
            assert len(reader.search(SearchQuery("gate")).value.hits) == 2

    assert thief.asked == []


@requirement("port.network.trouble-named")
def test_a_server_that_is_away_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with reader_at(f"http://127.0.0.1:{port}") as reader, pytest.raises(SourceUnavailable) as refused:
        reader.schema(SchemaQuery())

    assert refused.value.message == f"The server 127.0.0.1:{port} cannot be reached, or broke off."


@requirement("port.network.trouble-named")
def test_a_server_without_tls_behind_an_https_address_is_named() -> None:
    with (
        served(Foreign().app()) as address,
        reader_at(address.replace("http:", "https:")) as reader,
        pytest.raises(SourceUnavailable) as refused,
    ):
        reader.schema(SchemaQuery())

    assert "cannot prove who it is" in refused.value.message


@requirement("port.network.same-refusals")
def test_every_refusal_of_the_table_arrives_as_itself(hostile: Hostile) -> None:
    for refusal in CLASSES.values():
        sent = refusal("Why it is refused.", param="stream", candidates=(Candidate("cin_a", "slack", "grt_1", "Work"),))
        got = hostile.refusal(JSONResponse(encode(sent, request_id="req_1"), sent.status), named=False)

        assert type(got) is refusal
        assert (got.message, got.param, got.remedy, got.candidates, got.request_id) == (
            *(sent.message, sent.param, sent.remedy, sent.candidates, "req_1"),
        )
