"""The `search` tool: find records by words, with proven places."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from pdpp_server.errors import InvalidRequest
from pdpp_server.evidence.binary import hits_without_bytes
from pdpp_server.evidence.budgets import (
    RESULT_LEAST_TITLE_CHARS,
    RESULT_TITLE_CHARS,
    SEARCH_FEW_STRUCTURED_BYTES,
    SEARCH_STRUCTURED_BYTES,
)
from pdpp_server.evidence.handles import mint
from pdpp_server.evidence.lean import lean_page
from pdpp_server.evidence.remarks import hits_shortened, recall_says
from pdpp_server.evidence.search import SearchText, search_next, search_text
from pdpp_server.evidence.shown import lean_shown, shown_of
from pdpp_server.evidence.titles import short_title
from pdpp_server.mcp.arguments import arguments_for, input_schema
from pdpp_server.mcp.render import json_bytes, record_url
from pdpp_server.mcp.tool import Tool, ToolResult
from pdpp_server.model.activity import Shown, together
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import QUERY_CHARS_MAX, TOOL_LIMIT, SearchQuery
from pdpp_server.model.records import Hit, SearchPage
from pdpp_server.port.reader import Reader
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.search import decode_query
from pdpp_server.wire.tool_answers import SEARCH_ANSWER
from pdpp_server.wire.tools import encode_search, params_of


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
    params = params_of(SearchQuery, arguments, query=words)
    return decode_query(params, lean=True, brief="limit" not in arguments)


class _Structured(NamedTuple):
    """A page as the structured channel shows it."""

    page: SearchPage
    body: Json
    size: int

    @property
    def shown(self) -> Shown:
        """Beside what a lean page shows, a title of each hit."""
        titles = shown_of((), [hit.title_field for hit in self.page.hits if hit.title_field])
        return together(lean_shown(self.page.hits), titles)


@dataclass(frozen=True, slots=True)
class _Fitting:
    """One search, until its answer fits: titles are shortened first, then there are fewer hits."""

    reader: Reader
    query: SearchQuery

    def result(self, found: Pending[SearchPage], page: SearchPage, count: int) -> Pending[ToolResult]:
        """The first `count` hits of what was found, or fewer."""
        ids = [mint(hit.id) for hit in page.hits]
        made = self._structured(page, ids, found.request_id)
        most = structured_bytes(self.query.limit)
        if made.size <= most or min(count, len(ids)) <= 1:
            return self._in_both_channels(found, page, ids, made)
        matches = tuple([hit for hit in page.hits if not hit.beside])
        if len(matches) < len(page.hits):  # what stands beside them gives way before any match does
            return self._shortened(found, _with_fewer(page, matches), len(matches))
        fewer = max(1, min(count - 1, count * most // made.size))
        cut = _cut(page, fewer)
        if cut is not None:
            return self._shortened(found, cut, fewer)
        again = self.reader.search(replace(self.query, limit=fewer, brief=False)).shaped(hits_without_bytes)
        return again.followed(lambda shorter: self._shortened(again, shorter, fewer))

    def _shortened(self, found: Pending[SearchPage], page: SearchPage, count: int) -> Pending[ToolResult]:
        return self.result(found, hits_shortened(page, self.query.limit), count)

    def _in_both_channels(
        self, found: Pending[SearchPage], page: SearchPage, ids: list[str], made: _Structured
    ) -> Pending[ToolResult]:
        """A text that shows fewer hits needs a cursor after them; a server that gave none is asked for it."""

        def result(text: SearchText) -> Pending[ToolResult]:
            return found.shaped(lambda _: ToolResult(text.text, made.body, text.told, made.shown))

        text = search_text(page, self.query, ids)
        if text.shown == len(page.hits) or page.hits[text.shown - 1].cursor is not None:
            return result(text)
        first = self.reader.search(replace(self.query, limit=text.shown, brief=False))
        return first.followed(lambda fewer: result(search_text(page, self.query, ids, fewer.next_cursor)))

    def _structured(self, page: SearchPage, ids: list[str], request_id: str) -> _Structured:
        lean = lean_page(page)
        for chars in (RESULT_TITLE_CHARS, RESULT_LEAST_TITLE_CHARS):
            body = encode_search(
                lean,
                recall_says(page, self.query),
                request_id,
                ids=ids,
                titles=[short_title(hit, chars) for hit in page.hits],
                url_of=lambda id: record_url(self.reader, id),
                steps=search_next(lean, self.query, ids),
            )
            size = json_bytes(body)
            if size <= structured_bytes(self.query.limit):
                break
        return _Structured(lean, body, size)


def structured_bytes(limit: int) -> int:
    """What the structured form of a page may take, by how many hits were asked for."""
    return SEARCH_FEW_STRUCTURED_BYTES if limit <= TOOL_LIMIT else SEARCH_STRUCTURED_BYTES


def _cut(page: SearchPage, count: int) -> SearchPage | None:
    """The first `count` hits, with the cursor that goes on after them; None where the server gave no such cursor."""
    kept = page.hits[:count]
    cursor = kept[-1].cursor
    return None if cursor is None else replace(_with_fewer(page, kept), next_cursor=cursor)


def _with_fewer(page: SearchPage, hits: tuple[Hit, ...]) -> SearchPage:
    """How many of them hold each word was counted over all."""
    return replace(page, hits=hits, recall=replace(page.recall, here=()))


SEARCH = Tool(
    "search",
    "Search records",
    'Find records by words over every granted source; any word may match. "quotes" keep words together, '
    "prefix* begins, -minus leaves out. limit counts matches: more of them, less of each text. Each hit has an id "
    "(connection_id/stream:record_key) that fetch, read_record_field and around take as it is, when, who, "
    "and its text.",
    input_schema(
        {
            **arguments_for(SearchQuery),
            "q": {"type": "string", "maxLength": QUERY_CHARS_MAX, "description": "Old name of query"},
        }
    ),
    SEARCH_ANSWER,
    search,
)
