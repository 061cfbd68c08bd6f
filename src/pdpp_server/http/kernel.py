"""What every door stands on: routes that are metered and observed, threads to work in, one answer to any trouble."""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from time import perf_counter
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from pdpp_server.errors import ServerTrouble
from pdpp_server.evidence.refusals import message_text, remedy_text
from pdpp_server.http.headers import refusal_headers
from pdpp_server.http.logs import log_bug, log_request
from pdpp_server.http.metrics import STAGES, Metrics
from pdpp_server.http.people import Show, Trouble, wants_page
from pdpp_server.http.rate import Rates
from pdpp_server.http.refusals import refusal_of
from pdpp_server.http.replies import json_reply
from pdpp_server.http.threads import Threads
from pdpp_server.settings import Settings
from pdpp_server.wire import errors
from pdpp_server.wire.discovery import ICON, WITH_SLASH, metadata_path

RunRequest = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Kernel:
    settings: Settings
    rates: Rates
    threads: Threads
    metrics: Metrics = field(default_factory=Metrics)
    show: Show | None = None  # trouble as a page

    def route(self, path: str, operation: str, run: RunRequest, methods: list[str] | None = None) -> Route:
        """An address that a door answers, whatever the method unless some are named. A token pays for each answer."""
        return self.free_route(path, operation, partial(self.rates.metered, run), methods)

    def free_route(self, path: str, operation: str, run: RunRequest, methods: list[str] | None = None) -> Route:
        """The same, for what anybody may read as often as they like."""
        endpoint = self._answered(operation, run)
        return Route(path, endpoint, methods=methods) if methods else Route(path, EveryMethod(endpoint))

    async def refuse(self, request: Request, error: Exception) -> Response:
        """Any trouble: for a person as a page, for a program as the error envelope."""
        refusal, status, headers = refusal_of(error, request)
        request_id: str = request.state.request_id
        if type(refusal) is ServerTrouble:
            log_bug(error, request_id)
        origin = self.origin_of(request)
        metadata = f"{origin}{metadata_path(request.scope['path'])}{slash_of(request)}"
        body = errors.encode(refusal, request_id=request_id, resource_metadata=metadata)
        headers |= refusal_headers(refusal, metadata, f"{origin}{ICON}", had_token="authorization" in request.headers)
        self._observe(request, status, refusal.code)
        trouble = Trouble(message_text(refusal), remedy_text(refusal), refusal.code, status, headers)
        return await self.told(request, trouble, json_reply(body, status, headers))

    async def told(self, request: Request, trouble: Trouble, to_programs: Response) -> Response:
        """The one place that tells people from programs."""
        if self.show is None or not wants_page(request.headers):
            return to_programs
        return await self.threads.flow(partial(self.show, request, trouble))

    def origin_of(self, request: Request) -> str:
        """The address under which this server is known: the public one, else the one that was asked."""
        return self.settings.public_url or _asked_at(request)

    def icon_of(self, request: Request) -> str:
        return f"{self.origin_of(request)}{ICON}"

    def _answered(self, operation: str, run: RunRequest) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What runs may itself say, in the request's state, which operation it was and with which code it ended."""

        async def endpoint(request: Request) -> Response:
            request.state.operation, request.state.code = operation, None
            STAGES.set({})
            try:
                response = await run(request)
            except Exception as error:  # noqa: BLE001 - the one place where trouble becomes an answer
                return await self.refuse(request, error)
            self._observe(request, response.status_code, request.state.code or "ok")
            return response

        return endpoint

    def _observe(self, request: Request, status: int, code: str) -> None:
        state = request.state
        operation: str = getattr(state, "operation", "none")
        seconds: float = perf_counter() - state.started
        stages = {**(STAGES.get() or {}), "total": seconds}
        self.metrics.add(operation, code, stages)
        log_request(
            request_id=state.request_id,
            operation=operation,
            status=status,
            code=code,
            stages=stages,
            slow=seconds * 1000 > self.settings.slow_ms,
        )


class EveryMethod:
    """What answers one address; a route to it does not look at the method."""

    def __init__(self, endpoint: RunRequest) -> None:
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._endpoint(Request(scope, receive))
        await response(scope, receive, send)


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
