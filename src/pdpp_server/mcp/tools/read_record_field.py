"""The `read_record_field` tool: one bounded window of one long field."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pdpp_server.errors import ConflictingConnectionId, InvalidFieldWindowSelector
from pdpp_server.evidence.budgets import LEAD_CHARS, WINDOW_STEPS_BYTES, WINDOW_STRUCTURED_BYTES
from pdpp_server.evidence.handles import mint, parse
from pdpp_server.evidence.read_record_field import narrowed, require_text, window_next, window_text
from pdpp_server.evidence.shown import window_shown
from pdpp_server.evidence.text import byte_len, visible_lines
from pdpp_server.mcp.arguments import arguments_for, input_schema
from pdpp_server.mcp.render import json_bytes
from pdpp_server.mcp.tool import Tool, ToolResult
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import WINDOW_CHARS, WINDOW_CHARS_MAX, WindowQuery
from pdpp_server.model.records import RecordId
from pdpp_server.model.text import FieldWindow
from pdpp_server.port.reader import Reader
from pdpp_server.wire.tool_answers import WINDOW_ANSWER
from pdpp_server.wire.tools import encode_window

_PARTS = ("connection_id", "stream", "record_id")
_PLACES = ("cursor", "offset_chars", "q")


def read_record_field(reader: Reader, arguments: Mapping[str, Any]) -> Pending[ToolResult]:
    query = _query(arguments)
    found = reader.read_record_field(query)
    return found.shaped(partial(_result, query, found.request_id))


def _result(query: WindowQuery, request_id: str, found: FieldWindow) -> ToolResult:
    require_text(found)

    def structured(window: FieldWindow) -> Mapping[str, Any]:
        return encode_window(window, mint(window.id), request_id, window_next(window))

    def fits(text: str) -> bool:
        return json_bytes({"": text}) <= room and byte_len(visible_lines(text)) <= room

    around = json_bytes(structured(replace(found, text="")))
    room = WINDOW_STRUCTURED_BYTES - around - WINDOW_STEPS_BYTES
    window, shown = narrowed(found, fits), window_shown(found)
    text = window_text(window, asked=query.limit if window != found else None)
    return ToolResult(text, structured(window), shown, shown)


def _query(arguments: Mapping[str, Any]) -> WindowQuery:
    id = _record(arguments)
    places = [name for name in _PLACES if name in arguments]
    if len(places) > 1:
        raise _refusal(f"{' and '.join(places)} exclude each other: one of them places the window.", places[1])
    context = [name for name in ("before_chars", "after_chars") if name in arguments]
    if context and "q" not in arguments:
        raise _refusal(f"{context[0]} needs q: it counts from a match.", context[0])
    q, before, after = arguments.get("q"), arguments.get("before_chars", 0), arguments.get("after_chars")
    around = before + len(q or "") + (after or 0)
    usual = min(around, WINDOW_CHARS_MAX) if context else WINDOW_CHARS
    limit = arguments.get("limit_chars", usual)
    if q is not None and not context:  # what stands before a match often says what it is about
        before = min(LEAD_CHARS, limit // 4)
    if after is not None:
        limit = min(limit, around)
    offset = int(arguments.get("cursor", arguments.get("offset_chars", 0)))
    connection = id.connection_id or None
    return WindowQuery(id.stream, id.key, arguments["field_path"], connection, offset, limit, q, before)


def _record(arguments: Mapping[str, Any]) -> RecordId:
    """By its id, or by all three parts of it."""
    parts = [name for name in _PARTS if name in arguments]
    if "id" not in arguments:
        if len(parts) < len(_PARTS):
            raise _refusal("Give id, or connection_id, stream and record_id together.", "id")
        return RecordId(arguments["connection_id"], arguments["stream"], arguments["record_id"])
    if "stream" in parts or "record_id" in parts:
        raise _refusal("id excludes stream and record_id: it names them already.", parts[-1])
    id = parse(arguments["id"])
    connection = arguments.get("connection_id", id.connection_id)
    if id.connection_id and connection != id.connection_id:
        raise ConflictingConnectionId("The id and connection_id name different connections.", param="connection_id")
    return id._replace(connection_id=connection)


def _refusal(message: str, param: str) -> InvalidFieldWindowSelector:
    remedy = 'For example {"id": ID, "field_path": FIELD, "offset_chars": 0}.'
    return InvalidFieldWindowSelector(message, param=param, remedy=remedy)


_WINDOW = arguments_for(WindowQuery)

READ_RECORD_FIELD = Tool(
    "read_record_field",
    "Read part of a field",
    "One window of one field of a record: from offset_chars, on from cursor, or around the first match of q (one of "
    "them). Offsets count Unicode characters. Each answer says how to go on.",
    input_schema(
        {
            "id": {"type": "string", "minLength": 1, "description": "connection_id/stream:record_key, as printed"},
            "stream": {"type": "string", "minLength": 1},
            "record_id": {"type": "string", "minLength": 1},
            **_WINDOW,
            "after_chars": _WINDOW["before_chars"],
            "cursor": {"type": "string", "pattern": "^[0-9]{1,15}$"},
        },
        "field_path",
    ),
    WINDOW_ANSWER,
    read_record_field,
)
