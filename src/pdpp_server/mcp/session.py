"""One client's session: JSON-RPC framing, and which of the two protocol eras it speaks."""

# Only what is cheap to import may stand here: `pdpp mcp` answers its first requests before anything else is loaded.
from __future__ import annotations

import json

TYPE_CHECKING = False  # `typing` alone would double the start-up time
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, NoReturn

    from pdpp_server.errors import PdppError

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
RESOURCE_NOT_FOUND, HEADER_MISMATCH, UNSUPPORTED_PROTOCOL_VERSION = -32002, -32020, -32022

HANDSHAKE = "handshake"
HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
BATCHES = "2025-03-26"  # the one version that knows arrays of messages
LIVE = frozenset(("tools/call", "resources/read", "completion/complete"))  # what is answered anew each time

ECHO_CHARS = 128
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"


class ProtocolFault(Exception):
    """A JSON-RPC error: the protocol was misused, or we failed. A tool's refusal is no fault; it is a result.

    Other methods have no result for a refusal: theirs is a fault, and `refusal` is what it tells of.
    """

    refusal: PdppError | None = None

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.body: dict[str, object] = {"code": code, "message": message}
        if data is not None:
            self.body["data"] = data

    def told_in(self, era: str) -> ProtocolFault:
        """The later era has no code of its own for a resource that is not there."""
        if era == MODERN and self.code == RESOURCE_NOT_FOUND:
            self.code = self.body["code"] = INVALID_PARAMS
        return self


class McpSession:
    """`answers` holds what never changes, by era and method; `serve` makes the JSON of the result of a live method."""

    def __init__(
        self,
        answers: Mapping[str, Mapping[str, bytes]],
        *,
        decode: Callable[[bytes], Any],
        serve: Callable[[str, dict[str, Any]], bytes],
    ) -> None:
        self.decode = decode
        self.serve = serve
        self._answers = answers
        self._era: str | None = None
        self._version = HANDSHAKE_VERSIONS[-1]

    def handle(self, line: bytes) -> bytes | None:
        """The answer to one message, without a newline; None where none is due."""
        try:
            message = self.decode(line)
        except (ValueError, RecursionError):
            return fault_reply(None, ProtocolFault(PARSE_ERROR, "The line is not JSON."))
        reply, _ = self.answer(message)
        return reply

    def answer(self, message: Any) -> tuple[bytes | None, int | None]:
        """The answer to a message that is decoded, and the code of the fault that it tells of, if it does."""
        if self._version == BATCHES and _is_batch(message):
            return self._batch_reply(message), None
        return self._reply(message)

    def _batch_reply(self, batch: list[Any]) -> bytes | None:
        parts = [self._reply(part)[0] for part in batch]
        replies = [reply for reply in parts if reply is not None]
        return b"[" + b",".join(replies) + b"]" if replies else None

    def _reply(self, message: Any) -> tuple[bytes | None, int | None]:
        try:
            method, params = _request(message)
            if method is None:
                return None, None
            result = self._result(method, params)
            return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (_encoded(message["id"]), result), None
        except ProtocolFault as fault:
            id = message.get("id") if is_object(message) and _is_id(message.get("id")) else None
            return fault_reply(id, fault), fault.code

    def _result(self, method: str, params: dict[str, Any]) -> bytes:
        era = self._enter(method, params)
        if method in LIVE:
            try:
                result = self.serve(method, params)
            except ProtocolFault as fault:
                raise fault.told_in(era) from None
            return _joined(self._answers[MODERN][method], result) if era == MODERN else result
        answer = self._answers[era].get(method)
        if answer is None:
            raise ProtocolFault(METHOD_NOT_FOUND, "Method not found.", method[:ECHO_CHARS])
        if method == "initialize":
            asked = params.get("protocolVersion")
            self._version = asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
            return _joined(b'{"protocolVersion":"%b"}' % self._version.encode(), answer)
        if params.get("cursor") is not None:
            raise ProtocolFault(INVALID_PARAMS, "There is one page only, and no cursor.")
        return answer

    def _enter(self, method: str, params: dict[str, Any]) -> str:
        """The era of this request; the first request of a session decides it for all."""
        enveloped = is_enveloped(params) and method != "initialize"
        if self._era is None:
            self._era = MODERN if enveloped else HANDSHAKE
        if self._era == MODERN:
            if method == "initialize":
                raise unsupported(params.get("protocolVersion"), [MODERN])
            require_envelope(params)
            require_version(params, [MODERN])
        elif enveloped:
            raise ProtocolFault(INVALID_REQUEST, f"This session began with the handshake; {MODERN} needs a new one.")
        return self._era


