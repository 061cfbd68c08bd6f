"""The `query_records` tool: list the records of one stream."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pdpp_server.evidence.handles import mint
from pdpp_server.evidence.query_records import (
    LEAST_CHARS,
    Fitted,
    even_chars,
    fitted,
    records_next,
    records_text,
)
from pdpp_server.evidence.search import TOOL_LIMIT
from pdpp_server.mcp.arguments import CONNECTION_ID, EXPAND, EXPAND_LIMIT, FILTER, NAMES, STREAM
from pdpp_server.mcp.render import json_bytes
from pdpp_server.mcp.tool import Tool, ToolResult
from pdpp_server.model.queries import RECORDS_LIMIT_MAX, RecordsQuery
from pdpp_server.model.records import RecordPage, Warned
from pdpp_server.port.reader import Answer, Reader
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.tools import decode_records, encode_records

STRUCTURED_BYTES = 24_000
_RECORD_BYTES = 400  # about what a record takes beside its data
_FEWER = (40, 20, 10, 5, 2, 1, 0)  # fields and related records of the only record, where even that is too long


def query_records(reader: Reader, arguments: Mapping[str, Any]) -> ToolResult:
    query = decode_records(arguments, TOOL_LIMIT)
    page, structured = _fitting_page(reader, query, arguments)
    return ToolResult(records_text(page, query, arguments).text, structured)


def _fitting_page(reader: Reader, query: RecordsQuery, asked: Mapping[str, Any]) -> tuple[RecordPage, Json]:
    """The page and its structured form: long values are clipped first, then there are fewer records."""
    whole = found = reader.query_records(query)
    count = len(whole.value.records)
    while True:
        page, size, body = found.value, 0, dict[str, Any]()
        for way in _ways(page):
            body = encode_records(
                way.page,
                query.stream,
                found.request_id,
                handle_of=mint,
                clipped=way.clipped,
                omitted=way.omitted,
                steps=records_next(way, asked),
            )
            size = json_bytes(body)
            if size <= STRUCTURED_BYTES:
                return page, body
        if min(count, len(page.records)) <= 1:
            return page, body
        count = max(1, min(count - 1, count * STRUCTURED_BYTES // size))
        found = _cut(reader, query, whole, count)


def _ways(page: RecordPage) -> Iterator[Fitted]:
    """The page with ever shorter values; of a single record also with fewer related ones and fewer fields."""
    chars = even_chars(page, STRUCTURED_BYTES - _RECORD_BYTES * (len(page.records) + 1))
    while chars > LEAST_CHARS:
        yield fitted(page, chars)
        chars = chars * 3 // 4
    yield fitted(page, LEAST_CHARS)
    if len(page.records) == 1:
        for most in _FEWER:
            yield fitted(page, LEAST_CHARS, related=most)
        for most in (300, 200, 100, *_FEWER):
            yield fitted(page, LEAST_CHARS, related=0, fields=most)


def _cut(reader: Reader, query: RecordsQuery, whole: Answer[RecordPage], count: int) -> Answer[RecordPage]:
    """The first `count` records and the cursor that goes on after them; without one they are asked for again."""
    cursor = whole.value.cursor_after(count - 1)
    if cursor is None:
        found = reader.query_records(replace(query, limit=count))
    else:
        kept = whole.value.records[:count]
        found = replace(whole, value=replace(whole.value, records=kept, next_cursor=cursor, next_changes_since=None))
    page = found.value
    here = len(page.records)
    message = f"{query.limit} records were asked for, {here} fit in one answer; the cursor goes on after them."
    return replace(found, value=replace(page, warnings=(*page.warnings, Warned("page_shortened", message, "limit"))))


QUERY_RECORDS = Tool(
    "query_records",
    "List records",
    "Records of one stream, newest first, narrowed by typed filter, fields or view; or what changed since a bookmark. "
    "Each has a handle that fetch and read_record_field take as id. schema(stream) says what can be filtered.",
    {
        "type": "object",
        "properties": {
            "stream": STREAM,
            "filter": FILTER,
            "sort": {"type": "string", "minLength": 1, "description": "field or -field, where schema shows sort"},
            "fields": {**NAMES, "description": "Only these fields"},
            "view": {"type": "string", "minLength": 1, "description": "A declared view, instead of fields"},
            "expand": EXPAND,
            "expand_limit": EXPAND_LIMIT,
            "count": {"enum": ["none", "exact"]},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": RECORDS_LIMIT_MAX,
                "description": f"Default {TOOL_LIMIT}",
            },
            "cursor": {"type": "string", "minLength": 1, "description": "From an earlier answer, same query"},
            "changes_since": {
                "type": "string",
                "minLength": 1,
                "description": '"beginning" or next_changes_since; takes no filter, sort, count or expand',
            },
            "connection_id": CONNECTION_ID,
        },
        "required": ["stream"],
        "additionalProperties": False,
    },
    {
        "type": "object",
        "properties": {
            "data": {"type": "object", "description": "data[].handle is the id for fetch"},
            "next": {"type": "array"},
            "read_with": {"type": "object"},
            "request_id": {"type": "string"},
        },
        "anyOf": [{"required": ["data", "next"]}, {"required": ["error"]}],
    },
    query_records,
)
