"""One request as its handler sees it."""

from dataclasses import dataclass, field

from starlette.datastructures import Headers

from pdpp_server.http.headers import bearer_of, check_version
from pdpp_server.http.heard import HeardRequest
from pdpp_server.reads.services import Call
from pdpp_server.wire.params import Params, decode_segment


@dataclass(frozen=True, slots=True)
class AskedOverHttp:
    call: Call
    params: Params
    links_self: str
    stream: str = ""
    key: str = ""
    name: str = ""  # of whatever else a path names: a connector, a blob
    body: bytes = b""
    headers: Headers = field(default_factory=Headers)
    method: str = "GET"


def asked_of(request: HeardRequest) -> AskedOverHttp:
    """The version is looked at first, then the token, and only then what is asked."""
    check_version(request.headers)
    call = Call(bearer_of(request.headers), request.course.request_id)
    query: bytes = request.scope["query_string"]
    path: str = request.scope["path"]
    named = {name: decode_segment(value) for name, value in request.path_params.items()}
    return AskedOverHttp(
        call,
        Params.parse(query),
        f"{path}?{query.decode('latin-1')}" if query else path,
        named.pop("stream", ""),
        named.pop("key", ""),
        next(iter(named.values()), ""),
        headers=request.headers,
        method=request.method,
    )
