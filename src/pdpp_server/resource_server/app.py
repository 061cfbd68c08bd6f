"""Routes and the single exception handler."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from pdpp_server.errors import InvalidRequest, NotFound, PdppError, RateLimited, ServerTrouble
from pdpp_server.reads.services import Services
from pdpp_server.reads.writes import require_owner
from pdpp_server.resource_server import discovery
from pdpp_server.resource_server.asked import Asked, asked_of, body_of
from pdpp_server.resource_server.endpoint import Endpoint, Handler, Inside, Notice
from pdpp_server.resource_server.endpoints import ENDPOINTS
from pdpp_server.resource_server.headers import refusal_headers
from pdpp_server.resource_server.logs import log_bug, log_request
from pdpp_server.resource_server.metrics import STAGES, Metrics
from pdpp_server.resource_server.rate import Rates
from pdpp_server.resource_server.replies import json_reply, reply
from pdpp_server.settings import Settings
from pdpp_server.wire import errors
from pdpp_server.wire.discovery import ICON, metadata_path

READER_THREADS = 2

Run = Callable[[Request], Awaitable[Response]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ResourceServer:
    """Everything that an answer over HTTP needs beside its handler."""

    services: Services
    settings: Settings
    metrics: Metrics
    rates: Rates
    readers: ThreadPoolExecutor  # of READER_THREADS
    writer: ThreadPoolExecutor  # of one thread: the store has one writer

    def routes(self) -> list[Route]:
        return [self._route(row) for row in ENDPOINTS]

    def route(self, path: str, operation: str, run: Run) -> Route:
        """An address that another adapter answers, whatever the method: metered, observed and refused like our own."""
        return Route(path, EveryMethod(self._answered(operation, partial(self.rates.metered, run))))

    async def in_thread(self, work: Callable[[], T], threads: ThreadPoolExecutor | None = None) -> T:
        """Work in a reader's thread, or in one of others; the stages that it goes through are those of its request."""
        context, loop = copy_context(), asyncio.get_running_loop()
        return await loop.run_in_executor(threads or self.readers, context.run, work)

    async def refuse(self, request: Request, error: Exception) -> Response:
        """Any trouble as the error envelope; of a bug, only that there was one."""
        refusal, status, headers = _refusal_of(error, request)
        request_id: str = request.state.request_id
        if isinstance(refusal, ServerTrouble):
            log_bug(error, request_id)
        origin = discovery.origin_of(self.settings, request)
        metadata = f"{origin}{metadata_path(request.scope['path'])}{discovery.slash_of(request)}"
        body = errors.encode(refusal, request_id=request_id, resource_metadata=metadata)
        headers |= refusal_headers(refusal, metadata, f"{origin}{ICON}", had_token="authorization" in request.headers)
        self._observe(request, status, refusal.code)
        return json_reply(body, status, headers)

    def _route(self, row: Endpoint | Notice) -> Route:
        run = self._telling(row) if isinstance(row, Notice) else partial(self.rates.metered, self._running(row))
        endpoint = self._answered(row.operation.name, run)
        return Route(row.operation.path, endpoint, methods=[row.operation.method])

    def _answered(self, operation: str, run: Run) -> Callable[[Request], Coroutine[Any, Any, Response]]:
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

    def _telling(self, notice: Notice) -> Run:
        inside = Inside(self.services, self.settings, self.metrics)

        async def run(request: Request) -> Response:
            return reply(notice.tell(inside, request))

        return run

    def _running(self, endpoint: Endpoint) -> Run:
        match endpoint.runs:
            case "loop" if self.services.introspect is None:  # or it would wait for another server
                return self._on_loop(endpoint.handle)
            case "loop" | "reader":
                return self._in_thread(endpoint.handle)
            case "writer":
                return self._with_body(endpoint.handle, endpoint.body_bytes_max)

    def _on_loop(self, handle: Handler) -> Run:
        async def run(request: Request) -> Response:
            return reply(handle(self.services, asked_of(request)))

        return run

    def _in_thread(self, handle: Handler) -> Run:
        async def run(request: Request) -> Response:
            return await self._work(handle, asked_of(request), self.readers)

        return run

    def _with_body(self, handle: Handler, most: int) -> Run:
        """For what the owner writes: the body is taken in whole, up to `most` bytes, and the one writer is asked in its
        turn. Of anybody else nothing is taken in."""

        async def run(request: Request) -> Response:
            asked = asked_of(request)
            require_owner(self.services, asked.call)
            body = await body_of(request, most)
            return await self._work(handle, replace(asked, body=body), self.writer)

        return run

    async def _work(self, handle: Handler, asked: Asked, threads: ThreadPoolExecutor) -> Response:
        return reply(await self.in_thread(partial(handle, self.services, asked), threads))

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

    def __init__(self, endpoint: Run) -> None:
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._endpoint(Request(scope, receive))
        await response(scope, receive, send)


def _refusal_of(error: Exception, request: Request) -> tuple[PdppError, int, dict[str, str]]:
    """The refusal, its status, and headers that belong to it. A wrong method keeps the status that HTTP has for it."""
    match error:
        case RateLimited():
            return error, error.status, {"Retry-After": str(error.retry_after_seconds)}
        case PdppError():
            return error, error.status, {}
        case HTTPException(status_code=404):
            return NotFound("There is nothing at this address."), 404, {}
        case HTTPException(status_code=405):
            allowed = ", ".join(_allowed(request)) or (error.headers or {})["Allow"]
            return InvalidRequest(f"This address takes {allowed} only."), 405, {"Allow": allowed}
        case HTTPException(status_code=406):
            return InvalidRequest(error.detail, param="Accept"), 406, {}
        case ClientDisconnect():
            return InvalidRequest("The body ended before its end."), 400, {}
        case _:
            return ServerTrouble("Something went wrong here; the request id finds it in the server's log."), 500, {}


def _allowed(request: Request) -> list[str]:
    """Every method that this address takes: one address may have several routes."""
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    here = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for route in here for method in route.methods or ()})
