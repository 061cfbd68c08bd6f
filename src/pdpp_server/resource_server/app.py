"""Routes of the resource server, and where each of its handlers runs."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial

from starlette.responses import Response
from starlette.routing import Route

from pdpp_server.http.bodies import body_of
from pdpp_server.http.heard import HeardRequest
from pdpp_server.http.kernel import Kernel, RunRequest
from pdpp_server.http.replies import json_reply, reply
from pdpp_server.reads.services import Services
from pdpp_server.reads.writes import require_owner
from pdpp_server.resource_server.asked import AskedOverHttp, asked_of
from pdpp_server.resource_server.endpoint import Endpoint, Handler, Inside, Notice
from pdpp_server.resource_server.endpoints import ENDPOINTS

ReadInThread = Callable[[HeardRequest, Callable[[], Response]], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class ResourceServer:
    services: Services
    kernel: Kernel

    def routes(self) -> list[Route]:
        return [self._route(row) for row in ENDPOINTS]

    def _route(self, row: Endpoint | Notice) -> Route:
        operation = row.operation
        if isinstance(row, Notice):
            return self.kernel.free_route(operation.path, operation.name, self._telling(row), [operation.method])
        return self.kernel.route(operation.path, operation.name, self._running(row), [operation.method])

    def _telling(self, notice: Notice) -> RunRequest:
        inside = Inside(self.services, self.kernel)

        async def run(request: HeardRequest) -> Response:
            tell = partial(notice.tell, inside, request)
            told = await self.kernel.threads.point_read(request, tell) if notice.reads else tell()
            return told if isinstance(told, Response) else json_reply(told)

        return run

    def _running(self, endpoint: Endpoint) -> RunRequest:
        match endpoint.runs:
            case "loop":
                return self._in_thread(endpoint.handle, self.kernel.threads.point_read)
            case "reader":
                return self._in_thread(endpoint.handle, self.kernel.threads.read)
            case "writer":
                return self._in_writer(endpoint.handle, endpoint.body_bytes_max)

    def _in_thread(self, handle: Handler, threads: ReadInThread) -> RunRequest:
        async def run(request: HeardRequest) -> Response:
            return await threads(request, partial(_answered, handle, self.services, asked_of(request)))

        return run

    def _in_writer(self, handle: Handler, most: int) -> RunRequest:
        """For what the owner writes: the body is taken in whole, up to `most` bytes, and the one writer is asked in its
        turn. Of anybody else nothing is taken in."""

        async def run(request: HeardRequest) -> Response:
            asked = asked_of(request)
            await self.kernel.threads.point_read(request, partial(require_owner, self.services, asked.call))
            with_body = replace(asked, body=await body_of(request, most))
            return await self.kernel.threads.write(partial(_answered, handle, self.services, with_body))

        return run


def _answered(handle: Handler, services: Services, asked: AskedOverHttp) -> Response:
    """What was read leaves in the thread that read it."""
    return reply(handle(services, asked), asked.method)
