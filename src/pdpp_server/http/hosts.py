"""The names that this server answers to, and the pages that may ask it from a browser."""

import re
from urllib.parse import urlsplit

from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from pdpp_server.errors import Misdirected, PdppError, PermissionDenied
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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        origins = [_SCHEME.sub("", origin) for origin in request.headers.getlist("origin")]
        is_ours = bool(origins) and self._are_known(origins)
        answer = self.pages if is_ours and scope["path"] in OF_PAGES else self.app
        if refusal := self._refusal(request, is_strange=bool(origins) and not is_ours):
            answer = await self.kernel.refuse(request, refusal)
        await answer(scope, receive, send)

    def _refusal(self, request: Request, *, is_strange: bool) -> PdppError | None:
        """Decided by the headers themselves: without a Host, or with a malformed one, nothing is answered."""
        if not self._are_known(request.headers.getlist("host")):
            return Misdirected("This server does not answer for that host.")
        if is_strange and request.scope["path"] == MCP:
            return PermissionDenied("A page of that origin may not ask here.", remedy=_ORIGIN_REMEDY)
        return None

    def _are_known(self, hosts: list[str]) -> bool:
        named = [_HOST.fullmatch(host) for host in hosts]
        return len(named) == 1 and named[0] is not None and (named[0][1] or named[0][2]).lower() in self.hosts
