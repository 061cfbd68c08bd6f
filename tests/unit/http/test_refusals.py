"""Any trouble as a refusal with its status."""

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from pdpp_server.errors import RateLimited, ServerTrouble
from pdpp_server.http.refusals import refusal_of


async def nothing(_: Request) -> Response:
    return Response()


def request(method: str = "GET", path: str = "/a") -> Request:
    routes = [Route("/a", nothing, methods=["GET"]), Route("/a", nothing, methods=["POST"]), Route("/b", nothing)]
    return Request({"type": "http", "method": method, "path": path, "headers": [], "app": Starlette(routes=routes)})


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (HTTPException(404), 404, "There is nothing at this address."),
        (HTTPException(406, "Only JSON."), 406, "Only JSON."),
        (ClientDisconnect(), 400, "The body ended before its end."),
        (
            KeyError("the text of a record"),
            500,
            "Something went wrong here; the request id finds it in the server's log.",
        ),
    ],
)
def test_trouble_has_a_status_and_a_sentence_and_a_bug_tells_nothing_of_itself(
    error: Exception, status: int, says: str
) -> None:
    refusal, told, headers = refusal_of(error, request())
    assert (refusal.message, told, headers) == (says, status, {})


def test_a_bug_is_trouble_of_ours() -> None:
    assert type(refusal_of(ValueError(), request())[0]) is ServerTrouble


def test_a_wrong_method_is_told_every_right_one() -> None:
    error = HTTPException(405, headers={"Allow": "GET"})
    refusal, status, headers = refusal_of(error, request("DELETE"))
    assert (refusal.message, status) == ("This address takes GET, HEAD, POST only.", 405)
    assert headers == {"Allow": "GET, HEAD, POST"}
    assert refusal_of(error, request("DELETE", "/elsewhere"))[2] == {"Allow": "GET"}


def test_a_refusal_of_ours_says_when_to_come_again() -> None:
    refusal = RateLimited("Slowly.")
    assert refusal_of(refusal, request()) == (refusal, refusal.status, {"Retry-After": "1"})
