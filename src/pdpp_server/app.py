"""The composition root: settings in, one ASGI app out. The only file that knows every part."""

import re
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from pdpp_server.errors import Misdirected
from pdpp_server.reads.services import Services, open_services
from pdpp_server.resource_server.app import READER_THREADS, ResourceServer
from pdpp_server.resource_server.headers import Front
from pdpp_server.resource_server.logs import write_to_stderr
from pdpp_server.resource_server.metrics import Metrics, watch
from pdpp_server.resource_server.probes import LOOPBACK
from pdpp_server.settings import Settings

_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::[0-9]{1,5})?", re.IGNORECASE)


def create_app(settings: Settings, services: Services | None = None) -> Starlette:
    """The whole server. Services that it opened itself it also closes."""
    write_to_stderr()
    opened = services or open_services(
        settings.home,
        now=lambda: datetime.now(UTC),
        log_sync=settings.log_sync,
        read_seconds=settings.read_deadline_ms / 1000,
    )
    opened.watch = watch
    opened.core_strict = settings.core_strict
    readers = ThreadPoolExecutor(READER_THREADS, "reader")
    writer = ThreadPoolExecutor(1, "writer")
    server = ResourceServer(opened, settings, Metrics(), readers, writer)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None, None]:
        yield
        readers.shutdown()
        writer.shutdown()
        if services is None:
            opened.close()

    app = Starlette(
        routes=server.routes(),
        middleware=[Middleware(Front), Middleware(TrustedHosts, server=server)],
        exception_handlers={HTTPException: server.refuse},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


class TrustedHosts:
    """Only hosts that this server is known by are answered, so that no page reaches it under a name of its own."""

    def __init__(self, app: ASGIApp, server: ResourceServer) -> None:
        settings = server.settings
        public = urlsplit(settings.public_url or "").hostname
        self.app, self.server = app, server
        self.hosts = LOOPBACK | {*settings.trusted_hosts} | ({public} if public else set[str]())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._is_trusted(request := Request(scope)):
            response = await self.server.refuse(request, Misdirected("This server does not answer for that host."))
            await response(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _is_trusted(self, request: Request) -> bool:
        """Decided by the header itself: without one, or with a malformed one, nothing is answered."""
        named = [_HOST.fullmatch(host) for host in request.headers.getlist("host")]
        return len(named) == 1 and named[0] is not None and (named[0][1] or named[0][2]).lower() in self.hosts
