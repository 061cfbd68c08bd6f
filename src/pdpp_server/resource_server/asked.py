"""One request as its handler sees it."""

from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.requests import Request

from pdpp_server.errors import TooLarge
from pdpp_server.reads.services import Call
from pdpp_server.resource_server.headers import bearer_of, check_version
from pdpp_server.wire.params import Params, decode_segment


@dataclass(frozen=True, slots=True)
class Asked:
    call: Call
    params: Params
    links_self: str
    stream: str = ""
    key: str = ""
    name: str = ""  # of whatever else a path names: a connector, a blob
    body: bytes = b""
    headers: Headers = field(default_factory=Headers)
    method: str = "GET"


def asked_of(request: Request) -> Asked:
    """The version is looked at first, then the token, and only then what is asked."""
    check_version(request.headers)
    call = Call(bearer_of(request.headers), request.state.request_id)
    query: bytes = request.scope["query_string"]
    path: str = request.scope["path"]
    named = {name: decode_segment(value) for name, value in request.path_params.items()}
    return Asked(
        call,
        Params.parse(query),
        f"{path}?{query.decode('latin-1')}" if query else path,
        named.pop("stream", ""),
        named.pop("key", ""),
        next(iter(named.values()), ""),
        headers=request.headers,
        method=request.method,
    )


async def body_of(request: Request, most: int) -> bytes:
    """The body, while it is no longer than `most` bytes.

    Raises:
        TooLarge: it is, by its own word or by what arrived.
    """
    told = request.headers.get("content-length", "")
    _require_size(int(told) if told.isdigit() else 0, most)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        _require_size(len(body), most)
    return bytes(body)


def _require_size(size: int, most: int) -> None:
    if size > most:
        raise TooLarge(f"A body may have at most {most:,} bytes.", remedy="Send it in parts.")
