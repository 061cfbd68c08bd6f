"""The names that this server answers to, and the pages that may ask it from a browser."""

import re
from collections.abc import Awaitable
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from pdpp_server.errors import Misdirected, PdppError, PermissionDenied
from pdpp_server.http.heard import HEADERS, HeardRequest
from pdpp_server.http.kernel import Kernel
from pdpp_server.settings import Settings
from pdpp_server.wire.discovery import MCP, REGISTER, RESOURCE_METADATA, SERVER_METADATA, TOKEN

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
# What a client that runs in a page asks for itself. None of it knows cookies, so a page can do nothing here that any
# program cannot; the owner's pages stay closed to all others.
DOCUMENTS = (RESOURCE_METADATA, SERVER_METADATA)
OF_PAGES = frozenset({MCP, REGISTER, TOKEN, *DOCUMENTS, *(f"{document}{MCP}" for document in DOCUMENTS)})

_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::[0-9]{1,5})?", re.IGNORECASE)
_SCHEME = re.compile(r"\Ahttps?://")
_ORIGIN_REMEDY = "The owner can name its host in PDPP_TRUSTED_HOSTS."


def known_hosts(settings: Settings) -> frozenset[str]:
    public = urlsplit(settings.public_url or "").hostname
    return LOOPBACK | {*settings.trusted_hosts} | ({public} if public else set[str]())


class TrustedHosts:
    """Only hosts that this server is known by are answered, so that no page reaches it under a name of its own; and no
    page of another site reaches the MCP endpoint. Pages of hosts that are known may read what clients are told."""

    def __init__(self, app: ASGIApp, kernel: Kernel) -> None:
        self.app, self.kernel = app, kernel
        told = ["WWW-Authenticate"]
        self.pages = CORSMiddleware(app, ["*"], allow_methods=["GET", "POST"], allow_headers=["*"], expose_headers=told)
        self.hosts = known_hosts(kernel.settings)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] != "http":
            return self.app(scope, receive, send)
        headers: Headers = scope[HEADERS]
        if not self._are_known(headers.getlist("host")):  # nor without one, nor with a malformed one
            return self._refuse(Misdirected("This server does not answer for that host."), scope, send)
        if origins := headers.getlist("origin"):
            return self._answer_page(origins, scope, receive, send)
        return self.app(scope, receive, send)

    def _answer_page(self, origins: list[str], scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        path, is_ours = scope["path"], self._are_known([_SCHEME.sub("", origin) for origin in origins])
        if path == MCP and not is_ours:
            strange = PermissionDenied("A page of that origin may not ask here.", remedy=_ORIGIN_REMEDY)
            return self._refuse(strange, scope, send)
        answer = self.pages if is_ours and path in OF_PAGES else self.app
        return answer(scope, receive, send)

    async def _refuse(self, refusal: PdppError, scope: Scope, send: Send) -> None:
        request = HeardRequest(scope)
        answer = await self.kernel.refuse(request, refusal)
        await answer(scope, request.receive, send)

    def _are_known(self, hosts: list[str]) -> bool:
        return len(hosts) == 1 and _name_of(hosts[0]) in self.hosts


@lru_cache(maxsize=100)  # who asks again names the same
def _name_of(host: str) -> str | None:
    named = _HOST.fullmatch(host)
    return (named[1] or named[2]).lower() if named else None
