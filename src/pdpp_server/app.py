"""The composition root: settings in, one ASGI app out. The only file that knows every part."""

import re
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from pdpp_server.errors import Misdirected, PdppError, PermissionDenied
from pdpp_server.mcp.http import BODY_BYTES, HostedMcp
from pdpp_server.mcp.server import McpServer
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import Services, open_services
from pdpp_server.resource_server.app import READER_THREADS, ResourceServer
from pdpp_server.resource_server.asked import body_of
from pdpp_server.resource_server.headers import Front, bearer_of
from pdpp_server.resource_server.logs import log_bug, write_to_stderr
from pdpp_server.resource_server.metrics import Metrics, watch
from pdpp_server.resource_server.probes import LOOPBACK
from pdpp_server.resource_server.rate import Rates
from pdpp_server.settings import Settings
from pdpp_server.wire.discovery import MCP

_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::[0-9]{1,5})?", re.IGNORECASE)
_SCHEME = re.compile(r"\Ahttps?://")
_ORIGIN_REMEDY = "The owner can name its host in PDPP_TRUSTED_HOSTS."


def create_app(settings: Settings, services: Services | None = None) -> Starlette:
    """The whole server. Services that it opened itself it also closes."""
    write_to_stderr()
    opened = services or open_services(
        settings.home,
        now=lambda: datetime.now(UTC),
        log_sync=settings.log_sync,
        read_seconds=settings.read_deadline_ms / 1000,
        change_history_limit=settings.change_history_limit,
    )
    opened.watch = watch
    opened.core_strict = settings.core_strict
    rates = Rates(settings.rate_per_second, settings.rate_burst, opened.now)
    readers = ThreadPoolExecutor(READER_THREADS, "reader")
    writer = ThreadPoolExecutor(1, "writer")
    server = ResourceServer(opened, settings, Metrics(), rates, readers, writer)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None, None]:
        yield
        readers.shutdown()
        writer.shutdown()
        if services is None:
            opened.close()

    app = Starlette(
        # Routes are tried in turn, and agents ask most: theirs is first.
        routes=[server.route(MCP, "mcp", hosted_mcp(server).answer), *server.routes()],
        middleware=[Middleware(Front), Middleware(TrustedHosts, server=server)],
        exception_handlers={HTTPException: server.refuse},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


def hosted_mcp(server: ResourceServer) -> HostedMcp:
    """The tools over HTTP, each call with the bearer of its own request."""

    def admit(request: Request) -> LocalReader:
        bearer, request_id = bearer_of(request.headers), request.state.request_id
        reader = LocalReader(server.services, bearer, server.settings.public_url, request_id)
        reader.require_access()
        return reader

    return HostedMcp(
        McpServer(TOOLS, log_bug), admit=admit, take_in=partial(body_of, most=BODY_BYTES), in_thread=server.in_thread
    )


class TrustedHosts:
    """Only hosts that this server is known by are answered, so that no page reaches it under a name of its own; and no
    page of another site reaches the MCP endpoint, which knows nothing of browsers."""

    def __init__(self, app: ASGIApp, server: ResourceServer) -> None:
        settings = server.settings
        public = urlsplit(settings.public_url or "").hostname
        self.app, self.server = app, server
        self.hosts = LOOPBACK | {*settings.trusted_hosts} | ({public} if public else set[str]())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := self._refusal(request := Request(scope))):
            response = await self.server.refuse(request, refusal)
            await response(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _refusal(self, request: Request) -> PdppError | None:
        """Decided by the headers themselves: without a Host, or with a malformed one, nothing is answered."""
        if not self._are_known(request.headers.getlist("host")):
            return Misdirected("This server does not answer for that host.")
        origins = [_SCHEME.sub("", origin) for origin in request.headers.getlist("origin")]
        if origins and request.scope["path"] == MCP and not self._are_known(origins):
            return PermissionDenied("A page of that origin may not ask here.", remedy=_ORIGIN_REMEDY)
        return None

    def _are_known(self, hosts: list[str]) -> bool:
        named = [_HOST.fullmatch(host) for host in hosts]
        return len(named) == 1 and named[0] is not None and (named[0][1] or named[0][2]).lower() in self.hosts
