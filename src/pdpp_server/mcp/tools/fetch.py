"""The `fetch` tool: one record by its handle."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pdpp_server.errors import ConflictingConnectionId
from pdpp_server.evidence.fetch import document
from pdpp_server.evidence.handles import mint, parse
from pdpp_server.mcp.arguments import arguments_for, input_schema
from pdpp_server.mcp.render import record_url
from pdpp_server.mcp.tool import Tool, ToolResult
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import FetchQuery
from pdpp_server.model.records import Record
from pdpp_server.port.reader import Reader
from pdpp_server.wire.fetch import decode_query
from pdpp_server.wire.tool_answers import DOCUMENT_ANSWER
from pdpp_server.wire.tools import check_size, encode_document, params_of

_NAMING = {"id", "connection_id"}


def fetch(reader: Reader, arguments: Mapping[str, Any]) -> Pending[ToolResult]:
    return reader.fetch(_query(arguments)).shaped(partial(_result, reader))


def _result(reader: Reader, record: Record) -> ToolResult:
    handle = mint(record.id)
    made = document(record, handle, record_url(reader, handle), encode_document)
    shown = made.shown
    return ToolResult(made.text, made.structured, shown, shown)


def _query(arguments: Mapping[str, Any]) -> FetchQuery:
    id, connection = parse(arguments["id"]), arguments.get("connection_id")
    if connection is not None and id.connection_id and connection != id.connection_id:
        raise ConflictingConnectionId("The id and connection_id name different connections.", param="connection_id")
    connection_id = id.connection_id or connection
    if arguments.keys() <= _NAMING:  # as in nearly every call
        check_size(arguments)
        return FetchQuery(id.stream, id.key, connection_id)
    query = decode_query(params_of(FetchQuery, arguments, "connection_id"), stream=id.stream, key=id.key)
    return replace(query, connection_id=connection_id)


FETCH = Tool(
    "fetch",
    "Fetch one record",
    "One record as a document: id, title, text, url, metadata. Pass the id as search printed it; nothing else is "
    "needed. A long text is cut and says which read_record_field call goes on; fields picks fields.",
    input_schema(
        {
            "id": {"type": "string", "minLength": 1, "description": "connection_id/stream:record_key"},
            **arguments_for(FetchQuery),
        },
        "id",
    ),
    DOCUMENT_ANSWER,
    fetch,
)
