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
    origin = origin_of(inside.settings, request)
    return wire.encode_index(origin, inside.settings.authorization_server or origin)


def protected_resource(inside: Inside, request: Request) -> Json:
    require_bare(request)
    settings, origin = inside.settings, origin_of(inside.settings, request)
    return wire.encode_resource(origin, settings.authorization_server or origin, core_strict=settings.core_strict)


def mcp_resource(inside: Inside, request: Request) -> Json:
    require_bare(request)
    origin, slash = origin_of(inside.settings, request), slash_of(request)
    if issuer := inside.settings.authorization_server:
        return wire.encode_mcp_resource(origin, issuer, slash, wire.TOLD_TOKEN_KINDS)
    return wire.encode_mcp_resource(origin, origin, slash)


def origin_of(settings: Settings, request: Request) -> str:
    """The address under which this server is known: the public one, else the one that was asked."""
    return settings.public_url or str(request.base_url).rstrip("/")


def slash_of(request: Request) -> str:
    """The slash at the end of the MCP endpoint's address, if it was typed: requests are routed without it."""
    return "/" if request.scope["raw_path"].decode("latin-1") in wire.WITH_SLASH else ""


def require_bare(request: Request) -> None:
    """Of a version that we speak, and without parameters."""
    check_version(request.headers)
    Params.parse(request.scope["query_string"]).only()
