"""GET / and GET /.well-known/oauth-protected-resource, also of /mcp."""

from starlette.requests import Request

from pdpp_server.resource_server.endpoint import Inside
from pdpp_server.resource_server.headers import check_version
from pdpp_server.settings import Settings
from pdpp_server.wire import discovery as wire
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.params import Params


def index(inside: Inside, request: Request) -> Json:
    require_bare(request)
    return wire.encode_index(origin_of(inside.settings, request))


def protected_resource(inside: Inside, request: Request) -> Json:
    require_bare(request)
    settings = inside.settings
    return wire.encode_resource(origin_of(settings, request), core_strict=settings.core_strict)


def mcp_resource(inside: Inside, request: Request) -> Json:
    require_bare(request)
    return wire.encode_mcp_resource(origin_of(inside.settings, request))


def origin_of(settings: Settings, request: Request) -> str:
    """The address under which this server is known: the public one, else the one that was asked."""
    return settings.public_url or str(request.base_url).rstrip("/")


def require_bare(request: Request) -> None:
    """Of a version that we speak, and without parameters."""
    check_version(request.headers)
    Params.parse(request.scope["query_string"]).only()
