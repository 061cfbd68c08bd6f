"""The server of one owner, put together: the only file that knows every part."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from pdpp_server.authorization_server.app import AuthorizationServer
from pdpp_server.authorization_server.documents import Documents
from pdpp_server.authorization_server.way_out import Fetch
from pdpp_server.console.app import Console, is_owner, trouble_page
from pdpp_server.console.bringing import told
from pdpp_server.console.desks import Desks
from pdpp_server.http.headers import Front, bearer_of, package_headers
from pdpp_server.http.heard import HeardRequest
from pdpp_server.http.hosts import TrustedHosts
from pdpp_server.http.kernel import AtOnce, Kernel
from pdpp_server.http.logs import log_bug
from pdpp_server.http.metrics import Metrics, watch
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
from pdpp_server.owner.sign_in import HouseSignIn, SignIn
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import Services, open_services
from pdpp_server.resource_server.app import ResourceServer
from pdpp_server.resource_server.separate import Separate
from pdpp_server.settings import Settings, machine_zone
from pdpp_server.store.engine import Database
from pdpp_server.store.opened import database_of


class OwnApp(Starlette):
    """The server of one owner."""

    def __init__(
        self,
        settings: Settings,
        opened: Services,
        fetch: Fetch | None = None,
        *,
        closes: bool,
        threads: Threads | None = None,
        asks_name: Callable[[], bool] = lambda: False,
        is_house: bool = False,
        metrics: Metrics | None = None,
    ) -> None:
        self._opened, self._closes, self._own_threads = opened, closes, threads is None
        self._elsewhere = Separate(settings.introspecting, opened.now) if settings.introspecting else None
        opened.watch = watch
        opened.core_strict = settings.core_strict
        opened.introspect = self._elsewhere.rights if self._elsewhere else None
        self._documents = Documents(proxy=settings.https_proxy)
        self.rates = rates = Rates(
            settings.rate_per_second,
            settings.rate_burst,
            opened.now,
            opened.ledger("rates"),
            settings.owner_requests_per_second,
        )
        self._desks = replace(desks_of(opened, settings), asks_name=asks_name)
        if is_house:
            self._desks = replace(self._desks, sign_in=HouseSignIn(opened))
        desks, self._threads = self._desks, threads or Threads(reads_wait=opened.waits)
        kernel = Kernel(
            settings, rates, self._threads, opened.now, metrics or Metrics(), show=partial(trouble_page, desks)
        )
        self._kernel = kernel
        self._mcp = HostedMcp(McpServer(TOOLS, log_bug), kernel, admitting(opened, kernel))
        doors = (
            self._mcp,
            AuthorizationServer(opened, kernel, fetch or self._documents.fetch, partial(is_owner, desks)),
            Console(desks, kernel),
            ResourceServer(opened, kernel),
        )
        super().__init__(
            routes=[route for door in doors for route in door.routes()],
            exception_handlers={HTTPException: kernel.refuse_unrouted},
            lifespan=closing,
        )
        self.router.redirect_slashes = False
        self.state.sign_in = desks.sign_in

    def build_middleware_stack(self) -> ASGIApp:
        """Ours comes first: whatever Starlette answers by itself is an answer too. Agents ask most, and are found at
        once."""
        agents = {route.path: route.app for route in self._mcp.routes()}
        at_once = AtOnce(super().build_middleware_stack(), agents)
        front = Front(TrustedHosts(at_once, self._kernel))
        proxies = self._kernel.settings.trusted_proxies
        return Visitors(front, proxies) if proxies else front

    async def refuse(self, error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
        """What went wrong before it was known who should answer."""

        async def refused(scope: Scope, receive: Receive, send: Send) -> None:
            response = await self._kernel.refuse(HeardRequest(scope, receive), error)
            await response(scope, receive, send)

        await Front(refused)(scope, receive, send)

    def begin(self) -> None:
        self.rates.begin()

    @property
    def is_idle(self) -> bool:
        """Whether nothing goes on beside requests."""
        return self._desks.uploads.is_idle

    def close(self) -> None:
        self.rates.close()
        self._desks.uploads.close()
        if self._own_threads:
            self._threads.close()
        self._documents.close()
        if self._elsewhere:
            self._elsewhere.close()
        if self._closes:
            self._opened.close()


class Lasting(Protocol):
    def begin(self) -> None: ...

    def close(self) -> None: ...


@asynccontextmanager
async def closing(app: Lasting) -> AsyncGenerator[None, None]:
    app.begin()
    yield
    app.close()


def services_of(settings: Settings) -> Services:
    return services_on(database_of(settings), settings)


def services_on(database: Database, settings: Settings) -> Services:
    return open_services(
        settings.home,
        now=lambda: datetime.now(UTC),
        change_history_limit=settings.change_history_limit,
        keep_asked=settings.keep_asked,
        database=database,
        is_one_of_many=settings.workers > 1,
    )


def admitting(services: Services, kernel: Kernel) -> Callable[[HeardRequest], Awaitable[Admitted]]:
    """Agents over HTTP: each call reads with the bearer of its own request.

    A stranger is turned away before the body is read. A token that was good before is settled once, in the snapshot of
    its read, or before the answer leaves where nothing was read.
    """
    asks_elsewhere = services.introspect is not None

    async def admit(request: HeardRequest) -> Admitted:
        address = kernel.origin_of(request)  # of a trusted host: others were turned away before
        reader = LocalReader(services, bearer_of(request.headers), address, request.course.request_id)
        if reader.is_remembered and not asks_elsewhere:
            return Admitted(reader, unsettled=reader)
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
        Uploads(owner, settings.home, zone, services.now, told=told, is_one_of_many=services.is_one_of_many),
        settings.upload_bytes,
        settings.language,
    )
