"""What every door stands on: routes that are metered and observed, threads to work in, one answer to any trouble."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache, partial
from time import perf_counter

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from pdpp_server.errors import ServerTrouble
from pdpp_server.evidence.refusals import message_text, remedy_text
from pdpp_server.http.headers import refusal_headers
from pdpp_server.http.heard import Course, HeardRequest
from pdpp_server.http.logs import log_bug, log_request
from pdpp_server.http.metrics import STAGES, Metrics
from pdpp_server.http.people import Show, Trouble, wants_page
from pdpp_server.http.rate import Rates
from pdpp_server.http.refusals import refusal_of
from pdpp_server.http.replies import json_reply
from pdpp_server.http.threads import Threads
from pdpp_server.model.times import iso
from pdpp_server.settings import Settings
from pdpp_server.wire import errors
from pdpp_server.wire.discovery import ICON, WITH_SLASH, metadata_path

RunRequest = Callable[[HeardRequest], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Kernel:
    settings: Settings
    rates: Rates
    threads: Threads
    now: Callable[[], datetime]
    metrics: Metrics = field(default_factory=Metrics)
    show: Show | None = None  # trouble as a page

    def route(self, path: str, operation: str, run: RunRequest, methods: list[str] | None = None) -> Route:
        """An address that a door answers, whatever the method unless some are named. A token pays for each answer."""
        metered = partial(self.rates.metered, run) if self.rates.are_set else run
        return self.free_route(path, operation, metered, methods)

    def free_route(self, path: str, operation: str, run: RunRequest, methods: list[str] | None = None) -> Route:
        """The same, for what anybody may read as often as they like."""
        return Route(path, Answering(self, operation, run), methods=methods)

    async def refuse_unrouted(self, request: Request, error: Exception) -> Response:
        """What no address answers."""
        return await self.refuse(HeardRequest(request.scope, request.receive), error)

    async def refuse(self, request: HeardRequest, error: Exception) -> Response:
        """Any trouble: for a person as a page, for a program as the error envelope."""
        refusal, status, headers = refusal_of(error, request)
        request_id = request.course.request_id
        if type(refusal) is ServerTrouble:
            log_bug(error, request_id)
        origin = self.origin_of(request)
        metadata = f"{origin}{metadata_path(request.scope['path'])}{slash_of(request)}"
        body = errors.encode(refusal, request_id=request_id, resource_metadata=metadata)
        headers |= refusal_headers(refusal, metadata, f"{origin}{ICON}", had_token="authorization" in request.headers)
        self.observe(request.course, status, refusal.code)
        trouble = Trouble(message_text(refusal), remedy_text(refusal), refusal.code, status, headers)
        return await self.told(request, trouble, json_reply(body, status, headers))

    async def told(self, request: HeardRequest, trouble: Trouble, to_programs: Response) -> Response:
        """The one place that tells people from programs."""
        if self.show is None or not wants_page(request.headers):
            return to_programs
        return await self.threads.flow(partial(self.show, request, trouble))

    def origin_of(self, request: Request) -> str:
        """The address under which this server is known: the public one, else the one that was asked."""
        return self.settings.public_url or _asked_at(request)

    def icon_of(self, request: Request) -> str:
        return f"{self.origin_of(request)}{ICON}"

    def observe(self, course: Course, status: int, code: str) -> None:
        """One request was answered: count it, and write its line."""
        seconds = perf_counter() - course.started
        stages = {**(STAGES.get() or {}), "total": seconds}
        self.metrics.add(course.operation, code, stages)
        log_request(
            at=iso(self.now()),
            request_id=course.request_id,
            operation=course.operation,
            status=status,
            code=code,
            stages=stages,
            slow=seconds * 1000 > self.settings.slow_ms,
        )


class Answering:
    """What answers one address. What runs may itself say, on the course, which operation it was and how it ended."""

    def __init__(self, kernel: Kernel, operation: str, run: RunRequest) -> None:
        self._kernel, self._operation, self._run = kernel, operation, run

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = HeardRequest(scope, receive)
        course = request.course
        course.operation = self._operation
        STAGES.set({})
        try:
            response = await self._run(request)
        except Exception as error:  # noqa: BLE001 - the one place where trouble becomes an answer
            response = await self._kernel.refuse(request, error)
        else:
            self._kernel.observe(course, response.status_code, course.code or "ok")
        await response(scope, receive, send)


class AtOnce:
    """Addresses that are found by their whole path, before the router goes through its list for all others."""

    def __init__(self, app: ASGIApp, addresses: Mapping[str, ASGIApp]) -> None:
        self.app, self._addresses = app, addresses

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        answer = self._addresses.get(scope.get("path", ""), self.app)
        return answer(scope, receive, send)


def _asked_at(request: Request) -> str:
    scope = request.scope
    root_path: str = scope.get("app_root_path", scope.get("root_path", ""))
    server: Sequence[str | int | None] = scope.get("server") or ()
    return _address(scope["scheme"], request.headers.get("host"), tuple(server), root_path)


@lru_cache(maxsize=100)  # a server answers to few names
def _address(scheme: str, host: str | None, server: tuple[str | int | None, ...], root_path: str) -> str:
    headers = [] if host is None else [(b"host", host.encode("latin-1"))]
    scope = {"type": "http", "scheme": scheme, "server": server or None, "root_path": root_path, "headers": headers}
    return str(Request(scope).base_url).rstrip("/")


def slash_of(request: Request) -> str:
    """The slash at the end of the MCP endpoint's address, if it was typed: requests are routed without it."""
    return "/" if request.scope["raw_path"].decode("latin-1") in WITH_SLASH else ""
