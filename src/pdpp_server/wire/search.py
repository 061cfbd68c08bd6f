"""Search: query string and result page."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from html import escape, unescape
from typing import Any

from pdpp_server.errors import InvalidRecordId, InvalidRequest
from pdpp_server.model.queries import FetchQuery, SearchQuery
from pdpp_server.model.records import Excerpt, Hit, Recall, RecordId, SearchPage, Warned
from pdpp_server.wire import fetch
from pdpp_server.wire.envelope import (
    Json,
    decode_short,
    decode_warnings,
    encode_warnings,
    is_partial,
    listed,
    needed,
    next_link,
    object_of,
    objects_of,
    present,
    text_of,
    texts_of,
    url,
    whole_of,
)
from pdpp_server.wire.params import Params
from pdpp_server.wire.queries import decode, encode, rows
from pdpp_server.wire.records import decode_origin, encode_origin

PARAMETERS = rows(SearchQuery)
SCORE_KIND, SCORE_ORDER = "bm25", "higher_is_better"

_MARKED = re.compile(r"<(/?)mark>")


def encode_query(query: SearchQuery) -> str:
    return url("search", **encode(query))


def decode_query(params: Params) -> SearchQuery:
    query = decode(SearchQuery, params, text="")
    if not query.text.strip():
        raise InvalidRequest("q must hold at least one word.", param="q")
    return query


def encode_page(page: SearchPage, links_self: str, warnings: Iterable[Warned] = ()) -> Json:
    return {
        "object": "list",
        "url": "/v1/search",
        **present(has_more=page.has_more, next_cursor=page.next_cursor),
        "data": [_encode_hit(hit) for hit in page.hits],
        "links": {"self": links_self, "next": next_link(links_self, page.next_cursor)},
        "meta": {
            **_encode_recall(page.recall),
            **present(as_of=page.as_of, partial=is_partial(page.warnings)),
            "warnings": encode_warnings((*page.warnings, *warnings)),
        },
    }


def decode_page(body: Mapping[str, Any], parse: Callable[[str], RecordId] | None = None) -> SearchPage:
    """`parse` reads a handle, for servers whose hits are named by nothing else."""
    meta = object_of(body, "meta")
    return SearchPage(
        tuple(_decode_hit(hit, parse) for hit in listed(body, "data")),
        text_of(body, "next_cursor"),
        _decode_recall(meta),
        text_of(meta, "as_of"),
        decode_warnings(body),
        decode_short(body),
    )


# Hits -------------------------------------------------------------------------------------------------------------


def _encode_hit(hit: Hit) -> Json:
    return {
        "object": "search_result",
        "stream": hit.id.stream,
        "record_key": hit.id.key,
        "connector_id": hit.origin.connector_key,
        **encode_origin(hit.origin),
        "title": hit.title,
        "emitted_at": hit.emitted_at,
        **present(authored_at=hit.authored_at),
        "matched_fields": hit.matched_fields,
        "record_url": fetch.encode_query(FetchQuery(hit.id.stream, hit.id.key, hit.id.connection_id)),
        **present(score=_encode_score(hit.score)),
        **(_encode_evidence(hit) if hit.excerpts else {}),
        **present(cursor=hit.cursor),
    }


def _decode_hit(body: Mapping[str, Any], parse: Callable[[str], RecordId] | None) -> Hit:
    id = _decode_id(body, parse)
    score = object_of(body, "score").get("value")
    return Hit(
        id,
        replace(decode_origin(body), connection_id=id.connection_id),
        text_of(body, "title") or "",
        text_of(body, "emitted_at") or "",
        text_of(body, "authored_at") or text_of(body, "sent_at"),
        _decode_evidence(body),
        float(score) if isinstance(score, int | float) else None,
        lambda: text_of(body, "cursor"),
    )


def _decode_id(body: Mapping[str, Any], parse: Callable[[str], RecordId] | None) -> RecordId:
    """By its members; what they leave open, a handle or a record address of that server may say."""
    connection, stream, key = decode_origin(body).connection_id, text_of(body, "stream"), text_of(body, "record_key")
    handle = text_of(body, "result_id") or text_of(body, "record_uri") or text_of(body, "id")
    if parse and handle and not (connection and stream and key):
        try:
            return parse(handle)
        except InvalidRecordId:
            pass  # a name of another kind, which says nothing here
    return RecordId(connection, needed(stream, "stream"), needed(key, "record key"))


def _encode_score(score: float | None) -> Json | None:
    return None if score is None else {"kind": SCORE_KIND, "value": score, "order": SCORE_ORDER}


def _encode_evidence(hit: Hit) -> Json:
    encoded = [_encode_excerpt(hit.id, excerpt) for excerpt in hit.excerpts]
    first = hit.excerpts[0]
    if not first.marks:  # a passage is no match, so there is no snippet of it
        return {"evidence_excerpts": encoded}
    before, after = "…" if first.start else "", "…" if first.end < first.total_chars else ""
    return {
        "snippet": {"field": first.field, "text": f"{before}{_marked(first)}{after}"},
        "evidence_excerpts": encoded,
    }


def _encode_excerpt(id: RecordId, excerpt: Excerpt) -> Json:
    match_start, match_end = excerpt.marks[0] if excerpt.marks else (None, None)
    return {
        "object": "evidence_excerpt",
        "field_path": excerpt.field,
        "preview_text": _marked(excerpt),
        "provenance": excerpt.provenance,
        "truncated": excerpt.start > 0 or excerpt.end < excerpt.total_chars,
        "offset_chars": excerpt.start,
        **present(match_start_chars=match_start, match_end_chars=match_end),
        "total_chars": excerpt.total_chars,
        "read": {
            "object": "field_window_read",
            "method": "GET",
            "route": url("streams", id.stream, "records", id.key, "field-window"),
            "stream": id.stream,
            "record_id": id.key,
            "field": excerpt.field,
            "connection_id": id.connection_id,
            "offset_chars": excerpt.start,
        },
    }


def _decode_evidence(body: Mapping[str, Any]) -> tuple[Excerpt, ...]:
    """What stands where; else what a server shows of its matches without a place, at least the fields."""
    excerpts = objects_of(body, "evidence_excerpts")
    placed = tuple(filter(None, (_decode_excerpt(excerpt) for excerpt in excerpts)))
    if placed:
        return placed
    fields = texts_of(body, "matched_fields")
    snippet = object_of(body, "snippet")
    said = {text_of(one, "field_path"): text_of(one, "preview_text") for one in excerpts if _tells_match(one)}
    said |= {text_of(snippet, "field"): text_of(snippet, "text")} if not said else {}
    return tuple(_unplaced(field, said.get(field) or "") for field in dict.fromkeys(fields))


def _tells_match(excerpt: Mapping[str, Any]) -> bool:
    return text_of(excerpt, "provenance") in (None, "lexical_match")


def _decode_excerpt(body: Mapping[str, Any]) -> Excerpt | None:
    """None where the server did not say where in the field its text stands."""
    field, marked = text_of(body, "field_path"), text_of(body, "preview_text")
    start, total = whole_of(body, "offset_chars"), whole_of(body, "total_chars")
    if field is None or marked is None or start is None or total is None:
        return None
    text, marks = _unmarked(marked, start)
    return Excerpt(field, text, start, marks, total)


def _unplaced(field: str, marked: str) -> Excerpt:
    text, marks = _unmarked(marked, 0)
    return Excerpt(field, text, 0, marks, len(text), is_placed=False)


def _marked(excerpt: Excerpt) -> str:
    """The text with its matches in mark tags; all else is escaped, so no other tag is one."""
    pieces: list[str] = []
    done = excerpt.start
    for start, end in excerpt.marks:
        before, match = (excerpt.text[a - excerpt.start : b - excerpt.start] for a, b in ((done, start), (start, end)))
        pieces += [escape(before, quote=False), "<mark>", escape(match, quote=False), "</mark>"]
        done = end
    return "".join((*pieces, escape(excerpt.text[done - excerpt.start :], quote=False)))


def _unmarked(marked: str, start: int) -> tuple[str, tuple[tuple[int, int], ...]]:
    text, opened, marks = "", start, list[tuple[int, int]]()
    pieces = _MARKED.split(marked)  # text, "" or "/", text, ...
    for index in range(0, len(pieces), 2):
        if index:
            place = start + len(text)
            if pieces[index - 1]:
                marks.append((opened, place))
            opened = place
        text += unescape(pieces[index])
    return text, tuple(marks)


# What was ranked --------------------------------------------------------------------------------------------------


def _encode_recall(recall: Recall) -> Json:
    counted = recall.matches is not None
    accuracy = ("exact" if recall.matches_exact else "lower_bound") if counted else "not_counted"
    scope = "all_matches" if recall.complete else "unknown" if recall.ranked is None else "candidate_window"
    return {
        "count": recall.matches,
        "count_accuracy": accuracy,
        "recall": {
            "complete": recall.complete,
            "ranking_scope": scope,
            "truncated": not recall.complete,
            **present(ranked_candidate_count=recall.ranked, candidate_window_limit=recall.window),
            **present(neighbour_count=recall.beside or None),
        },
    }


def _decode_recall(meta: Mapping[str, Any]) -> Recall:
    """A server that says nothing about its ranking has not ranked everything, as far as we know."""
    recall = object_of(meta, "recall")
    return Recall(
        recall.get("complete") is True,
        whole_of(meta, "count"),
        meta.get("count_accuracy") == "exact",
        whole_of(recall, "ranked_candidate_count"),
        whole_of(recall, "candidate_window_limit"),
        whole_of(recall, "neighbour_count") or 0,
    )
