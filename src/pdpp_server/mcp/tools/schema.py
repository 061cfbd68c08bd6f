"""The `schema` tool: what may be asked, of which streams and connections."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from pdpp_server.errors import InvalidRequest
from pdpp_server.evidence.schema import (
    connection_numbers,
    index_next,
    index_text,
    number_ranges,
    shown_catalogue,
    stream_next,
    stream_text,
)
from pdpp_server.mcp.render import json_bytes
from pdpp_server.mcp.tool import Tool, ToolResult
from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.queries import SchemaQuery
from pdpp_server.port.reader import Reader
from pdpp_server.wire import tools as wire

INDEX_BYTES, STREAM_BYTES, FULL_BYTES = 16_000, 10_000, 40_000
_WRAPPER_BYTES = 600  # next and request_id around the document

Way = Callable[[], dict[str, Any]]


def schema(reader: Reader, arguments: Mapping[str, Any]) -> ToolResult:
    full = arguments.get("detail") == "full"
    query = SchemaQuery(arguments.get("stream"), arguments.get("connection_id"), full)
    if full and query.stream is None:
        raise InvalidRequest(
            "detail full needs a stream.",
            param="detail",
            remedy='Call schema {}, then schema {"stream": NAME, "connection_id": ID, "detail": "full"}.',
        )
    found = reader.schema(query)
    catalogue = shown_catalogue(found.value)
    if query.stream is None:
        document = _first_that_fits(_index_ways(catalogue), INDEX_BYTES)
        return ToolResult(index_text(catalogue), wire.encode_schema(document, found.request_id, index_next(catalogue)))
    ways, limit = (_full_ways(catalogue), FULL_BYTES) if full else (_stream_ways(catalogue), STREAM_BYTES)
    document = _first_that_fits(ways, limit)
    text = stream_text(catalogue, full=full)
    structured = wire.encode_schema(document, found.request_id, stream_next(catalogue))
    return ToolResult(text, structured, found=bool(catalogue.entries))


def _first_that_fits(ways: Iterator[Way], limit: int) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for way in ways:
        document = way()
        if json_bytes(document) <= limit - _WRAPPER_BYTES:
            break
    return document


def _index_ways(catalogue: Catalogue) -> Iterator[Way]:
    yield partial(wire.encode_index, catalogue)
    for label_chars, counts in ((80, True), (40, True), (20, True), (0, False)):
        labelled = shown_catalogue(catalogue, label_chars)
        numbers = {origin.connection_id: number for origin, number in connection_numbers(labelled).items()}
        yield partial(wire.encode_numbered_index, labelled, numbers, number_ranges, counts=counts)
    yield partial(wire.encode_names, catalogue)


def _stream_ways(catalogue: Catalogue) -> Iterator[Way]:
    yield partial(wire.encode_stream, catalogue)
    for fields in _fewer(catalogue):
        yield partial(wire.encode_stream, catalogue, fields=fields)
    for fields in (20, 5, 0):
        yield partial(wire.encode_stream, catalogue, fields=fields, holdings=False)


def _full_ways(catalogue: Catalogue) -> Iterator[Way]:
    yield partial(wire.encode_full_stream, catalogue)
    yield partial(wire.encode_full_stream, catalogue, flags=True)
    for fields in _fewer(catalogue):
        yield partial(wire.encode_full_stream, catalogue, flags=True, fields=fields)


def _fewer(catalogue: Catalogue) -> Iterator[int]:
    """Ever fewer fields, a fifth less each time."""
    most = max((len(entry.stream.fields) for entry in catalogue.entries), default=0)
    while most > 0:
        yield most
        most = most * 4 // 5
    yield 0


SCHEMA = Tool(
    "schema",
    "What can be read",
    "Start here. Without arguments: every granted stream and connection. With stream: its fields and what each can do.",
    {
        "type": "object",
        "properties": {
            "stream": {"type": "string", "minLength": 1},
            "connection_id": {"type": "string", "minLength": 1, "description": "Only this source"},
            "detail": {"enum": ["compact", "full"], "description": "full needs stream; default compact"},
        },
        "additionalProperties": False,
    },
    {
        "type": "object",
        "properties": {
            "data": {"type": "object"},
            "next": {"type": "array"},
            "request_id": {"type": "string"},
        },
        "anyOf": [{"required": ["data", "next"]}, {"required": ["error"]}],
    },
    schema,
)
