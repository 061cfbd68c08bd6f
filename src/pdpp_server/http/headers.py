"""Request-Id, PDPP-Version, Cache-Control, and the challenge of a 401."""

import os
import re
from collections.abc import Awaitable
from functools import partial
from time import perf_counter

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pdpp_server.errors import (
    GrantExpired,
    GrantInvalid,
    GrantRevoked,
    PackageRevoked,
    PdppError,
    RangeNotSatisfiable,
    Unauthenticated,
    UnsupportedVersion,
)
from pdpp_server.http.heard import COURSE, HEADERS, Course, NamedHeaders
from pdpp_server.model.grants import Holder
from pdpp_server.store.digests import token_digest
from pdpp_server.wire.discovery import WITH_SLASH
from pdpp_server.wire.envelope import VERSION
from pdpp_server.wire.oauth import READ_SCOPE

_VERSION = (b"pdpp-version", VERSION.encode())
_PRIVATE = (b"cache-control", b"private, no-store")
_ENDED = (GrantExpired, GrantInvalid, GrantRevoked, PackageRevoked)
_REQUEST_ID = re.compile(r"(?=[\x20-\x7e]{1,128}\Z)\S(?:.*\S)?")


class Front:
    """What every answer passes: it gets its request id, our version, and no leave to be kept by a cache."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] != "http":
            return self.app(scope, receive, send)
        headers = NamedHeaders(list(scope["headers"]))
        course = Course(request_id_of(headers), perf_counter())
        # Routes are matched on the path as it was sent, so that an encoded slash stays inside its segment.
        path = scope["raw_path"].decode("latin-1")
        heard = {**scope, "path": WITH_SLASH.get(path, path), HEADERS: headers, COURSE: course}
        return self.app(heard, receive, partial(_send_with_headers, send, course.request_id.encode("latin-1")))


def _send_with_headers(send: Send, request_id: bytes, message: Message) -> Awaitable[None]:
    if message["type"] == "http.response.start":
        headers = message["headers"] = list(message["headers"])
        if _PRIVATE[0] not in dict(headers):
            headers.append(_PRIVATE)
        headers += ((b"request-id", request_id), (b"x-request-id", request_id), _VERSION)
    return send(message)


def request_id_of(headers: Headers) -> str:
    """The caller's own, if it can stand in a header and a log; else a new one."""
    given = headers.get("request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else f"req_{os.urandom(12).hex()}"


def bearer_of(headers: Headers) -> str:
    """The token of the Authorization header, which must be there."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated("This needs a bearer token in the Authorization header.")
    return token.strip()


def token_of(request: Request) -> str | None:
    """Which token it is, the same in every process; the token itself is kept nowhere."""
    try:
        return token_digest(bearer_of(request.headers)).hex()
    except Unauthenticated:
        return None


def package_headers(holder: Holder) -> dict[str, str] | None:
    """Of how many grants that are alive a package is made; of a single grant there is nothing to say."""
    if holder.package_id is None:
        return None
    members = str(len(holder.grants))
    return {"x-pdpp-grant-package-id": holder.package_id, "x-pdpp-grant-package-member-count": members}


def check_version(headers: Headers) -> None:
    if headers.get("pdpp-version", VERSION) != VERSION:
        raise UnsupportedVersion(f"This server speaks PDPP-Version {VERSION}.", param="PDPP-Version")


def refusal_headers(refusal: PdppError, resource_metadata: str, icon: str, *, had_token: bool) -> dict[str, str]:
    """RFC 6750: the challenge names a fault only where there was a token to find fault with.

    Where the owner's grant is over, the token is good but gives nothing: clients that are told so ask the owner anew.
    """
    where = f'resource_metadata="{resource_metadata}", scope="{READ_SCOPE}"'
    if isinstance(refusal, _ENDED):
        said = 'error="insufficient_scope", error_description="The grant of the owner has ended."'
        return {"WWW-Authenticate": f"Bearer {said}, {where}"}
    if isinstance(refusal, RangeNotSatisfiable):
        return {"Content-Range": f"bytes */{refusal.size}"}
    if not isinstance(refusal, Unauthenticated):
        return {}
    fault = 'error="invalid_token", ' if had_token else ""
    return {
        "WWW-Authenticate": f"Bearer {fault}{where}",
        "Link": f'<{icon}>; rel="icon"; type="image/svg+xml"',
    }
