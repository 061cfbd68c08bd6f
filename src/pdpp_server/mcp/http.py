"""MCP over Streamable HTTP: the bearer is checked at the door, then passed down; every request stands alone."""

import base64
import binascii
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeGuard

import orjson
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from pdpp_server.errors import InvalidRequest, PdppError, RateLimited, ServerTrouble, TooLarge
from pdpp_server.http.bodies import body_of
from pdpp_server.http.heard import Course, HeardRequest
from pdpp_server.http.kernel import Kernel
from pdpp_server.http.refusals import refusal_of
from pdpp_server.http.replies import JSON, JsonBytes
from pdpp_server.mcp.server import McpServer, decode, refused
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
    SERVER_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
    VERSION_KEY,
    McpSession,
    ProtocolFault,
    fault_reply,
    is_enveloped,
    is_object,
    load_answers,
    require_envelope,
    require_version,
    unsupported,
)
from pdpp_server.port.reader import Reader
from pdpp_server.wire.discovery import MCP

BODY_BYTES = 1024 * 1024
SLOWED_BYTES = 32 * 1024  # of a message that is heard though its token has nothing left to pay with
LOOP_BYTES = 32 * 1024  # of a message that is shorter to decode than a change of thread takes
BATCH_MAX = 16  # a batch pays for one request
VERSION_HEADER, METHOD_HEADER, NAME_HEADER = "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"
NAMED_BY = {"tools/call": "name", "resources/read": "uri"}  # the parameter that Mcp-Name repeats
SPOKEN = [*HANDSHAKE_VERSIONS, MODERN]
GREETINGS = frozenset({"initialize", "server/discover"})  # which say who we are
ICON = "icon:"  # until it is known at which address we were asked
ON_LOOP = frozenset({"fetch", "read_record_field"})  # point reads: shorter than a change of thread

# The older era tells of its faults with 200, for its clients read no body with any other status, and some end their
# session; the later one as HTTP would. Where a message was no request at all, both do.
STATUSES: dict[int, int] = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    HEADER_MISMATCH: 400,
    UNSUPPORTED_PROTOCOL_VERSION: 400,
}
MODERN_STATUSES = {**STATUSES, INVALID_PARAMS: 400, METHOD_NOT_FOUND: 404}

Work = Callable[[], tuple[bytes | None, int | None]]


class MessageSession(McpSession):
    """One message. Its era stands in a header, and what headers and body both say must agree."""

    def __init__(
        self,
        answers: Mapping[str, Mapping[str, bytes]],
        headers: Headers,
        serve: Callable[[str, dict[str, Any]], bytes],
        icon: Callable[[], str],
    ) -> None:
        super().__init__(answers, decode=decode, serve=serve)
        self._headers, self._icon = headers, icon
        self._said = _said(headers, VERSION_HEADER)
        self._version = self._said or BATCHES  # a client that does not say is of the time before it was asked
        self.is_modern = self._version not in HANDSHAKE_VERSIONS

    def answer(self, message: Any) -> tuple[bytes | None, int | None]:
        if isinstance(message, list) and len(message) > BATCH_MAX:  # pyright: ignore[reportUnknownArgumentType]
            return _told(ProtocolFault(INVALID_REQUEST, f"A batch has at most {BATCH_MAX} messages."))
        reply, fault = super().answer(message)
        if reply is None and self.is_modern and self._said != MODERN:
            return _told(unsupported(self._said, SPOKEN))
        return reply, fault

    def _result(self, method: str, params: dict[str, Any]) -> bytes:
        result = super()._result(method, params)
        return result.replace(orjson.dumps(ICON), orjson.dumps(self._icon()), 1) if method in GREETINGS else result

    def _enter(self, method: str, params: dict[str, Any]) -> str:
        enveloped = is_enveloped(params)
        if not self.is_modern:
            if enveloped and method != "initialize":
                raise ProtocolFault(HEADER_MISMATCH, f"{VERSION_HEADER} must say the version that the body says.")
            return HANDSHAKE
        if not enveloped and self._said != MODERN:
            raise unsupported(self._said, SPOKEN)
        version = require_envelope(params)[VERSION_KEY]
        self._require_header(VERSION_HEADER, version)
        self._require_header(METHOD_HEADER, method)
        named = params.get(NAMED_BY.get(method, ""))
        if named is not None:
            self._require_header(NAME_HEADER, named)
        require_version(params, SPOKEN)
        return MODERN

    def _require_header(self, name: str, value: object) -> None:
        if _decoded(_said(self._headers, name)) != value:
            raise ProtocolFault(HEADER_MISMATCH, f"{name} must be sent once, and say what the body says.")


