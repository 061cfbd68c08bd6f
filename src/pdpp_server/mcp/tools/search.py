"""The `search` tool: find records by words, with proven places."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pdpp_server.errors import InvalidRequest, UnsupportedMode
from pdpp_server.evidence.binary import hits_without_bytes
from pdpp_server.evidence.handles import mint
from pdpp_server.evidence.search import TOOL_LIMIT, marked, narrow_excerpt, search_next, search_text
from pdpp_server.evidence.text import visible
from pdpp_server.evidence.titles import TITLE_CHARS, hit_title, label
from pdpp_server.mcp.arguments import FILTER
from pdpp_server.mcp.render import json_bytes, record_url
from pdpp_server.mcp.tool import Tool, ToolResult
from pdpp_server.model.queries import SEARCH_LIMIT_MAX, SearchQuery
from pdpp_server.model.records import Excerpt, Hit, SearchPage, Warned
from pdpp_server.port.reader import Answer, Reader
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.tools import decode_conditions, encode_evidence, encode_search

STRUCTURED_BYTES = 20_000
MODES = ("auto", "lexical")
QUERY_CHARS_MAX = 1000
_MOST_CHARS, _LEAST_CHARS = 240, 24  # of an excerpt, and of a title or label where there is no room for all of it
_EVIDENCE_BYTES = 290  # about what evidence takes beside its words


def search(reader: Reader, arguments: Mapping[str, Any]) -> ToolResult:
    query = _query(arguments)
    page, ids, structured = _fitting_page(reader, query)
    text, shown = search_text(page, query, ids)
    if shown < len(page.hits) and page.hits[shown - 1].cursor is None:
        rest = reader.search(replace(query, limit=shown)).value.next_cursor
        text, _ = search_text(page, query, ids, rest)
    return ToolResult(text, structured)


def _query(arguments: Mapping[str, Any]) -> SearchQuery:
    text, old = arguments.get("query"), arguments.get("q")
    if text is not None and old is not None and text != old:
        raise InvalidRequest("query and q differ; q is only the old name of query.", param="q")
    words = text if text is not None else old
    if words is None or not words.strip():
        raise InvalidRequest("query is required: the words to look for.", param="query")
    mode = arguments.get("mode", MODES[0])
    if mode not in MODES:
        raise UnsupportedMode(f"This server has no such search mode. It has: {', '.join(MODES)}.", param="mode")
    streams = arguments.get("streams")
    return SearchQuery(
        words,
        tuple(streams) if streams else None,
        arguments.get("connection_id"),
        arguments.get("limit", TOOL_LIMIT),
        arguments.get("cursor"),
        conditions=decode_conditions(arguments),
    )


def _fitting_page(reader: Reader, query: SearchQuery) -> tuple[SearchPage, list[str], Json]:
    """The page, its ids and its structured form; fewer hits where even their least is too long."""
    asked = reader.search(query)
    whole = found = replace(asked, value=hits_without_bytes(asked.value))
    count = len(found.value.hits)
    while True:
        ids = [mint(hit.id) for hit in found.value.hits]
        for chars in (TITLE_CHARS, _LEAST_CHARS):
            body = _without_evidence(reader, query, found, ids, chars)
            size = json_bytes(body)
            if _add_evidence(body, found.value.hits, STRUCTURED_BYTES - size):
                return found.value, ids, body
        if min(count, len(ids)) <= 1:
            return found.value, ids, body
        needed = size // len(ids) + _EVIDENCE_BYTES + 2 * _LEAST_CHARS
        count = max(1, min(STRUCTURED_BYTES // needed, count - 1))
        found = _cut(reader, query, whole, count)


def _cut(reader: Reader, query: SearchQuery, whole: Answer[SearchPage], count: int) -> Answer[SearchPage]:
    """The first `count` hits, with the cursor that goes on after them; a server that gave none is asked again."""
    kept = whole.value.hits[:count]
    if kept[-1].cursor is None:
        asked = reader.search(replace(query, limit=count))
        found = replace(asked, value=hits_without_bytes(asked.value))
    else:
        found = replace(whole, value=replace(whole.value, hits=kept, next_cursor=kept[-1].cursor))
    page = found.value
    message = f"{query.limit} hits were asked for, {len(page.hits)} fit in one answer; the cursor goes on after them."
    return replace(found, value=replace(page, warnings=(*page.warnings, Warned("page_shortened", message, "limit"))))


def _without_evidence(
    reader: Reader, query: SearchQuery, found: Answer[SearchPage], ids: list[str], chars: int
) -> Json:
    page = found.value
    return encode_search(
        page,
        found.request_id,
        ids=ids,
        titles=[hit_title(hit, chars) for hit in page.hits],
        label_of=lambda origin: label(origin, chars),
        url_of=lambda id: record_url(reader, id),
        steps=search_next(page, query, ids),
    )


def _add_evidence(body: Json, hits: Sequence[Hit], room: int) -> bool:
    """Put into each hit as much evidence as its share of `room` bytes holds; False where the least is too much."""
    for index, (hit, encoded) in enumerate(zip(hits, body["data"]["data"], strict=True)):
        if hit.excerpts:
            evidence, size = _evidence(hit, room // (len(hits) - index))
            encoded.update(evidence)
            room -= size
    return room >= 0


def _evidence(hit: Hit, room: int) -> tuple[Json, int]:
    """The most evidence that `room` bytes hold, and its size: fewer excerpts, then fewer words, never less than few."""
    kept = hit.excerpts[: 2 if room > 3 * _EVIDENCE_BYTES else 1]
    chars = min(_MOST_CHARS, (room - _EVIDENCE_BYTES) // 2)  # the first excerpt is the snippet too
    while True:
        chars = max(_LEAST_CHARS, chars)
        encoded = encode_evidence([narrow_excerpt(excerpt, chars) for excerpt in kept], _shown)
        size = json_bytes(encoded)
        if size <= room or (chars == _LEAST_CHARS and len(kept) == 1):
            return encoded, size
        if len(kept) > 1:
            kept = kept[:1]
        else:
            chars = min(chars - 4, chars * (room - _EVIDENCE_BYTES) // max(1, size - _EVIDENCE_BYTES))


def _shown(excerpt: Excerpt) -> str:
    return visible(marked(excerpt))


SEARCH = Tool(
    "search",
    "Search records",
    'Find records by words over every granted source. Words are ranked; "quotes", prefix* and -minus narrow. Each hit '
    "has an id (connection_id/stream:record_key) that fetch and read_record_field take as it is, and where it matched.",
    {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "minLength": 1,
                "maxLength": QUERY_CHARS_MAX,
                "description": "Words to look for (required)",
            },
            "q": {"type": "string", "maxLength": QUERY_CHARS_MAX, "description": "Old name of query"},
            "streams": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "description": "Only these streams",
            },
            "filter": {**FILTER, "description": "As in query_records; needs exactly one stream"},
            "connection_id": {"type": "string", "minLength": 1, "description": "Only this source"},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": SEARCH_LIMIT_MAX,
                "description": f"Default {TOOL_LIMIT}",
            },
            "cursor": {"type": "string", "minLength": 1, "description": "From an earlier answer, same query"},
            "mode": {"type": "string", "description": "auto (default) or lexical"},
        },
        "additionalProperties": False,
    },
    {
        "type": "object",
        "properties": {
            "results": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string", "description": "Pass to fetch as it is"},
                        "title": {"type": "string"},
                        "url": {"type": "string"},
                        "connection_id": {"type": "string"},
                    },
                    "required": ["id", "title", "url"],
                },
            },
            "data": {"type": "object"},
            "next": {"type": "array"},
            "read_with": {"type": "object"},
            "request_id": {"type": "string"},
        },
        "anyOf": [{"required": ["results", "data", "next"]}, {"required": ["error"]}],
    },
    search,
)
