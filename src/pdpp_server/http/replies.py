"""What a handler gives, as a response."""

import orjson
from starlette.responses import Response

from pdpp_server.wire.envelope import Json


def reply(answer: Json | Response | None) -> Response:
    if answer is None:
        return Response(status_code=204)
    return answer if isinstance(answer, Response) else json_reply(answer)


def json_reply(body: Json, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """The same for HEAD: what sends it leaves the body out."""
    return Response(orjson.dumps(body, default=dict), status, headers, "application/json")
