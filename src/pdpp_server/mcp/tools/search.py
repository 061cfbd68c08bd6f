"""The `search` tool: find records by words, with proven places."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pdpp_server.errors import InvalidRequest, UnsupportedMode
from pdpp_server.evidence.binary import hits_without_bytes
from pdpp_server.evidence.handles import mint
from pdpp_server.evidence.search import SearchText, marked, narrow_excerpt, search_next, search_text
from pdpp_server.evidence.shown import shown_of
from pdpp_server.evidence.text import visible
from pdpp_server.evidence.titles import TITLE_CHARS, hit_title, label
from pdpp_server.mcp.arguments import arguments_for, input_schema
from pdpp_server.mcp.render import json_bytes, record_url
from pdpp_server.mcp.tool import Tool, ToolResult
from pdpp_server.model.activity import Shown
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import QUERY_CHARS_MAX, SearchQuery
from pdpp_server.model.records import Excerpt, Hit, SearchPage, Warned
from pdpp_server.port.reader import Reader
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.search import decode_query
from pdpp_server.wire.tools import encode_evidence, encode_search, params_of

STRUCTURED_BYTES = 20_000
PAGE_SHORTENED = "page_shortened"
MODES = ("auto", "lexical")
_MOST_CHARS, _LEAST_CHARS = 240, 24  # of an excerpt, and of a title or label where there is no room for all of it
_EVIDENCE_BYTES = 290  # about what evidence takes beside its words


def search(reader: Reader, arguments: Mapping[str, Any]) -> Pending[ToolResult]:
    query = _query(arguments)
    found = reader.search(query).shaped(hits_without_bytes)
    return found.followed(lambda page: _Fitting(reader, query).result(found, page, len(page.hits)))


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
    return decode_query(params_of(SearchQuery, arguments, query=words))


@dataclass(frozen=True, slots=True)
class _Structured:
    """A page as the structured channel shows it, and the excerpts for which there was room."""

    body: Json
    size: int  # without evidence
    fits: bool
    excerpts: list[Excerpt]

    def shown(self, page: SearchPage) -> Shown:
        """Of each hit its title and time, and which of its fields matched; of some, words."""
        told = [name for hit in page.hits for name in (*hit.told_fields, *hit.matched_fields)]
        return shown_of([hit.id for hit in page.hits], (*told, *(excerpt.field for excerpt in self.excerpts)))


@dataclass(frozen=True, slots=True)
class _Fitting:
    """One search, until its answer fits: shorter evidence first, and fewer hits where even the least is too long."""

    reader: Reader
    query: SearchQuery

    def result(self, found: Pending[SearchPage], page: SearchPage, count: int) -> Pending[ToolResult]:
        """The first `count` hits of what was found, or fewer."""
        ids = [mint(hit.id) for hit in page.hits]
        made = self._structured(page, ids, found.request_id)
        if made.fits or min(count, len(ids)) <= 1:
            return self._in_both_channels(found, page, ids, made)
        needed = made.size // len(ids) + _EVIDENCE_BYTES + 2 * _LEAST_CHARS
        fewer = max(1, min(STRUCTURED_BYTES // needed, count - 1))
        cut = _cut(page, fewer)
        if cut is not None:
            return self.result(found, self._shortened(cut), fewer)
        again = self.reader.search(replace(self.query, limit=fewer)).shaped(hits_without_bytes)
        return again.followed(lambda shorter: self.result(again, self._shortened(shorter), fewer))

    def _in_both_channels(
        self, found: Pending[SearchPage], page: SearchPage, ids: list[str], made: _Structured
    ) -> Pending[ToolResult]:
        """A text that shows fewer hits needs a cursor after them; a server that gave none is asked for it."""

        def result(text: SearchText) -> Pending[ToolResult]:
            return found.shaped(lambda _: ToolResult(text.text, made.body, text.told, made.shown(page)))

        text = search_text(page, self.query, ids)
        if text.shown == len(page.hits) or page.hits[text.shown - 1].cursor is not None:
            return result(text)
        first = self.reader.search(replace(self.query, limit=text.shown))
        return first.followed(lambda fewer: result(search_text(page, self.query, ids, fewer.next_cursor)))

    def _structured(self, page: SearchPage, ids: list[str], request_id: str) -> _Structured:
        made: _Structured | None = None
        for chars in (TITLE_CHARS, _LEAST_CHARS):
            body = self._without_evidence(page, ids, request_id, chars)
            size = json_bytes(body)
            left, excerpts = _add_evidence(body, page.hits, STRUCTURED_BYTES - size)
            made = _Structured(body, size, left >= 0, excerpts)
            if made.fits:
                break
        assert made is not None
        return made

    def _without_evidence(self, page: SearchPage, ids: list[str], request_id: str, chars: int) -> Json:
        return encode_search(
            page,
            request_id,
            ids=ids,
            titles=[hit_title(hit, chars) for hit in page.hits],
            label_of=lambda origin: label(origin, chars),
            url_of=lambda id: record_url(self.reader, id),
            steps=search_next(page, self.query, ids),
        )

    def _shortened(self, page: SearchPage) -> SearchPage:
        here, limit = len(page.hits), self.query.limit
        message = f"{limit} hits were asked for, {here} fit in one answer; the cursor goes on after them."
        others = [warned for warned in page.warnings if warned.code != PAGE_SHORTENED]
        return replace(page, warnings=(*others, Warned(PAGE_SHORTENED, message, "limit")))


def _cut(page: SearchPage, count: int) -> SearchPage | None:
    """The first `count` hits, with the cursor that goes on after them; None where the server gave no such cursor."""
    kept = page.hits[:count]
    cursor = kept[-1].cursor
    return None if cursor is None else replace(page, hits=kept, next_cursor=cursor)


def _add_evidence(body: Json, hits: Sequence[Hit], room: int) -> tuple[int, list[Excerpt]]:
    """Put into each hit as much evidence as its share of `room` bytes holds; what is left, and what was put in."""
    added: list[Excerpt] = []
    for index, (hit, encoded) in enumerate(zip(hits, body["data"]["data"], strict=True)):
        if hit.excerpts:
            evidence, size, kept = _evidence(hit, room // (len(hits) - index))
            encoded.update(evidence)
            added += kept
            room -= size
    return room, added


def _evidence(hit: Hit, room: int) -> tuple[Json, int, Sequence[Excerpt]]:
    """The most evidence that `room` bytes hold, its size, and what it is of: fewer excerpts, then fewer words."""
    kept = hit.excerpts[: 2 if room > 3 * _EVIDENCE_BYTES else 1]
    chars = min(_MOST_CHARS, (room - _EVIDENCE_BYTES) // 2)  # the first excerpt is the snippet too
    while True:
        chars = max(_LEAST_CHARS, chars)
        encoded = encode_evidence([narrow_excerpt(excerpt, chars) for excerpt in kept], _shown)
        size = json_bytes(encoded)
        if size <= room or (chars == _LEAST_CHARS and len(kept) == 1):
            return encoded, size, kept
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
    input_schema(
        {
            **arguments_for(SearchQuery),
            "q": {"type": "string", "maxLength": QUERY_CHARS_MAX, "description": "Old name of query"},
            "mode": {"type": "string", "description": "auto (default) or lexical"},
        }
    ),
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
