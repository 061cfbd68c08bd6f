"""What a handler gives, as a response: of what was read, only once its line is written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import orjson
from starlette.responses import Response

from pdpp_server.model.activity import NOTHING, Shown
from pdpp_server.model.pending import Leaving, Pending
from pdpp_server.wire.envelope import Json

JSON = "application/json"
_JSON_TYPE = (b"content-type", JSON.encode())


@dataclass(frozen=True, slots=True)
class Answered:
    """A read as it will be answered, what that shows, and what is told where only its headers leave.

    A response of its own says how many bytes it sends; `give_up` lets go of what it holds, where it may not leave.
    """

    body: Json | Response
    shown: Shown
    headers_show: Shown = NOTHING
    size: int = 0
    give_up: Callable[[], None] | None = None


# What was read and is still pending; what tells of no record: JSON, or nothing (204).
HandlerAnswer = Pending[Answered] | Json | None


def reply(answer: HandlerAnswer, method: str = "GET") -> Response:
    """The one place at which a read over HTTP leaves."""
    if answer is None:
        return Response(status_code=204)
    if not isinstance(answer, Pending):
        return json_reply(answer)
    try:
        return answer.leave(partial(_sent, method))
    except BaseException:
        answer.shaped(_given_up)
        raise


def json_reply(body: Json, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """The same for HEAD: what sends it leaves the body out."""
    return JsonBytes(orjson.dumps(body, default=dict), status, headers)


class JsonBytes(Response):
    """JSON that is written already. With no headers of its own, as of most answers, there is nothing to encode."""

    def __init__(self, body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        if headers:
            super().__init__(body, status, headers, JSON)
            return
        self.status_code, self.body, self.background = status, body, None
        self.raw_headers = [(b"content-length", b"%d" % len(body)), _JSON_TYPE]


def _sent(method: str, answered: Answered) -> Leaving[Response]:
    if isinstance(answered.body, Response):
        return Leaving(answered.body, answered.shown, answered.size)
    response = json_reply(answered.body)
    if method == "HEAD":
        return Leaving(response, answered.headers_show, 0)
    return Leaving(response, answered.shown, len(response.body))


def _given_up(answered: Answered) -> None:
    if answered.give_up:
        answered.give_up()
