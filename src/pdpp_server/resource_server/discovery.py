"""GET / and GET /.well-known/oauth-protected-resource, also of /mcp."""

from functools import cache
from importlib.metadata import version

from starlette.requests import Request

from pdpp_server.http.headers import check_version
from pdpp_server.http.kernel import slash_of
from pdpp_server.resource_server.endpoint import Inside
from pdpp_server.wire import discovery as wire
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.params import Params


def index(inside: Inside, request: Request) -> Json:
    require_bare(request)
    origin = inside.kernel.origin_of(request)
    return wire.encode_index(origin, inside.kernel.settings.authorization_server or origin, _revision())


@cache
def _revision() -> str:
    """What answers here, in the words of its release."""
    return f"pdpp-server {version('pdpp-server')}"


def protected_resource(inside: Inside, request: Request) -> Json:
    require_bare(request)
    settings, origin = inside.kernel.settings, inside.kernel.origin_of(request)
    meaning = inside.services.meaning
    return wire.encode_resource(
        origin,
        settings.authorization_server or origin,
        core_strict=settings.core_strict,
        by_meaning=meaning is not None and meaning.is_installed,
    )


def mcp_resource(inside: Inside, request: Request) -> Json:
    require_bare(request)
    origin, slash = inside.kernel.origin_of(request), slash_of(request)
    if issuer := inside.kernel.settings.authorization_server:
        return wire.encode_mcp_resource(origin, issuer, slash, wire.TOLD_TOKEN_KINDS)
    return wire.encode_mcp_resource(origin, origin, slash)


def require_bare(request: Request) -> None:
    """Of a version that we speak, and without parameters."""
    check_version(request.headers)
    Params.parse(request.scope["query_string"]).only()
