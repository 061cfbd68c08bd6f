"""The composition root: settings in, one ASGI app out. The only file that knows every part."""

import re
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from pdpp_server.authorization_server.app import AuthorizationServer
from pdpp_server.authorization_server.clients import Fetch
from pdpp_server.authorization_server.documents import Documents
from pdpp_server.console.app import FORM_BYTES, Console
from pdpp_server.console.desks import Desks
from pdpp_server.errors import Misdirected, PdppError, PermissionDenied
from pdpp_server.mcp.http import BODY_BYTES, Admitted, HostedMcp
from pdpp_server.mcp.server import McpServer
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.owner.consent import ConsentDesk
from pdpp_server.owner.desk import Owner
from pdpp_server.owner.own_reader import OwnReads
from pdpp_server.owner.sign_in import SignIn
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import Services, open_services
from pdpp_server.resource_server import discovery
from pdpp_server.resource_server.app import READER_THREADS, ResourceServer
from pdpp_server.resource_server.asked import body_of
from pdpp_server.resource_server.headers import Front, bearer_of, package_headers
from pdpp_server.resource_server.logs import log_bug, write_to_stderr
from pdpp_server.resource_server.metrics import Metrics, watch
from pdpp_server.resource_server.probes import LOOPBACK
from pdpp_server.resource_server.rate import Rates
from pdpp_server.resource_server.separate import Separate
from pdpp_server.settings import Settings
from pdpp_server.wire.discovery import ICON, MCP, REGISTER, RESOURCE_METADATA, SERVER_METADATA, TOKEN
from pdpp_server.wire.oauth_requests import BODY_BYTES as OAUTH_BYTES

FLOW_THREADS = 4
WAITING_THREADS = 16  # where each read first waits for an authorization server elsewhere
# What a client that runs in a page asks for itself. None of it knows cookies, so a page can do nothing here that any
# program cannot; the owner's pages stay closed to all others.
DOCUMENTS = (RESOURCE_METADATA, SERVER_METADATA)
OF_PAGES = frozenset({MCP, REGISTER, TOKEN, *DOCUMENTS, *(f"{document}{MCP}" for document in DOCUMENTS)})
OF_CLIENTS = frozenset({"/consent", "/device", "/clients", "/clients/{grant_id}", "/connect"})

_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::[0-9]{1,5})?", re.IGNORECASE)
_SCHEME = re.compile(r"\Ahttps?://")
_ORIGIN_REMEDY = "The owner can name its host in PDPP_TRUSTED_HOSTS."