class RefusedSession(MessageSession):
    """One message, of which everything that was asked is refused for the same reason."""

    def __init__(self, headers: Headers, refusal: PdppError, request_id: str) -> None:
        super().__init__({}, headers, serve=self._result, icon=str)
        self._fault = refused(refusal, request_id)

    def _result(self, method: str, params: dict[str, Any]) -> bytes:
        raise self._fault


class Unsettled(Protocol):
    """Who asks is not certain yet: a read settles it, or else `settle`, which refuses."""

    is_settled: bool

    def settle(self) -> None: ...


class Admitted(NamedTuple):
    """Whoever asks: their reader, and what the headers of an answer say of them, if anything.

    What is `unsettled`, where it is given, must be settled before the answer leaves.
    """

    reader: Reader
    headers: Mapping[str, str] | None = None
    unsettled: Unsettled | None = None


class HostedMcp:
    """`admit` knows whoever asks, or refuses."""

    def __init__(self, server: McpServer, kernel: Kernel, admit: Callable[[HeardRequest], Awaitable[Admitted]]) -> None:
        self._server, self._kernel, self._admit = server, kernel, admit
        self._answers = _answers()

    def routes(self) -> list[Route]:
        return [self._kernel.free_route(MCP, "mcp", self._metered)]

    async def _metered(self, request: HeardRequest) -> Response:
        """A token pays for each answer. A client whose token is known is told in its session that it has to wait, where
        it says no more than calls usually do: nothing was paid for what is read of it."""
        rates = self._kernel.rates
        try:
            return await rates.metered(self.answer, request)
        except RateLimited as refusal:
            if request.method != "POST" or not rates.knows(request):
                raise
            return await self._slowed(request, refusal)

    async def _slowed(self, request: HeardRequest, refusal: RateLimited) -> Response:
        course = request.course
        try:
            body = await body_of(request, SLOWED_BYTES)
        except TooLarge:
            raise refusal from None
        exchange = RefusedSession(request.headers, refusal, course.request_id)
        try:
            reply, _ = exchange.answer(decode(body))
        except (ValueError, RecursionError):
            raise refusal from None
        course.code = refusal.code
        _, status, waits = refusal_of(refusal, request)
        if reply is None:
            return Response(status_code=202, headers=waits)
        return JsonBytes(reply, status if exchange.is_modern else 200, waits)

    async def answer(self, request: HeardRequest) -> Response:
        """Who asks comes before all else, so that nobody else learns what else is wrong.

        Raises:
            PdppError: the caller is refused, or the request is no message.
            HTTPException: messages are posted, and answered in JSON.
        """
        admitted = await self._admit(request)
        unsettled, operation = admitted.unsettled, request.course.operation
        try:
            return await self._answer(request, admitted)
        finally:
            if unsettled is not None and not unsettled.is_settled:
                settle = partial(_settle, request.course, unsettled, operation)
                await self._kernel.threads.point_read(request, settle)

    async def _answer(self, request: HeardRequest, admitted: Admitted) -> Response:
        reader, told, _ = admitted
        course = request.course
        if request.method != "POST":
            raise HTTPException(405, headers={"Allow": "POST"})
        headers = request.headers
        _require_json(headers.get("content-type", ""), headers.get("accept", "*/*"))
        body = await body_of(request, BODY_BYTES)
        serve, icon = partial(self._serve, course, reader), partial(self._kernel.icon_of, request)
        exchange = MessageSession(self._answers, headers, serve, icon)
        threads = self._kernel.threads
        is_long = len(body) > LOOP_BYTES
        try:
            message = await threads.read(request, partial(decode, body)) if is_long else decode(body)
        except (ValueError, RecursionError):
            reply, fault = _told(ProtocolFault(PARSE_ERROR, "The body is not JSON."))
        else:
            work: Work = partial(exchange.answer, message)
            is_left_to_others = threads.reads_wait or self._may_take_long(message)
            reply, fault = await threads.read(request, work) if is_left_to_others else work()
        if reply is None:
            return Response(status_code=202, headers=told)
        if fault is None:
            return JsonBytes(reply, headers=told)
        if course.code is None:
            course.code = ServerTrouble.code if fault == INTERNAL_ERROR else InvalidRequest.code
        if course.trouble is not None:  # of a batch, each part says so for itself
            _, status, waits = refusal_of(course.trouble, request)
            return JsonBytes(reply, status if exchange.is_modern else 200, {**(told or {}), **waits})
        statuses = MODERN_STATUSES if exchange.is_modern else STATUSES
        return JsonBytes(reply, statuses.get(fault, 200), told)

    def _serve(self, course: Course, reader: Reader, method: str, params: dict[str, Any]) -> bytes:
        course.operation = self._server.operation_of(method, params) or course.operation
        try:
            served = self._server.serve(lambda: reader, method, params, course.request_id)
            if _ends_by_itself(served.refusal):
                raise refused(served.refusal, course.request_id)
        except ProtocolFault as fault:
            _note(course, fault.refusal)
            raise
        _note(course, served.refusal)
        return served.result

    def _may_take_long(self, message: Any) -> bool:
        if not is_object(message):
            return True
        method, params = message.get("method"), message.get("params")
        if not isinstance(method, str) or not is_object(params):
            return False
        operation = self._server.operation_of(method, params)
        return operation is not None and operation not in ON_LOOP


