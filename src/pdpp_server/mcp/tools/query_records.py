"""The `query_records` tool: list the records of one stream."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from pdpp_server.errors import ConflictingConnectionId, InvalidRecordId
from pdpp_server.evidence.binary import page_without_bytes
from pdpp_server.evidence.budgets import (
    FITTED_CHARS_MIN,
    FITTED_FIELDS_STEPS,
    FITTED_ONLY_CHARS_MIN,
    FITTED_RECORD_BYTES,
    FITTED_RELATED_STEPS,
    QUERY_STRUCTURED_BYTES,
)
from pdpp_server.evidence.fitted import Fitted, even_chars, fitted, is_short
from pdpp_server.evidence.handles import mint, parse
from pdpp_server.evidence.query_records import records_next, records_text
from pdpp_server.evidence.remarks import records_shortened
from pdpp_server.evidence.shown import around_shown
from pdpp_server.mcp.arguments import arguments_for, input_schema
from pdpp_server.mcp.render import json_bytes
from pdpp_server.mcp.tool import Tool, ToolResult
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import AROUND_LIMIT, RecordsQuery
from pdpp_server.model.records import RecordPage
from pdpp_server.port.reader import Reader
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.query_records import decode_query
from pdpp_server.wire.tool_answers import RECORDS_ANSWER
from pdpp_server.wire.tools import encode_records, params_of


def query_records(reader: Reader, arguments: Mapping[str, Any]) -> Pending[ToolResult]:
    query = decode_query(params_of(RecordsQuery, _with_key(arguments), "stream"), stream=arguments["stream"])
    found = reader.query_records(query).shaped(page_without_bytes)
    return found.followed(lambda page: _Fitting(reader, query, arguments).result(found, page, len(page.records)))


def _with_key(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """A tool names a record by its id; the server by its connection, stream and key."""
    if "around" not in arguments:
        return arguments
    try:
        id = parse(arguments["around"])
    except InvalidRecordId as refusal:
        refusal.param = "around"
        raise
    if id.stream != arguments["stream"]:
        raise InvalidRecordId("The id in around is of another stream.", param="around")
    connection = arguments.get("connection_id")
    if connection is not None and id.connection_id and connection != id.connection_id:
        raise ConflictingConnectionId("around and connection_id name different connections.", param="connection_id")
    named = {"connection_id": id.connection_id} if id.connection_id else {}
    return {"limit": AROUND_LIMIT, **arguments, "around": id.key, **named}


class _Structured(NamedTuple):
    """A page as the structured channel shows it."""

    page: RecordPage
    body: Json
    size: int


@dataclass(frozen=True, slots=True)
class _Fitting:
    """One question, until its answer fits: long values are clipped first, then there are fewer records."""

    reader: Reader
    query: RecordsQuery
    asked: Mapping[str, Any]

    def result(self, found: Pending[RecordPage], page: RecordPage, count: int) -> Pending[ToolResult]:
        """The first `count` records of what was found, or fewer."""
        made = self._structured(page, found.request_id)
        if made.size <= QUERY_STRUCTURED_BYTES or min(count, len(page.records)) <= 1:
            text = records_text(page, self.query, self.asked)
            if page.around and _cut(page, text.shown) is None:
                return self._again(text.shown)
            done = ToolResult(text.text, made.body, text.told, around_shown(made.page))
            return found.shaped(lambda _: done)
        fewer = max(1, min(count - 1, count * QUERY_STRUCTURED_BYTES // made.size))
        cut = _cut(page, fewer)
        if cut is None:
            return self._again(fewer)
        return self.result(found, records_shortened(cut, self.query.limit), fewer)

    def _again(self, fewer: int) -> Pending[ToolResult]:
        """Asked with another limit, where nobody makes cursors for a part of a page."""
        again = self.reader.query_records(replace(self.query, limit=fewer)).shaped(page_without_bytes)
        return again.followed(lambda shorter: self.result(again, records_shortened(shorter, self.query.limit), fewer))

    def _structured(self, page: RecordPage, request_id: str) -> _Structured:
        """The first way that fits, or the last."""
        made = _Structured(page, {}, 0)
        for way in _ways(page):
            body = encode_records(
                way.page,
                self.query.stream,
                request_id,
                handle_of=mint,
                clipped=way.clipped,
                omitted=way.omitted,
                steps=records_next(way, self.query, self.asked),
            )
            made = _Structured(way.page, body, json_bytes(body))
            if made.size <= QUERY_STRUCTURED_BYTES:
                break
        return made


def _ways(page: RecordPage) -> Iterator[Fitted]:
    """The page with ever shorter values; of a single record also with fewer related ones and fewer fields."""
    room = QUERY_STRUCTURED_BYTES - FITTED_RECORD_BYTES * (len(page.records) + 1)
    is_whole = is_short(page, room)
    if is_whole:
        yield fitted(page, None)
    chars = even_chars(page, room)
    if is_whole:
        chars = chars * 3 // 4
    is_only = len(page.records) == 1
    least = FITTED_ONLY_CHARS_MIN if is_only else FITTED_CHARS_MIN
    while chars > least:
        yield fitted(page, chars)
        chars = chars * 3 // 4
    yield fitted(page, least)
    if is_only:
        for most in FITTED_RELATED_STEPS:
            yield fitted(page, least, related=most)
        for most in FITTED_FIELDS_STEPS:
            yield fitted(page, least, related=0, fields=most)


def _cut(page: RecordPage, count: int) -> RecordPage | None:
    """The first `count` records and the cursor that goes on after them; None where the server gave no such cursor."""
    if page.around:
        return _cut_around(page, count)
    cursor = page.cursor_after(count - 1)
    if cursor is None:
        return None
    return replace(page, records=page.records[:count], next_cursor=cursor, next_changes_since=None)


def _cut_around(page: RecordPage, count: int) -> RecordPage | None:
    """The nearest, and a cursor wherever that leaves something out."""
    fewer = page.nearest(count)
    assert fewer.around
    is_first_here, is_last_here = page.records[:1] == fewer.records[:1], page.records[-1:] == fewer.records[-1:]
    has_cursors = (is_first_here or fewer.around.earlier_cursor) and (is_last_here or fewer.around.later_cursor)
    return fewer if has_cursors else None


QUERY_RECORDS = Tool(
    "query_records",
    "List records",
    "Records of one stream, newest first, narrowed by typed filter, fields or view; or those right before and after "
    "one; or what changed since a bookmark. Each has a handle that fetch and read_record_field take as id. "
    "schema(stream) says what can be filtered.",
    input_schema(arguments_for(RecordsQuery), "stream"),
    RECORDS_ANSWER,
    query_records,
)
