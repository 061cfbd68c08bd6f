"""The `schema` tool: what may be asked, of which streams and connections."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from pdpp_server.errors import InvalidRequest
from pdpp_server.evidence.budgets import (
    SCHEMA_FIELD_STEPS,
    SCHEMA_FULL_STRUCTURED_BYTES,
    SCHEMA_INDEX_STRUCTURED_BYTES,
    SCHEMA_LABEL_STEPS,
    SCHEMA_STREAM_STRUCTURED_BYTES,
    SCHEMA_WRAPPER_BYTES,
)
from pdpp_server.evidence.schema import (
    connection_numbers,
    index_next,
    index_text,
    is_of_one_stream,
    number_ranges,
    several_sources,
    shown_catalogue,
    stream_next,
    stream_text,
)
from pdpp_server.evidence.shown import catalogue_shown
from pdpp_server.mcp.arguments import arguments_for, input_schema
from pdpp_server.mcp.render import json_bytes
from pdpp_server.mcp.tool import Tool, ToolResult
from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import SchemaQuery
from pdpp_server.port.reader import Reader
from pdpp_server.wire import tools as wire
from pdpp_server.wire.tool_answers import SCHEMA_ANSWER


class SchemaForm(NamedTuple):
    """One form of the document; `days` where it tells from when to when there are records."""

    make: Callable[[], dict[str, Any]]
    days: bool = False


class SchemaDocument(NamedTuple):
    body: dict[str, Any]
    days: bool = False


def schema(reader: Reader, arguments: Mapping[str, Any]) -> Pending[ToolResult]:
    full = arguments.get("detail") == "full"
    query = SchemaQuery(arguments.get("stream"), arguments.get("connection_id"), full)
    if full and query.stream is None:
        raise InvalidRequest(
            "detail full needs a stream.",
            param="detail",
            remedy='Call schema {}, then schema {"stream": NAME, "connection_id": ID, "detail": "full"}.',
        )
    found = reader.schema(query)
    return found.shaped(partial(_result, query, found.request_id))


def _result(query: SchemaQuery, request_id: str, whole: Catalogue) -> ToolResult:
    catalogue = shown_catalogue(whole)
    if query.stream is None:
        text, steps = index_text(catalogue), index_next(catalogue)
        document = _first_that_fits(_index_ways(catalogue), SCHEMA_INDEX_STRUCTURED_BYTES)
    elif query.full:
        text, steps = stream_text(catalogue, full=True), stream_next(catalogue)
        document = _first_that_fits(_full_ways(catalogue), SCHEMA_FULL_STRUCTURED_BYTES)
    else:
        text, steps = stream_text(catalogue), stream_next(catalogue)
        document = _first_that_fits(_stream_ways(catalogue), SCHEMA_STREAM_STRUCTURED_BYTES)
    return ToolResult(
        text.text,
        wire.encode_schema(document.body, request_id, steps, several_sources(catalogue)),
        catalogue_shown(catalogue, days=text.days),
        catalogue_shown(catalogue, days=document.days),
        found=query.stream is None or bool(catalogue.entries),
    )


def _first_that_fits(ways: Iterator[SchemaForm], limit: int) -> SchemaDocument:
    document = SchemaDocument({})
    for way in ways:
        document = SchemaDocument(way.make(), way.days)
        if json_bytes(document.body) <= limit - SCHEMA_WRAPPER_BYTES:
            break
    return document


def _index_ways(catalogue: Catalogue) -> Iterator[SchemaForm]:
    if is_of_one_stream(catalogue):
        yield SchemaForm(partial(wire.encode_index, catalogue, fields=True), days=True)
    yield SchemaForm(partial(wire.encode_index, catalogue), days=True)
    for label_chars in SCHEMA_LABEL_STEPS:
        yield _numbered_form(catalogue, label_chars, counts=True)
    yield _numbered_form(catalogue, 0, counts=False)
    yield SchemaForm(partial(wire.encode_names, catalogue))


def _numbered_form(catalogue: Catalogue, label_chars: int, *, counts: bool) -> SchemaForm:
    labelled = shown_catalogue(catalogue, label_chars)
    numbers = {origin.connection_id: number for origin, number in connection_numbers(labelled).items()}
    return SchemaForm(partial(wire.encode_numbered_index, labelled, numbers, number_ranges, counts=counts))


def _stream_ways(catalogue: Catalogue) -> Iterator[SchemaForm]:
    yield SchemaForm(partial(wire.encode_stream, catalogue), days=True)
    for fields in _fewer(catalogue):
        yield SchemaForm(partial(wire.encode_stream, catalogue, fields=fields), days=True)
    for fields in SCHEMA_FIELD_STEPS:
        yield SchemaForm(partial(wire.encode_stream, catalogue, fields=fields, holdings=False))


def _full_ways(catalogue: Catalogue) -> Iterator[SchemaForm]:
    yield SchemaForm(partial(wire.encode_full_stream, catalogue), days=True)
    yield SchemaForm(partial(wire.encode_full_stream, catalogue, flags=True), days=True)
    for fields in _fewer(catalogue):
        yield SchemaForm(partial(wire.encode_full_stream, catalogue, flags=True, fields=fields))


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
    input_schema(arguments_for(SchemaQuery)),
    SCHEMA_ANSWER,
    schema,
)
