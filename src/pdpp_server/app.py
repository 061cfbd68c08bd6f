"""The composition root: settings in, one ASGI app out. The only file that knows every part."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request

from pdpp_server.authorization_server.app import AuthorizationServer
from pdpp_server.authorization_server.documents import Documents
from pdpp_server.authorization_server.way_out import Fetch
from pdpp_server.console.app import Console, is_owner, trouble_page
from pdpp_server.console.desks import Desks
from pdpp_server.http.headers import Front, bearer_of, package_headers
from pdpp_server.http.hosts import TrustedHosts
from pdpp_server.http.kernel import Kernel
from pdpp_server.http.logs import log_bug, write_to_stderr
from pdpp_server.http.metrics import watch
from pdpp_server.http.rate import Rates
from pdpp_server.http.threads import Threads
from pdpp_server.http.visitors import Visitors
from pdpp_server.importers.uploads import Uploads
from pdpp_server.mcp.http import Admitted, HostedMcp
from pdpp_server.mcp.server import McpServer
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.owner.consent import ConsentDesk
from pdpp_server.owner.desk import Owner
from pdpp_server.owner.own_reader import OwnReads
from pdpp_server.owner.sign_in import SignIn
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import Services, open_services
from pdpp_server.resource_server.app import ResourceServer
from pdpp_server.resource_server.separate import Separate
from pdpp_server.settings import Settings, machine_zone
from pdpp_server.store.opened import database_of


def create_app(settings: Settings, services: Services | None = None, fetch: Fetch | None = None) -> Starlette:
    """The whole server. Services that it opened itself it also closes. `fetch` reads what clients say of themselves."""
    write_to_stderr()
    opened = services or services_of(settings)
    elsewhere = Separate(settings.introspecting, opened.now) if settings.introspecting else None
    opened.watch = watch
    opened.core_strict = settings.core_strict
    opened.introspect = elsewhere.rights if elsewhere else None
    documents = Documents(proxy=settings.https_proxy)
    rates = Rates(settings.rate_per_second, settings.rate_burst, opened.now, opened.ledger("rates"))
    desks = desks_of(opened, settings)
    threads = Threads(reads_wait=opened.waits)
    kernel = Kernel(settings, rates, threads, show=partial(trouble_page, desks))
    doors = (  # routes are tried in turn, and agents ask most: theirs is first
        HostedMcp(McpServer(TOOLS, log_bug), kernel, admitting(opened, kernel)),
        AuthorizationServer(opened, kernel, fetch or documents.fetch, partial(is_owner, desks)),
        Console(desks, kernel),
        ResourceServer(opened, kernel),
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None, None]:
        rates.begin()
        yield
        rates.close()
        desks.uploads.close()
        kernel.threads.close()
        documents.close()
        if elsewhere:
            elsewhere.close()
        if services is None:
            opened.close()

    proxies = settings.trusted_proxies
    proxied = [Middleware(Visitors, proxies=proxies)] if proxies else []
    app = Starlette(
        routes=[route for door in doors for route in door.routes()],
        middleware=[*proxied, Middleware(Front), Middleware(TrustedHosts, kernel=kernel)],
        exception_handlers={HTTPException: kernel.refuse},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.sign_in = desks.sign_in
    return app


def services_of(settings: Settings) -> Services:
    return open_services(
        settings.home,
        now=lambda: datetime.now(UTC),
        change_history_limit=settings.change_history_limit,
        keep_asked=settings.keep_asked,
        database=database_of(settings),
        is_one_of_many=settings.workers > 1,
    )


def admitting(services: Services, kernel: Kernel) -> Callable[[Request], Awaitable[Admitted]]:
    """Agents over HTTP: each call reads with the bearer of its own request.

    A stranger is turned away before the body is read. A token that was good before is settled once, in the snapshot of
    its read, or before the answer leaves where nothing was read.
    """
    asks_elsewhere = services.introspect is not None

    async def admit(request: Request) -> Admitted:
        address = kernel.origin_of(request)  # of a trusted host: others were turned away before
        reader = LocalReader(services, bearer_of(request.headers), address, request.state.request_id)
        if reader.is_remembered and not asks_elsewhere:
            return Admitted(reader, settle=reader.settle)
        holder = await kernel.threads.point_read(request, reader.require_access)
        return Admitted(reader, package_headers(holder))

    return admit


def desks_of(services: Services, settings: Settings) -> Desks:
    """Everything that the owner's pages ask, on this server."""
    owner, zone = Owner(services, settings.home), machine_zone()
    return Desks(
        SignIn(services),
        owner,
        OwnReads(services, settings.public_url),
        ConsentDesk(services),
        settings.public_url,
        settings.authorization_server,
        services.now,
        zone,
        Uploads(owner, settings.home, zone, services.now),
        settings.upload_bytes,
        settings.language,
    )
