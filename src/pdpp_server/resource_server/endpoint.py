"""What an endpoint is: an operation that is documented, what answers it, and where that runs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from pdpp_server.http.kernel import Kernel
from pdpp_server.http.replies import HandlerAnswer
from pdpp_server.reads.services import Services
from pdpp_server.resource_server.asked import AskedOverHttp
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.openapi import Operation

Handler = Callable[[Services, AskedOverHttp], HandlerAnswer]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A point read is shorter than a change of thread, so it runs on the loop; what may take longer leaves it.

    The owner writes, one request at a time, with a body of at most `body_bytes_max`.
    """

    operation: Operation
    handle: Handler
    runs: Literal["loop", "reader", "writer"]
    body_bytes_max: int = 0


class Inside(NamedTuple):
    """What there is to tell of the server itself."""

    services: Services
    kernel: Kernel


@dataclass(frozen=True, slots=True)
class Notice:
    """What anybody may read: it tells of the server and of no data, though it may try whether there is any."""

    operation: Operation
    tell: Callable[[Inside, Request], Json | Response]
    reads: bool = False
