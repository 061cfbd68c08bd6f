"""One MCP server: call a tool, read a resource, complete a name; any refusal becomes an answer."""

import os
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import orjson
from jsonschema_rs import Draft202012Validator, ValidationError, ValidationErrorKind

from pdpp_server.errors import InvalidRecordId, InvalidRequest, NotFound, PdppError
from pdpp_server.evidence.budgets import (
    REFUSAL_NAME_CHARS,
    REFUSAL_NAMES_SHOWN,
    REFUSAL_PROBLEMS_SHOWN,
    REFUSAL_URI_BYTES,
)
from pdpp_server.evidence.text import clip_bytes
from pdpp_server.mcp.arguments import meant, refusal_of
from pdpp_server.mcp.render import passed_on, refuse
from pdpp_server.mcp.resources import Completion, completion_of, completions, resource_call, template_of
from pdpp_server.mcp.session import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    RESOURCE_NOT_FOUND,
    ProtocolFault,
    strict_json,
    tool_call,
)
from pdpp_server.mcp.tool import Tool, ToolResult
from pdpp_server.model.activity import Shown, together
from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.pending import Leaving, Pending
from pdpp_server.model.queries import SchemaQuery
from pdpp_server.port.bridge import Bridge
from pdpp_server.port.reader import Reader

TEXT, STRUCTURED = "text", "structured"
BOTH_CHANNELS = frozenset({TEXT, STRUCTURED})

Arguments = Mapping[str, Any]
Channels = frozenset[str]
OpenReader = Callable[[], Reader | Bridge]
NO_NAMES = Catalogue("client", None, (), ())  # what is known of a server that is read through its own tools
FaultKind = ValidationErrorKind


class Called(NamedTuple):
    """The JSON of a result, and the refusal that it is, if it is one."""

    result: bytes
    refusal: PdppError | None


class McpServer:
    """The tools, each with its input schema compiled once. Bugs are told to `report`, never to a client."""

    def __init__(self, tools: Iterable[Tool], report: Callable[[Exception, str], None] | None = None) -> None:
        self._report = report or write_report
        self._tools = {tool.name: (tool, Draft202012Validator(dict(tool.input_schema))) for tool in tools}

    def warm(self, open_reader: OpenReader) -> None:
        """Open the reader before it is needed; trouble is met again, and answered, at the first call."""
        with suppress(Exception):
            open_reader()

    def serve(
        self, open_reader: OpenReader, method: str, params: dict[str, Any], request_id: str | None = None
    ) -> Called:
        """What a live method gives. Raises: Fault, and for a refusal too where that is no result of the method."""
        if method == "tools/call":
            return self.answer(open_reader, *tool_call(params), request_id)
        work = self._read if method == "resources/read" else self._complete
        try:
            return Called(work(open_reader, params, request_id), None)
        except Exception as bug:  # noqa: BLE001 - with `answer`, where a bug becomes an answer
            raise self._fault_of(bug, request_id) from None

    def operation_of(self, method: str, params: Mapping[str, Any]) -> str | None:
        """The tool by which a live method will be answered; None where that is no tool of ours."""
        if method == "tools/call":
            name = params.get("name")
            return name if isinstance(name, str) and name in self._tools else None
        if method == "resources/read":
            uri = params.get("uri")
            template = template_of(uri) if isinstance(uri, str) else None
            return template.tool if template else None
        return "schema" if method == "completion/complete" else None

    def call(
        self, open_reader: OpenReader, name: str, arguments: Arguments, channels: Channels = BOTH_CHANNELS
    ) -> bytes:
        """The JSON of one result; a refusal is a result too. Raises: Fault for an unknown tool, and for a bug.

        Whoever shows one channel alone asks for that one, and the other does not leave.
        """
        return self.answer(open_reader, name, arguments, channels=channels).result

    def answer(
        self,
        open_reader: OpenReader,
        name: str,
        arguments: Arguments,
        request_id: str | None = None,
        channels: Channels = BOTH_CHANNELS,
    ) -> Called:
        """The same, under a request id that the caller may have given already."""
        if name not in self._tools:
            raise ProtocolFault(INVALID_PARAMS, f"There is no such tool. The tools are: {', '.join(self._tools)}.")
        try:
            try:
                pending = self._called(open_reader, name, arguments)
                return Called(pending.leave(lambda result: _sent(result, channels)), None)
            except PdppError as refusal:
                refusal.request_id = refusal.request_id or request_id or new_request_id()
                return Called(_encoded(refuse(refusal), BOTH_CHANNELS), refusal)
        except Exception as bug:  # noqa: BLE001 - with `serve`, where a bug becomes an answer
            raise self._fault_of(bug, request_id) from None

    def _fault_of(self, error: Exception, request_id: str | None) -> ProtocolFault:
        """What the client is told: a fault as it is, and of a bug that there was one."""
        if isinstance(error, ProtocolFault):
            return error
        request_id = request_id or new_request_id()
        self._report(error, request_id)
        return ProtocolFault(INTERNAL_ERROR, f"Internal error. Request id: {request_id}.")

    def _called(self, open_reader: OpenReader, name: str, arguments: Arguments) -> Pending[ToolResult]:
        tool, validator = self._tools[name]
        asked = meant(tool.input_schema, arguments)
        check_arguments(tool, validator, asked)
        reader = open_reader()
        return passed_on(reader.call(name, asked)) if isinstance(reader, Bridge) else tool.call(reader, asked)

    def _read(self, open_reader: OpenReader, params: Arguments, request_id: str | None) -> bytes:
        """A resource is the text of its tool: the same call, budget and grant; what that text shows is logged."""
        uri = params.get("uri")
        if not isinstance(uri, str):
            raise ProtocolFault(INVALID_PARAMS, "resources/read needs the uri of a resource.")
        try:
            template, arguments = resource_call(uri)
            pending = self._called(open_reader, template.tool, arguments)
            return pending.leave(lambda result: _sent_as_resource(result, uri, template.media_type))
        except PdppError as refusal:
            raise refused(refusal, request_id, uri=clip_bytes(uri, REFUSAL_URI_BYTES)) from None

    def _complete(self, open_reader: OpenReader, params: Arguments, request_id: str | None) -> bytes:
        asked = completion_of(params)
        try:
            reader = open_reader()
            if isinstance(reader, Bridge):
                return _sent_names(asked, NO_NAMES).body
            return reader.schema(SchemaQuery()).leave(lambda catalogue: _sent_names(asked, catalogue))
        except PdppError as refusal:
            raise refused(refusal, request_id) from None