def load_answers(text: bytes) -> dict[str, dict[str, bytes]]:
    """The generated answers, each as the bytes that are sent."""
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    eras: dict[str, dict[str, Any]] = json.loads(text)
    return {era: {method: encode(answer).encode() for method, answer in of.items()} for era, of in eras.items()}


def strict_json(line: bytes) -> Any:
    """What the line says; only UTF-8, and only numbers that JSON has. Raises: ValueError, RecursionError."""
    return json.loads(line.decode(), parse_constant=_refuse_constant)


def fault_reply(id: str | int | None, fault: ProtocolFault) -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (_encoded(id), _encoded(fault.body))


def _request(message: Any) -> tuple[str | None, dict[str, Any]]:
    """Method and parameters; no method where nothing is asked of us: a notification, or an answer."""
    if not is_object(message):
        raise ProtocolFault(INVALID_REQUEST, "A message is one JSON object.")
    method, params = message.get("method"), message.get("params")
    if message.get("jsonrpc") != "2.0":
        raise ProtocolFault(INVALID_REQUEST, 'A message has "jsonrpc": "2.0".')
    if method is None and ("result" in message or "error" in message):
        return None, {}
    if not isinstance(method, str):
        raise ProtocolFault(INVALID_REQUEST, "A request has a method.")
    if "id" not in message:
        return None, {}
    if not _is_id(message["id"]):
        raise ProtocolFault(INVALID_REQUEST, "The id of a request is a string or an integer.")
    if params is not None and not is_object(params):
        raise ProtocolFault(INVALID_REQUEST, "The params of a request are an object.")
    return method, params or {}


def tool_call(params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The tool and its arguments. Raises: Fault."""
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str):
        raise ProtocolFault(INVALID_PARAMS, "tools/call needs the name of a tool.")
    if arguments is not None and not is_object(arguments):
        raise ProtocolFault(INVALID_PARAMS, "The arguments of a tool are an object.")
    return name, arguments or {}


def is_enveloped(params: dict[str, Any]) -> bool:
    """Whether a request says its version itself, as those of the stateless era do."""
    meta: Any = params.get("_meta")
    return is_object(meta) and VERSION_KEY in meta


def require_envelope(params: dict[str, Any]) -> dict[str, Any]:
    """What every request of the stateless era has: its version and the client's capabilities."""
    meta: Any = params.get("_meta")
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if not is_object(meta) or key not in meta]
    if missing:
        raise ProtocolFault(INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}.")
    return meta


def require_version(params: dict[str, Any], supported: list[str]) -> None:
    version = params["_meta"][VERSION_KEY]
    if not isinstance(version, str):
        raise ProtocolFault(INVALID_PARAMS, f"{VERSION_KEY} is a string.")
    if version != MODERN:
        raise unsupported(version, supported)


def unsupported(version: object, supported: list[str]) -> ProtocolFault:
    data: dict[str, object] = {"supported": supported}
    if isinstance(version, str):
        data["requested"] = version[:ECHO_CHARS]
    return ProtocolFault(UNSUPPORTED_PROTOCOL_VERSION, f"Spoken here: {', '.join(supported)}.", data)


def is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_batch(value: Any) -> bool:
    return isinstance(value, list) and value != []


def _is_id(value: Any) -> bool:
    return type(value) is str or type(value) is int


def _joined(first: bytes, second: bytes) -> bytes:
    """Two JSON objects as one, without parsing either; both have members."""
    return first[:-1] + b"," + second[1:]


def _encoded(value: object) -> bytes:
    """Escaped to ASCII, so that even half a surrogate pair in an id goes back as it came."""
    return b"%d" % value if type(value) is int else json.dumps(value, separators=(",", ":")).encode()


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)