def create_app(settings: Settings, services: Services | None = None, fetch: Fetch | None = None) -> Starlette:
    """The whole server. Services that it opened itself it also closes. `fetch` reads what clients say of themselves."""
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
    asked = settings.introspecting
    elsewhere = Separate(asked, opened.now) if asked else None
    opened.introspect = elsewhere.rights if elsewhere else None
    rates = Rates(settings.rate_per_second, settings.rate_burst, opened.now)
    readers = ThreadPoolExecutor(WAITING_THREADS if elsewhere else READER_THREADS, "reader")
    writer = ThreadPoolExecutor(1, "writer")
    server = ResourceServer(opened, settings, Metrics(), rates, readers, writer)
    pages = own_pages(server)
    documents = Documents()
    flows = ThreadPoolExecutor(FLOW_THREADS, "authorization")  # a client's document may take seconds; reads do not wait

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None, None]:
        yield
        readers.shutdown()
        writer.shutdown()
        flows.shutdown()
        documents.close()
        if elsewhere:
            elsewhere.close()
        if services is None:
            opened.close()

    app = Starlette(
        # Routes are tried in turn, and agents ask most: theirs is first.
        routes=[
            server.route(MCP, "mcp", hosted_mcp(server).answer),
            *flow_routes(server, flows, fetch or documents.fetch),
            *page_routes(server, pages, flows),
            *server.routes(),
        ],
        middleware=[Middleware(Front), Middleware(TrustedHosts, server=server)],
        exception_handlers={HTTPException: server.refuse},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.sign_in = pages.sign_in
    return app


def hosted_mcp(server: ResourceServer) -> HostedMcp:
    """The tools over HTTP, each call with the bearer of its own request."""

    waits = server.services.introspect is not None

    async def admit(request: Request) -> Admitted:
        bearer, request_id = bearer_of(request.headers), request.state.request_id
        reader = LocalReader(server.services, bearer, server.settings.public_url, request_id)
        holder = await server.in_thread(reader.require_access) if waits else reader.require_access()
        return Admitted(reader, package_headers(holder))

    return HostedMcp(
        McpServer(TOOLS, log_bug),
        admit=admit,
        take_in=partial(body_of, most=BODY_BYTES),
        icon_of=lambda request: f"{discovery.origin_of(server.settings, request)}{ICON}",
        in_thread=server.in_thread,
    )


def flow_routes(server: ResourceServer, threads: ThreadPoolExecutor, fetch: Fetch) -> list[Route]:
    """From a client's request to its token; where tokens are given elsewhere, only what answers of ours refer to."""
    flows = AuthorizationServer(
        server.services,
        origin_of=partial(discovery.origin_of, server.settings),
        bearer_of=bearer_of,
        fetch=fetch,
        take_in=partial(body_of, most=OAUTH_BYTES),
        in_thread=partial(server.in_thread, threads=threads),
    )
    is_elsewhere = server.services.introspect is not None
    served = [row for row in flows.endpoints() if not is_elsewhere or row[0] == ICON]
    return [server.route(path, operation, run) for path, operation, run in served]


def own_pages(server: ResourceServer) -> Desks:
    """Everything that the owner's pages ask, on this server."""
    services, settings = server.services, server.settings
    return Desks(
        SignIn(services),
        Owner(services, settings.home),
        OwnReads(services, settings.public_url),
        ConsentDesk(services),
        settings.public_url,
        settings.authorization_server,
        services.now,
    )


def page_routes(server: ResourceServer, desks: Desks, threads: ThreadPoolExecutor) -> list[Route]:
    """A look at a password or at a long log takes its time; reads of agents do not wait for it."""
    in_thread = partial(server.in_thread, threads=threads)
    console = Console(desks, take_in=partial(body_of, most=FORM_BYTES), in_thread=in_thread)
    home = ForBrowsers("/", server.route("/", "page", console.home).endpoint)
    pages = console.pages()
    if server.services.introspect:  # whoever may read is decided elsewhere
        pages = [(path, run) for path, run in pages if path not in OF_CLIENTS]
    return [home, *(server.route(path, "page", run) for path, run in pages)]


class ForBrowsers(Route):
    """Found only by whoever asks for a page; for others, something else may stand at the same address."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        wants_page = "text/html" in Headers(scope=scope).get("accept", "")
        return super().matches(scope) if wants_page else (Match.NONE, {})


class TrustedHosts:
    """Only hosts that this server is known by are answered, so that no page reaches it under a name of its own; and no
    page of another site reaches the MCP endpoint. Pages of hosts that are known may read what clients are told."""

    def __init__(self, app: ASGIApp, server: ResourceServer) -> None:
        settings = server.settings
        public = urlsplit(settings.public_url or "").hostname
        self.app, self.server = app, server
        told = ["WWW-Authenticate"]
        self.pages = CORSMiddleware(app, ["*"], allow_methods=["GET", "POST"], allow_headers=["*"], expose_headers=told)
        self.hosts = LOOPBACK | {*settings.trusted_hosts} | ({public} if public else set[str]())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        origins = [_SCHEME.sub("", origin) for origin in request.headers.getlist("origin")]
        is_ours = bool(origins) and self._are_known(origins)
        answer = self.pages if is_ours and scope["path"] in OF_PAGES else self.app
        if refusal := self._refusal(request, is_strange=bool(origins) and not is_ours):
            answer = await self.server.refuse(request, refusal)
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
