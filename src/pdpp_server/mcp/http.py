"""MCP over Streamable HTTP: the bearer is checked at the door, then passed down; every request stands alone."""

import base64
import binascii
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import orjson
from starlette.datastructures import Headers, State
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pdpp_server.errors import InvalidRequest, PdppError, ServerTrouble
from pdpp_server.http.bodies import body_of
from pdpp_server.http.kernel import Kernel
from pdpp_server.http.refusals import refusal_of
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
BATCH_MAX = 16  # a batch pays for one request
JSON = "application/json"
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


class Admitted(NamedTuple):
    """Whoever asks: their reader, and what the headers of an answer say of them, if anything.

    `settle`, where it is given, must allow the answer before it leaves.
    """

    reader: Reader
    headers: Mapping[str, str] | None = None
    settle: Callable[[], None] | None = None


class HostedMcp:
    """`admit` knows whoever asks, or refuses."""

    def __init__(self, server: McpServer, kernel: Kernel, admit: Callable[[Request], Awaitable[Admitted]]) -> None:
        self._server, self._kernel, self._admit = server, kernel, admit
        self._answers = _answers()

    def routes(self) -> list[Route]:
        return [self._kernel.route(MCP, "mcp", self.answer)]

    async def answer(self, request: Request) -> Response:
        """Who asks comes before all else, so that nobody else learns what else is wrong.

        Raises:
            PdppError: the caller is refused, or the request is no message.
            HTTPException: messages are posted, and answered in JSON.
        """
        admitted = await self._admit(request)
        if admitted.settle is None:
            return await self._answer(request, admitted)
        operation = request.state.operation
        try:
            return await self._answer(request, admitted)
        finally:
            await self._kernel.threads.point_read(request, partial(_settle, request, admitted.settle, operation))

    async def _answer(self, request: Request, admitted: Admitted) -> Response:
        reader, told, _ = admitted
        request.state.trouble = None
        if request.method != "POST":
            raise HTTPException(405, headers={"Allow": "POST"})
        _require_json(request.headers)
        body = await body_of(request, BODY_BYTES)
        serve, icon = partial(self._serve, request, reader), partial(self._kernel.icon_of, request)
        exchange = MessageSession(self._answers, request.headers, serve, icon)
        try:
            message = decode(body)
        except (ValueError, RecursionError):
            reply, fault = _told(ProtocolFault(PARSE_ERROR, "The body is not JSON."))
        else:
            work: Work = partial(exchange.answer, message)
            threads = self._kernel.threads
            run = threads.read if self._may_take_long(message) else threads.point_read
            reply, fault = await run(request, work)
        if fault is not None and request.state.code is None:
            request.state.code = ServerTrouble.code if fault == INTERNAL_ERROR else InvalidRequest.code
        if reply is None:
            return Response(status_code=202, headers=told)
        if fault is not None and request.state.trouble is not None:  # of a batch, each part says so for itself
            _, status, waits = refusal_of(request.state.trouble, request)
            return Response(reply, status if exchange.is_modern else 200, {**(told or {}), **waits}, JSON)
        statuses = MODERN_STATUSES if exchange.is_modern else STATUSES
        return Response(reply, statuses.get(fault or 0, 200), told, JSON)

    def _serve(self, request: Request, reader: Reader, method: str, params: dict[str, Any]) -> bytes:
        state = request.state
        state.operation = self._server.operation_of(method, params) or state.operation
        try:
            served = self._server.serve(lambda: reader, method, params, state.request_id)
            if _ends_by_itself(served.refusal):
                raise refused(served.refusal, state.request_id)
        except ProtocolFault as fault:
            _note(state, fault.refusal)
            raise
        _note(state, served.refusal)
        return served.result

    def _may_take_long(self, message: Any) -> bool:
        match message:
            case {"method": str(method), "params": {} as params}:
                operation = self._server.operation_of(method, params)
                return operation is not None and operation not in ON_LOOP
            case _:
                return not is_object(message)


def _note(state: State, refusal: PdppError | None) -> None:
    state.code = refusal.code if refusal else None
    state.trouble = refusal if _ends_by_itself(refusal) else None


def _ends_by_itself(refusal: PdppError | None) -> TypeGuard[PdppError]:
    """Whether this server is in trouble: no other arguments would help, and the client may come back."""
    return refusal is not None and refusal.retry_after_seconds > 0


def _settle(request: Request, settle: Callable[[], None], operation: str) -> None:
    """Raises: PdppError, instead of whatever was answered. No tool is then said to have been called."""
    try:
        settle()
    except PdppError:
        request.state.operation = operation
        raise


def _answers() -> dict[str, dict[str, bytes]]:
    """As over stdio; but we have an icon, and where each request chooses its era, a discovery names both."""
    answers = load_answers(Path(__file__).with_name("front.json").read_bytes())
    hello, discovery = decode(answers[HANDSHAKE]["initialize"]), decode(answers[MODERN]["server/discover"])
    icons = [{"src": ICON, "mimeType": "image/svg+xml", "sizes": ["any"]}]
    hello["serverInfo"]["icons"] = discovery["_meta"][SERVER_KEY]["icons"] = icons
    answers[HANDSHAKE]["initialize"] = orjson.dumps(hello)
    answers[MODERN]["server/discover"] = orjson.dumps({**discovery, "supportedVersions": SPOKEN})
    return answers


def _require_json(headers: Headers) -> None:
    if _media_type(headers.get("content-type", "")) != JSON:
        raise InvalidRequest(f"A message is sent as {JSON}.", param="Content-Type")
    accepted = {_media_type(each) for each in headers.get("accept", "*/*").split(",")}
    if accepted.isdisjoint({JSON, "application/*", "*/*"}):
        raise HTTPException(406, f"Answers are {JSON}.")


def _media_type(text: str) -> str:
    return text.partition(";")[0].strip().lower()


def _told(fault: ProtocolFault) -> tuple[bytes, int]:
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
