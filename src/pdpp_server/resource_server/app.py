"""Routes and the single exception handler."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pdpp_server.errors import InvalidRequest, NotFound, PdppError, ServerTrouble
from pdpp_server.reads.services import Services
from pdpp_server.resource_server import fetch, probes, read_record_field, schema, search
from pdpp_server.resource_server.asked import Asked, asked_of, body_of
from pdpp_server.resource_server.headers import METADATA_PATH, refusal_headers
from pdpp_server.resource_server.logs import log_bug, log_request
from pdpp_server.resource_server.metrics import CONTENT_TYPE, STAGES, Metrics
from pdpp_server.settings import Settings
from pdpp_server.wire import errors
from pdpp_server.wire.envelope import Json

READER_THREADS = 2

Handler = Callable[[Services, Asked], Json | Response | None]
Run = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class ResourceServer:
    """Everything that an answer over HTTP needs beside its handler."""

    services: Services
    settings: Settings
    metrics: Metrics
    readers: ThreadPoolExecutor  # of READER_THREADS
    writer: ThreadPoolExecutor  # of one thread: the store has one writer

    def routes(self) -> list[Route]:
        """A point read is shorter than a change of thread, so it runs on the loop; what may take longer leaves it."""
        record = "/v1/streams/{stream}/records/{key}"
        schema_handler = partial(schema.handle, core_strict=self.settings.core_strict)
        return [
            self._route("/v1/schema", "schema", self._in_thread(schema_handler)),
            self._route("/v1/search", "search", self._in_thread(search.handle)),
            self._route(record, "fetch", self._on_loop(fetch.handle)),
            self._route(f"{record}/field-window", "read_record_field", self._on_loop(read_record_field.handle)),
            self._route("/healthz", "healthz", self._health),
            self._route("/metrics", "metrics", self._metrics),
        ]

    # A handler gives JSON, a response of its own, or nothing (204).

    async def refuse(self, request: Request, error: Exception) -> Response:
        """Any trouble as the error envelope; of a bug, only that there was one."""
        refusal, status, headers = _refusal_of(error)
        request_id: str = request.state.request_id
        if isinstance(refusal, ServerTrouble):
            log_bug(error, request_id)
        metadata = f"{self.settings.public_url or str(request.base_url).rstrip('/')}{METADATA_PATH}"
        body = errors.encode(refusal, request_id=request_id, resource_metadata=metadata)
        headers |= refusal_headers(refusal, metadata, had_token="authorization" in request.headers)
        self._observe(request, status, refusal.code)
        return _json(body, status, headers)

    def _on_loop(self, handle: Handler) -> Run:
        async def run(request: Request) -> Response:
            return _reply(handle(self.services, asked_of(request)))

        return run

    def _in_thread(self, handle: Handler) -> Run:
        async def run(request: Request) -> Response:
            return await self._work(handle, asked_of(request), self.readers)

        return run

    def _with_body(self, handle: Handler, most: int) -> Run:
        """For what writes: the body is taken in whole, up to `most` bytes, and the one writer is asked in its turn."""

        async def run(request: Request) -> Response:
            asked = asked_of(request)
            body = await body_of(request, most)
            return await self._work(handle, replace(asked, body=body), self.writer)

        return run

    async def _work(self, handle: Handler, asked: Asked, threads: ThreadPoolExecutor) -> Response:
        context, loop = copy_context(), asyncio.get_running_loop()
        return _reply(await loop.run_in_executor(threads, lambda: context.run(handle, self.services, asked)))

    async def _health(self, _: Request) -> Response:
        health = probes.health(self.services, self.settings.home)
        return _json({"object": "health", **health}, 200 if all(health.values()) else 503)

    async def _metrics(self, request: Request) -> Response:
        probes.require_local(request, self.settings)
        return Response(self.metrics.text(), media_type=CONTENT_TYPE)

    def _route(self, path: str, operation: str, run: Run, method: str = "GET") -> Route:
        async def endpoint(request: Request) -> Response:
            request.state.operation = operation
            STAGES.set({})
            try:
                response = await run(request)
            except Exception as error:  # noqa: BLE001 - the one place where trouble becomes an answer
                return await self.refuse(request, error)
            self._observe(request, response.status_code, "ok")
            return response

        return Route(path, endpoint, methods=[method])

    def _observe(self, request: Request, status: int, code: str) -> None:
        state, stages = request.state, STAGES.get() or {}
        operation: str = getattr(state, "operation", "none")
        seconds: float = perf_counter() - state.started
        self.metrics.add(operation, code, {**stages, "total": seconds})
        log_request(
            request_id=state.request_id,
            operation=operation,
            status=status,
            code=code,
            stages={**stages, "total": seconds},
            slow=seconds * 1000 > self.settings.slow_ms,
        )


def _refusal_of(error: Exception) -> tuple[PdppError, int, dict[str, str]]:
    """The refusal, its status, and headers that belong to it. A wrong method keeps the status that HTTP has for it."""
    match error:
        case PdppError():
            return error, error.status, {}
        case HTTPException(status_code=404):
            return NotFound("There is nothing at this address."), 404, {}
        case HTTPException(status_code=405):
            allowed = (error.headers or {}).get("Allow", "GET, HEAD")
            return InvalidRequest(f"This address takes {allowed} only."), 405, {"Allow": allowed}
        case _:
            return ServerTrouble("Something went wrong here; the request id finds it in the server's log."), 500, {}


def _reply(answer: Json | Response | None) -> Response:
    if answer is None:
        return Response(status_code=204)
    return answer if isinstance(answer, Response) else _json(answer)


def _json(body: Json, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """The same for HEAD: what sends it leaves the body out."""
    return Response(orjson.dumps(body, default=dict), status, headers, "application/json")