def _note(course: Course, refusal: PdppError | None) -> None:
    course.code = refusal.code if refusal else None
    course.trouble = refusal if _ends_by_itself(refusal) else None


def _ends_by_itself(refusal: PdppError | None) -> TypeGuard[PdppError]:
    """Whether this server is in trouble: no other arguments would help, and the client may come back."""
    return refusal is not None and refusal.retry_after_seconds > 0


def _settle(course: Course, unsettled: Unsettled, operation: str) -> None:
    """Raises: PdppError, instead of whatever was answered. No tool is then said to have been called."""
    try:
        unsettled.settle()
    except PdppError:
        course.operation = operation
        raise


def _answers() -> dict[str, dict[str, bytes]]:
    """As over stdio; but we have an icon, and where each request chooses its era, a discovery names both."""
    answers = load_answers(Path(__file__).with_name("front.json").read_bytes())
    icons = [{"src": ICON, "mimeType": "image/svg+xml", "sizes": ["any"]}]
    hello = decode(answers[HANDSHAKE]["initialize"])
    hello["serverInfo"]["icons"] = icons
    answers[HANDSHAKE]["initialize"] = orjson.dumps(hello)
    discovery = decode(answers[MODERN]["server/discover"])
    discovery["_meta"][SERVER_KEY]["icons"] = icons
    discovery["supportedVersions"] = SPOKEN
    answers[MODERN]["server/discover"] = orjson.dumps(discovery)
    return answers


@lru_cache  # clients say the same each time; what is refused is looked at anew
def _require_json(sent: str, accepts: str) -> None:
    if _media_type(sent) != JSON:
        raise InvalidRequest(f"A message is sent as {JSON}.", param="Content-Type")
    accepted = {_media_type(each) for each in accepts.split(",")}
    if accepted.isdisjoint({JSON, "application/*", "*/*"}):
        raise HTTPException(406, f"Answers are {JSON}.")


def _media_type(text: str) -> str:
    return text.partition(";")[0].strip().lower()


def _told(fault: ProtocolFault) -> tuple[bytes, int]:
    return fault_reply(None, fault), fault.code


def _said(headers: Headers, name: str) -> str | None:
    """What a header says, without the blanks around it; said twice, it says nothing that could be right."""
    return ", ".join([value.strip() for value in headers.getlist(name)]) or None


def _decoded(value: str | None) -> str | None:
    """What would not be plain ASCII is written in base64; None where it is so written, and wrongly."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[len("=?base64?") : -len("?=")], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
