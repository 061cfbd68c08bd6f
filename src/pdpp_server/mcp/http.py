"""MCP over Streamable HTTP: the bearer is checked at the door, then passed down; every request stands alone."""

import base64
import binascii
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from pdpp_server.errors import InvalidRequest, ServerTrouble
from pdpp_server.mcp.server import McpServer, decode
from pdpp_server.mcp.session import (
    BATCHES,
    HANDSHAKE,
    HANDSHAKE_VERSIONS,
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MODERN,
    PARSE_ERROR,
    UNSUPPORTED_PROTOCOL_VERSION,
    VERSION_KEY,
    Fault,
    Session,
    fault_reply,
    is_enveloped,
    is_object,
    load_answers,
    require_envelope,
    require_version,
    unsupported,
)
from pdpp_server.port.reader import Reader

BODY_BYTES = 1024 * 1024
BATCH_MAX = 16  # a batch pays for one request
JSON = "application/json"
VERSION_HEADER, METHOD_HEADER, NAME_HEADER = "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"
SPOKEN = [*HANDSHAKE_VERSIONS, MODERN]
ON_LOOP = frozenset({"fetch", "read_record_field"})  # point reads: shorter than a change of thread

# The older era tells of its faults with 200, for its clients read no body with any other status; the later one as HTTP
# would. Where a message was no request at all, both do.
STATUSES: dict[int, int] = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    HEADER_MISMATCH: 400,
    UNSUPPORTED_PROTOCOL_VERSION: 400,
}
MODERN_STATUSES = {**STATUSES, INVALID_PARAMS: 400, METHOD_NOT_FOUND: 404}

T = TypeVar("T")
Work = Callable[[], tuple[bytes | None, int | None]]


class Exchange(Session):
    """One message. Its era stands in a header, and what headers and body both say must agree."""

    def __init__(
        self,
        answers: Mapping[str, Mapping[str, bytes]],
        headers: Headers,
        call: Callable[[str, dict[str, Any]], bytes],
    ) -> None:
        super().__init__(answers, decode=decode, call=call)
        self._headers = headers
        self._said = _said(headers, VERSION_HEADER)
        self._version = self._said or BATCHES  # a client that does not say is of the time before it was asked
        self.is_modern = self._version not in HANDSHAKE_VERSIONS

    def answer(self, message: Any) -> tuple[bytes | None, int | None]:
        if isinstance(message, list) and len(message) > BATCH_MAX:  # pyright: ignore[reportUnknownArgumentType]
            return _told(Fault(INVALID_REQUEST, f"A batch has at most {BATCH_MAX} messages."))
        reply, fault = super().answer(message)
        if reply is None and self.is_modern and self._said != MODERN:
            return _told(unsupported(self._said, SPOKEN))
        return reply, fault

    def _enter(self, method: str, params: dict[str, Any]) -> str:
        enveloped = is_enveloped(params)
        if not self.is_modern:
            if enveloped and method != "initialize":
                raise Fault(HEADER_MISMATCH, f"{VERSION_HEADER} must say the version that the body says.")
            return HANDSHAKE
        if not enveloped and self._said != MODERN:
            raise unsupported(self._said, SPOKEN)
        version = require_envelope(params)[VERSION_KEY]
        self._require_header(VERSION_HEADER, version)
        self._require_header(METHOD_HEADER, method)
        if method == "tools/call" and params.get("name") is not None:
            self._require_header(NAME_HEADER, params["name"])
        require_version(params, SPOKEN)
        return MODERN

    def _require_header(self, name: str, value: object) -> None:
        if _decoded(_said(self._headers, name)) != value:
            raise Fault(HEADER_MISMATCH, f"{name} must be sent once, and say what the body says.")


class InThread(Protocol):
    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


class HostedMcp:
    """`admit` gives the reader of whoever asks, or refuses; `take_in` the body; `in_thread` is for what may take long.

    It knows no more of the server around it: that measures, meters and refuses.
    """

    def __init__(
        self,
        server: McpServer,
        *,
        admit: Callable[[Request], Reader],
        take_in: Callable[[Request], Awaitable[bytes]],
        in_thread: InThread,
    ) -> None:
        self._server, self._admit, self._take_in, self._in_thread = server, admit, take_in, in_thread
        self._answers = load_answers(Path(__file__).with_name("front.json").read_bytes())

    async def answer(self, request: Request) -> Response:
        """Who asks is settled first, so that nobody else learns what else is wrong.

        Raises:
            PdppError: the caller is refused, or the request is no message.
            HTTPException: messages are posted, and answered in JSON.
        """
        reader = self._admit(request)
        if request.method != "POST":
            raise HTTPException(405, headers={"Allow": "POST"})
        _require_json(request.headers)
        body = await self._take_in(request)
        exchange = Exchange(self._answers, request.headers, partial(self._call, request, reader))
        try:
            message = decode(body)
        except (ValueError, RecursionError):
            reply, fault = _told(Fault(PARSE_ERROR, "The body is not JSON."))
        else:
            work: Work = partial(exchange.answer, message)
            reply, fault = await self._in_thread(work) if _may_take_long(message) else work()
        if fault is not None:
            request.state.code = ServerTrouble.code if fault == INTERNAL_ERROR else InvalidRequest.code
        if reply is None:
            return Response(status_code=202)
        statuses = MODERN_STATUSES if exchange.is_modern else STATUSES
        return Response(reply, statuses.get(fault or 0, 200), media_type=JSON)

    def _call(self, request: Request, reader: Reader, name: str, arguments: dict[str, Any]) -> bytes:
        state = request.state
        if self._server.knows(name):
            state.operation = name
        called = self._server.answer(lambda: reader, name, arguments, state.request_id)
        state.code = called.refusal
        return called.result


def _require_json(headers: Headers) -> None:
    if _media_type(headers.get("content-type", "")) != JSON:
        raise InvalidRequest(f"A message is sent as {JSON}.", param="Content-Type")
    accepted = {_media_type(each) for each in headers.get("accept", "*/*").split(",")}
    if accepted.isdisjoint({JSON, "application/*", "*/*"}):
        raise HTTPException(406, f"Answers are {JSON}.")


def _media_type(text: str) -> str:
    return text.partition(";")[0].strip().lower()


def _may_take_long(message: Any) -> bool:
    match message:
        case {"method": "tools/call", "params": {"name": str(name)}}:
            return name not in ON_LOOP
        case _:
            return not is_object(message)


def _told(fault: Fault) -> tuple[bytes, int]:
    return fault_reply(None, fault), fault.code


def _said(headers: Headers, name: str) -> str | None:
    """What a header says, without the blanks around it; said twice, it says nothing that could be right."""
    return ", ".join(value.strip() for value in headers.getlist(name)) or None


def _decoded(value: str | None) -> str | None:
    """What would not be plain ASCII is written in base64; None where it is so written, and wrongly."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[len("=?base64?") : -len("?=")], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