def refused(refusal: PdppError, request_id: str | None, **about: str) -> ProtocolFault:
    """A refusal as a fault, with the words and the envelope that a tool's result would have."""
    refusal.request_id = refusal.request_id or request_id or new_request_id()
    said = refuse(refusal)
    if isinstance(refusal, NotFound | InvalidRecordId):
        code = RESOURCE_NOT_FOUND
    else:
        is_ours = refusal.status >= 500 or refusal.retry_after_seconds > 0  # then no other params would help
        code = INTERNAL_ERROR if is_ours else INVALID_PARAMS
    fault = ProtocolFault(code, said.text, {**about, **said.structured})
    fault.refusal = refusal
    return fault


def decode(line: bytes) -> Any:
    """JSON as strangers send it: half a surrogate pair passes here, and is refused where it stands."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return strict_json(line)


def new_request_id() -> str:
    return f"req_{os.urandom(8).hex()}"


def write_report(bug: Exception, request_id: str) -> None:
    """Where it happened and its type; never its words, for they may hold text of a record."""
    sys.stderr.write(f"{request_id} {type(bug).__name__}\n{''.join(traceback.format_tb(bug.__traceback__))}")
    sys.stderr.flush()


def check_arguments(tool: Tool, validator: Draft202012Validator, arguments: Arguments) -> None:
    """Raises: InvalidRequest, in words that let an agent repair its call."""
    try:
        orjson.dumps(arguments)
    except TypeError:
        raise InvalidRequest("The arguments hold half of a surrogate pair, which is no text.") from None
    if not validator.is_valid(arguments):
        problems = list(validator.iter_errors(arguments))
        said = " ".join(dict.fromkeys(problem_text(tool, problem) for problem in problems[:REFUSAL_PROBLEMS_SHOWN]))
        name = _argument(problems[0])
        is_known = name in tool.input_schema.get("properties", ())
        raise refusal_of(name, said) if is_known else InvalidRequest(said, param=name)


def problem_text(tool: Tool, problem: ValidationError) -> str:
    """One sentence that names the argument, and what it takes instead."""
    where = _place(problem.instance_path)
    match problem.kind:
        case FaultKind.AdditionalProperties(unexpected=names) | FaultKind.UnevaluatedProperties(unexpected=names):
            return _unknown_text(tool, problem.instance_path, names)
        case FaultKind.Required(property=name):
            return f"{name} is required{f' in {where}' if problem.instance_path else ''}."
        case FaultKind.Type(types=types):
            return f"{where} must be {' or '.join(f'of type {name}' for name in types)}."
        case FaultKind.Enum(options=options):
            return f"{where} must be one of {_json(options)}."
        case FaultKind.Constant(expected_value=value):
            return f"{where} must be {_json(value)}."
        case FaultKind.Minimum(limit=limit):
            return f"{where} must be at least {limit}."
        case FaultKind.Maximum(limit=limit):
            return f"{where} must be at most {limit}."
        case FaultKind.MinLength(limit=limit):
            return f"{where} must have at least {limit} character(s)."
        case FaultKind.MaxLength(limit=limit):
            return f"{where} must have at most {limit} characters."
        case FaultKind.MinItems(limit=limit) | FaultKind.MinProperties(limit=limit):
            return f"{where} must have at least {limit} item(s)."
        case FaultKind.MaxItems(limit=limit) | FaultKind.MaxProperties(limit=limit):
            return f"{where} must have at most {limit} items."
        case FaultKind.Pattern(pattern=pattern):
            return f"{where} must match {pattern}."
        case _:
            return f"{where} does not fit the input schema of {tool.name}."


def _unknown_text(tool: Tool, path: list[str | int], names: list[str]) -> str:
    shown = ", ".join(_quoted(name) for name in names[:REFUSAL_NAMES_SHOWN])
    if path:
        return f"{_place(path)} does not take {shown}."
    return f"{tool.name} does not take {shown}. It takes: {', '.join(tool.input_schema['properties'])}."


def _argument(problem: ValidationError) -> str | None:
    match problem.kind:
        case FaultKind.AdditionalProperties(unexpected=[name, *_]) if not problem.instance_path:
            return name[:REFUSAL_NAME_CHARS]
        case FaultKind.Required(property=name) if not problem.instance_path:
            return str(name)
        case _:
            return str(problem.instance_path[0])[:REFUSAL_NAME_CHARS] if problem.instance_path else None


def _place(path: list[str | int]) -> str:
    if not path:
        return "The arguments"
    steps = [f"[{step}]" if isinstance(step, int) else f".{step[:REFUSAL_NAME_CHARS]}" for step in path]
    return "".join(steps).lstrip(".")


def _quoted(name: str) -> str:
    """A name that a caller made up: short, and with nothing invisible in it."""
    return repr(name[:REFUSAL_NAME_CHARS])


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


# What leaves ----------------------------------------------------------------------------------------------------------


def _sent(result: ToolResult, channels: Channels) -> Leaving[bytes]:
    raw = _encoded(result, channels)
    return Leaving(raw, _shown(result, channels), len(raw))


def _shown(result: ToolResult, channels: Channels) -> Shown:
    """What leaves in either channel."""
    if STRUCTURED not in channels:
        return result.text_shows
    if TEXT not in channels or result.text_shows is result.structured_shows:
        return result.structured_shows
    return together(result.structured_shows, result.text_shows)


def _encoded(result: ToolResult, channels: Channels) -> bytes:
    if channels is BOTH_CHANNELS and not result.is_error:
        content = [{"type": "text", "text": result.text}]
        return orjson.dumps({"content": content, "structuredContent": result.structured})
    body: dict[str, Any] = {}
    if TEXT in channels:
        body["content"] = [{"type": "text", "text": result.text}]
    if STRUCTURED in channels:
        body["structuredContent"] = result.structured
    if result.is_error:
        body["isError"] = True
    return orjson.dumps(body)


def _sent_as_resource(result: ToolResult, uri: str, media_type: str) -> Leaving[bytes]:
    if not result.found:
        raise NotFound("No such stream is granted here.", remedy="Call schema {} for the streams that are.")
    raw = orjson.dumps({"contents": [{"uri": uri, "mimeType": media_type, "text": result.text}]})
    return Leaving(raw, result.text_shows, len(raw))


def _sent_names(asked: Completion, catalogue: Catalogue) -> Leaving[bytes]:
    completed = completions(asked, catalogue)
    raw = orjson.dumps(completed.body)
    return Leaving(raw, completed.shown, len(raw))
