"""The composition root: settings in, one ASGI app out. The only file that knows every part."""

from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from threading import Event, Lock, Thread
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import Receive, Scope, Send

from pdpp_server.authorization_server.app import AuthorizationServer
from pdpp_server.authorization_server.documents import Documents
from pdpp_server.authorization_server.way_out import Fetch
from pdpp_server.console.app import Console, is_owner, trouble_page
from pdpp_server.console.desks import Desks
from pdpp_server.errors import PdppError
from pdpp_server.http.by_owner import Arrival, ByOwner, arrival
from pdpp_server.http.headers import Front, bearer_of, package_headers
from pdpp_server.http.hosts import TrustedHosts
from pdpp_server.http.kernel import Kernel
from pdpp_server.http.logs import log_bug, write_to_stderr
from pdpp_server.http.metrics import Metrics, watch
from pdpp_server.http.rate import TOLD_EVERY_SECONDS, Rates
from pdpp_server.http.threads import Threads
from pdpp_server.http.visitors import Visitors
from pdpp_server.importers.uploads import Uploads
from pdpp_server.mcp.http import Admitted, HostedMcp
from pdpp_server.mcp.server import McpServer
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.model.owners import HOUSE
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
from pdpp_server.store.opened import chosen_owner, database_of, open_owners
from pdpp_server.wire.discovery import AUTHORIZE

APPS_MAX = 500  # owners whose app is kept ready
OF_NOBODY = {"/livez", "/readyz", "/healthz", "/metrics"}  # what is asked of the process


def create_app(settings: Settings, services: Services | None = None, fetch: Fetch | None = None) -> Starlette:
    """The whole server. Services that it opened itself it also closes. `fetch` reads what clients say of themselves.

    On a database it serves all owners in it, unless one is named.
    """
    write_to_stderr()
    if services is None and settings.database_url is not None and settings.owner is None:
        return OwnersApp(settings, fetch)
    return OwnApp(settings, services or services_of(settings), fetch, closes=services is None)


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
        kernel = Kernel(settings, rates, self._threads, metrics or Metrics(), show=partial(trouble_page, desks))
        self._kernel = kernel
        doors = (  # routes are tried in turn, and agents ask most: theirs is first
            HostedMcp(McpServer(TOOLS, log_bug), kernel, admitting(opened, kernel)),
            AuthorizationServer(opened, kernel, fetch or self._documents.fetch, partial(is_owner, desks)),
            Console(desks, kernel),
            ResourceServer(opened, kernel),
        )
        proxies = settings.trusted_proxies
        proxied = [Middleware(Visitors, proxies=proxies)] if proxies else []
        super().__init__(
            routes=[route for door in doors for route in door.routes()],
            middleware=[*proxied, Middleware(Front), Middleware(TrustedHosts, kernel=kernel)],
            exception_handlers={HTTPException: kernel.refuse},
            lifespan=_closing,
        )
        self.router.redirect_slashes = False
        self.state.sign_in = desks.sign_in

    async def refuse(self, error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
        """What went wrong before it was known who should answer."""

        async def refused(scope: Scope, receive: Receive, send: Send) -> None:
            response = await self._kernel.refuse(Request(scope, receive), error)
            await response(scope, receive, send)

        await Front(refused)(scope, receive, send)

    def begin(self) -> None:
        self.rates.begin()

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


class OwnersApp(Starlette):
    """The server of everybody who has a share of a database: each request is answered by the app of its owner.

    Whoever is nobody's yet comes into the house: it lets clients register, and asks people for their names. The apps of
    those who came last are kept ready.
    """

    def __init__(self, settings: Settings, fetch: Fetch | None = None) -> None:
        super().__init__(lifespan=_closing)
        self._settings, self._fetch = settings, fetch
        self._owners = open_owners(settings)
        chosen = None if len(self._owners.every()) > 1 else chosen_owner(self._owners, None)
        self._by_owner = ByOwner(self._owners)
        self._threads = Threads(reads_wait=True)
        self._apps: OrderedDict[int, OwnApp] = OrderedDict()
        self._making, self._metrics, self._stopping = Lock(), Metrics(), Event()
        self._telling = Thread(target=self._tell_now_and_then, name="rates", daemon=True)
        self._app(HOUSE)
        self.state.sign_in = self._app(HOUSE if chosen is None else chosen.number).state.sign_in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        house = self._apps[HOUSE]
        if scope["path"] in OF_NOBODY:
            await house(scope, receive, send)
            return
        arrived = await arrival(scope, receive)
        try:
            app = await self._threads.flow(partial(self._app_for, scope["path"], arrived))
        except PdppError as refusal:
            await house.refuse(refusal, scope, arrived.receive, send)
            return
        if app is house and (scope["path"], scope["method"]) == (AUTHORIZE, "GET"):
            to = quote(f"{scope['path']}?{scope['query_string'].decode('latin-1')}", safe="")
            await RedirectResponse(f"/sign-in?next={to}", 303)(scope, arrived.receive, send)
            return
        await app(scope, arrived.receive, send)

    def begin(self) -> None:
        self._telling.start()

    def close(self) -> None:
        self._stopping.set()
        if self._telling.is_alive():
            self._telling.join()
        for app in self._apps.values():
            app.close()
        self._threads.close()
        self._owners.close()

    def _tell_now_and_then(self) -> None:
        """One thread for the rates of all owners. Of who was removed meanwhile nothing is written down again."""
        while not self._stopping.wait(TOLD_EVERY_SECONDS):
            for number, app in list(self._apps.items()):
                if app.rates.has_news:
                    with suppress(PdppError):  # told later
                        self._tell(number, app)

    def _tell(self, number: int, app: OwnApp) -> None:
        if number == HOUSE or self._owners.numbered(number) is not None:
            app.rates.tell()
            return
        with self._making:
            self._apps.pop(number, None)
        self._by_owner.forget(number)

    def _app_for(self, path: str, arrived: Arrival) -> OwnApp:
        return self._app(self._by_owner.number_of(path, arrived))

    def _app(self, number: int) -> OwnApp:
        with self._making:
            app = self._apps.get(number)
            if app is None:
                if number != HOUSE and self._owners.numbered(number) is None:  # who was removed meanwhile
                    self._by_owner.forget(number)
                    return self._apps[HOUSE]
                app = self._apps[number] = self._made(number)
            self._apps.move_to_end(number)
            if HOUSE in self._apps:
                self._apps.move_to_end(HOUSE)
            while len(self._apps) > APPS_MAX:
                self._apps.popitem(last=False)
            return app

    def _made(self, number: int) -> OwnApp:
        """Threads and numbers are those of the process."""
        database = self._owners.database(number)
        settings = replace(self._settings, home=database.path)
        return OwnApp(
            settings,
            services_on(database, settings),
            self._fetch,
            closes=True,
            threads=self._threads,
            asks_name=lambda: self._owners.sole() is None,
            is_house=number == HOUSE,
            metrics=self._metrics,
        )


@asynccontextmanager
async def _closing(app: OwnApp | OwnersApp) -> AsyncGenerator[None, None]:
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
