"""Search: query string and result page."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from html import escape, unescape
from typing import Any, NamedTuple, cast

from pdpp_server.errors import InvalidRecordId, InvalidRequest
from pdpp_server.model.queries import HITS_LIMIT, FetchQuery, SearchQuery
from pdpp_server.model.records import Amount, Excerpt, Hit, Recall, RecordId, SearchPage, Warned
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
    time_of,
    url,
    whole_of,
)
from pdpp_server.wire.params import Params
from pdpp_server.wire.queries import decode, encode, rows
from pdpp_server.wire.records import decode_origin, encode_origin

PARAMETERS = rows(SearchQuery)
PREFER, BRIEF = "Prefer", "page=brief"
LEAN, WHOLE = "pdpp-evidence=lean", "pdpp-evidence=whole"  # the hits of a lean page, in few bytes or with all of each
SCORE_KIND, SCORE_ORDER = "bm25", "higher_is_better"
DISTANCE_KIND, DISTANCE_ORDER = "semantic_distance", "lower_is_better"
SEMANTIC = "semantic"

_NEWEST = "newest_records"  # nothing was looked for
_MARKED = re.compile(r"<(/?)mark>")


class Preference(NamedTuple):
    """Whether the hits of a lean page are preferred, a brief page of them, and all of each."""

    lean: bool = False
    brief: bool = False
    whole: bool = False


def encode_query(query: SearchQuery) -> str:
    return url("search", **encode(query))


def decode_query(params: Params, *, lean: bool = False, brief: bool = False) -> SearchQuery:
    """A lean page of no particular limit is brief by itself."""
    query = decode(SearchQuery, params, text="")
    if not query.text.strip():
        raise InvalidRequest("q must hold at least one word.", param="q")
    if not lean:
        return query
    is_open = params.text("limit") is None
    return replace(query, lean=True, brief=brief or is_open, limit=HITS_LIMIT if is_open else query.limit)


def encode_preference(query: SearchQuery) -> str | None:
    """As a preference of RFC 7240; other servers ignore it. What is shown is cut here, so all is asked for."""
    if not query.lean:
        return None
    return f"{WHOLE}; {BRIEF}" if query.brief else WHOLE


def decode_preference(prefer: Iterable[str]) -> Preference:
    for preference in ",".join(prefer).replace('"', "").replace(" ", "").split(","):
        name, *parameters = preference.split(";")
        if name.lower() in (LEAN, WHOLE):
            return Preference(lean=True, brief=BRIEF in parameters, whole=name.lower() == WHOLE)
    return Preference()


def encode_page(page: SearchPage, links_self: str, warnings: Iterable[Warned] = (), *, whole: bool = False) -> Json:
    """`whole` adds what only a lean page knows of its words and hits."""
    return {
        "object": "list",
        "url": "/v1/search",
        **present(has_more=page.has_more, next_cursor=page.next_cursor),
        "data": [_encode_hit(hit) | (_encode_about(hit) if whole else {}) for hit in page.hits],
        "links": {"self": links_self, "next": next_link(links_self, page.next_cursor)},
        "meta": {
            **_encode_recall(page.recall),
            **(_encode_words(page) if whole else {}),
            **present(as_of=page.as_of, partial=is_partial(page.warnings)),
            **_encode_meaning(page),
            "warnings": encode_warnings((*page.warnings, *warnings)),
        },
    }


def encode_lean(page: SearchPage, recall_says: str, warnings: Iterable[Warned] = ()) -> Json:
    """What a reader of few bytes asks for: each text once, with the offsets of its marks, and no empty member."""
    recall = page.recall
    told = present(ranked_candidate_count=recall.ranked, candidate_window_limit=recall.window)
    beside = sum([1 for hit in page.hits if hit.is_beside])
    meant = sum([1 for hit in page.hits if hit.is_meant])
    said = [*page.warnings, *warnings]
    notes = [note.message for note in said if note.is_note]
    warned = [warning for warning in said if not warning.is_note]
    return {
        "object": "list",
        "url": "/v1/search",
        **present(has_more=page.has_more, next_cursor=page.next_cursor),
        "data": [_encode_lean_hit(hit) for hit in page.hits],
        "meta": {
            **present(count=recall.matches),
            "count_accuracy": _accuracy(recall),
            **present(matches=len(page.hits) - beside - meant or None, beside=beside or None, by_meaning=meant or None),
            "recall": {
                "complete": recall.complete,
                "ranking_scope": _ranking_scope(recall),
                **({} if recall.complete else told),
                "says": recall_says,
            },
            **present(words=dict(recall.words) or None, as_of=page.as_of, partial=is_partial(page.warnings)),
            **_encode_meaning(page),
            **present(notes=notes or None, warnings=encode_warnings(warned) if warned else None),
        },
    }


def decode_page(body: Mapping[str, Any], parse: Callable[[str], RecordId] | None = None) -> SearchPage:
    """`parse` reads a handle, for servers whose hits are named by nothing else."""
    meta = object_of(body, "meta")
    return SearchPage(
        tuple(_decode_hit(hit, parse) for hit in listed(body, "data")),
        text_of(body, "next_cursor"),
        _decode_recall(meta),
        time_of(meta, "as_of"),
        (*decode_warnings(body), *_decode_upkeep(meta)),
        decode_short(body),
        mode=text_of(meta, "retrieval_mode"),
        waiting=whole_of(object_of(meta, "index_state"), "waiting"),
        narrows=meta.get("narrows") is True,
    )


def _decode_upkeep(meta: Mapping[str, Any]) -> Iterator[Warned]:
    """That an index lags, which the public reference says beside its warnings."""
    upkeep = object_of(meta, "index_maintenance")
    if upkeep:
        yield Warned("index_maintenance", text_of(upkeep, "note") or "")


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
        **present(score=_encode_score(hit)),
        **(_encode_evidence(hit) if hit.excerpts else {}),
        **present(cursor=hit.cursor),
    }


def _encode_about(hit: Hit) -> Json:
    return present(
        title_field=hit.title_field,
        actor=hit.actor,
        actor_field=hit.actor_field,
        **_encode_amount(hit.amount),
        amount_field=hit.amount.field if hit.amount else None,
        currency_field=hit.amount.currency_field if hit.amount else None,
        also_matched=[*hit.also_matched] or None,
        beside=hit.beside.key if hit.beside else None,
    )


def _encode_lean_hit(hit: Hit) -> Json:
    """Its marks say which fields matched; that is told in words only where they do not. Whose name is in the question
    can be seen: beside a mark, that the actor matched too says nothing more."""
    marked = [excerpt.field for excerpt in hit.excerpts if excerpt.is_placed and excerpt.marks]
    seen = [*marked, hit.actor_field] if marked else marked
    unseen = [name for name in hit.matched_fields if name not in seen]
    return {
        "stream": hit.id.stream,
        "record_key": hit.id.key,
        **encode_origin(hit.origin),
        **present(
            authored_at=hit.authored_at,
            actor=hit.actor,
            **_encode_amount(hit.amount),
            matched_fields=hit.matched_fields if unseen else None,
            beside=hit.beside.key if hit.beside else None,
            evidence=[_encode_lean_excerpt(excerpt) for excerpt in hit.excerpts] or None,
        ),
    }


def _encode_amount(amount: Amount | None) -> Json:
    return {} if amount is None else {"amount": amount.value, "currency": amount.currency}


def _encode_lean_excerpt(excerpt: Excerpt) -> Json:
    """A passage says that it is none of the matches; without a place, so that no offset is believed."""
    if not excerpt.is_placed:
        return {"field_path": excerpt.field, **present(text=excerpt.text or None), "place": "not proven"}
    return {
        "field_path": excerpt.field,
        "text": excerpt.text,
        "start": excerpt.start,
        **({"marks": [*excerpt.marks]} if excerpt.marks else {"provenance": excerpt.provenance}),
        "total_chars": excerpt.total_chars,
    }


def _decode_hit(body: Mapping[str, Any], parse: Callable[[str], RecordId] | None) -> Hit:
    id = _decode_id(body, parse)
    told = object_of(body, "score")
    score, is_distance = told.get("value"), told.get("kind") == DISTANCE_KIND
    value = float(score) if isinstance(score, int | float) else None
    excerpts = _decode_evidence(body)
    return Hit(
        id,
        replace(decode_origin(body), connection_id=id.connection_id),
        text_of(body, "title") or "",
        time_of(body, "emitted_at") or "",
        time_of(body, "authored_at") or time_of(body, "sent_at"),
        excerpts,
        None if is_distance else value,
        lambda: text_of(body, "cursor"),
        title_field=text_of(body, "title_field"),
        actor=text_of(body, "actor"),
        actor_field=text_of(body, "actor_field"),
        amount=_decode_amount(body),
        also_matched=_decode_also_matched(body, excerpts),
        beside=id._replace(key=beside) if (beside := text_of(body, "beside")) else None,
        distance=value if is_distance else None,
    )


def _decode_amount(body: Mapping[str, Any]) -> Amount | None:
    value = body.get("amount")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return Amount(value, text_of(body, "amount_field"), text_of(body, "currency"), text_of(body, "currency_field"))


def _decode_also_matched(body: Mapping[str, Any], excerpts: Iterable[Excerpt]) -> tuple[str, ...]:
    """What matched and has no text of its own: said so, or what a lean hit names beside its texts."""
    if "evidence" not in body:
        return tuple(texts_of(body, "also_matched"))
    proven = {excerpt.field for excerpt in excerpts if excerpt.is_match}
    return tuple([name for name in texts_of(body, "matched_fields") if name not in proven])


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


def _encode_score(hit: Hit) -> Json | None:
    if hit.distance is not None:
        return {"kind": DISTANCE_KIND, "value": hit.distance, "order": DISTANCE_ORDER}
    return None if hit.score is None else {"kind": SCORE_KIND, "value": hit.score, "order": SCORE_ORDER}


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
        **present(match_start_chars=match_start, match_end_chars=match_end, rarest=excerpt.rarest or None),
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
    lean = tuple([_decode_lean_excerpt(excerpt) for excerpt in objects_of(body, "evidence")])
    if lean:
        return lean
    excerpts = [_decode_excerpt(excerpt) for excerpt in objects_of(body, "evidence_excerpts")]
    placed = tuple([excerpt for excerpt in excerpts if excerpt is not None])
    if placed:
        return placed
    also = texts_of(body, "also_matched")
    fields = [name for name in texts_of(body, "matched_fields") if name not in also]
    said = _decode_said(body)
    return tuple(_unplaced(field, said.get(field) or "") for field in dict.fromkeys(fields))


def _decode_said(body: Mapping[str, Any]) -> dict[str | None, str | None]:
    """What a server shows of each field that matched."""
    said: dict[str | None, str | None] = {}
    for window in objects_of(body, "match_windows"):
        said[text_of(window, "field_path")] = text_of(window, "text")
    for excerpt in objects_of(body, "evidence_excerpts"):
        if text_of(excerpt, "provenance") in (None, "lexical_match"):
            said[text_of(excerpt, "field_path")] = text_of(excerpt, "preview_text")
    if not said:
        snippet = object_of(body, "snippet")
        said[text_of(snippet, "field")] = text_of(snippet, "text")
    return said


def _decode_excerpt(body: Mapping[str, Any]) -> Excerpt | None:
    """None where the server did not say where in the field its text stands."""
    field, marked = text_of(body, "field_path"), text_of(body, "preview_text")
    start, total = whole_of(body, "offset_chars"), whole_of(body, "total_chars")
    if field is None or marked is None or start is None or total is None:
        return None
    text, marks = _unmarked(marked, start)
    is_meant = text_of(body, "provenance") == SEMANTIC
    return Excerpt(field, text, start, marks, total, rarest=whole_of(body, "rarest") or 0, is_meant=is_meant)


def _decode_lean_excerpt(body: Mapping[str, Any]) -> Excerpt:
    field = needed(text_of(body, "field_path"), "field")
    text = text_of(body, "text") or ""
    start, total = whole_of(body, "start"), whole_of(body, "total_chars")
    if start is None or total is None:
        return Excerpt(field, text, 0, (), len(text), is_placed=False)
    end = start + len(text)
    inside = [(first, last) for first, last in _pairs(body.get("marks")) if start <= first < last <= end]
    is_meant = text_of(body, "provenance") == SEMANTIC
    rarest = whole_of(body, "rarest") or 0
    return Excerpt(field, text, start, tuple(inside), total, rarest=rarest, is_meant=is_meant)


def _pairs(value: object) -> list[tuple[int, int]]:
    """Offsets as another server may have written them."""
    pairs: list[tuple[int, int]] = []
    for pair in cast("list[object]", value) if isinstance(value, list) else ():
        match pair:
            case [int(first), int(last)]:
                pairs.append((first, last))
            case _:
                pass
    return sorted(pairs)


def _unplaced(field: str, marked: str) -> Excerpt:
    text, marks = _unmarked(marked, 0)
    return Excerpt(field, text, 0, marks, len(text), is_placed=False)


def _marked(excerpt: Excerpt) -> str:
    """The text with its matches in mark tags; all else is escaped, so no other tag is one."""
    text, offset = excerpt.text, excerpt.start
    pieces: list[str] = []
    done = 0
    for start, end in excerpt.marks:
        before, match = text[done : start - offset], text[start - offset : end - offset]
        pieces += [escape(before, quote=False), "<mark>", escape(match, quote=False), "</mark>"]
        done = end - offset
    return "".join((*pieces, escape(text[done:], quote=False)))


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
    return {
        "count": recall.matches,
        "count_accuracy": _accuracy(recall),
        "recall": {
            "complete": recall.complete,
            "ranking_scope": _ranking_scope(recall),
            "truncated": not recall.complete,
            **present(ranked_candidate_count=recall.ranked, candidate_window_limit=recall.window),
            **present(neighbour_count=recall.beside or None, meaning_count=recall.meant or None),
        },
    }


def _encode_meaning(page: SearchPage) -> Json:
    """In which mode it was searched, and how far the index of meaning is; nothing where that is words alone."""
    if page.mode is None:
        return {}
    waiting = page.waiting or 0
    return {
        "retrieval_mode": page.mode,
        "index_state": {"state": "building" if waiting else "built", "waiting": waiting},
    }


def _encode_words(page: SearchPage) -> Json:
    """How many records hold each word of the query, and how many of this page; and whether filters can narrow it."""
    words, here = page.recall.words, page.recall.here
    held_here = {word: held for (word, _), held in zip(words, here, strict=False)}
    return present(words=dict(words) or None, words_here=held_here or None, narrows=page.narrows or None)


def _accuracy(recall: Recall) -> str:
    if recall.matches is None:
        return "not_counted"
    return "exact" if recall.matches_exact else "lower_bound"


def _ranking_scope(recall: Recall) -> str:
    if recall.is_newest:
        return _NEWEST
    if recall.complete:
        return "all_matches"
    return "unknown" if recall.ranked is None else "candidate_window"


def _decode_recall(meta: Mapping[str, Any]) -> Recall:
    """A server that says nothing about its ranking has not ranked everything, as far as we know."""
    recall = object_of(meta, "recall")
    words = {word: count for word, count in object_of(meta, "words").items() if isinstance(count, int)}
    here = object_of(meta, "words_here")
    return Recall(
        recall.get("complete") is True,
        whole_of(meta, "count"),
        meta.get("count_accuracy") == "exact",
        whole_of(recall, "ranked_candidate_count"),
        whole_of(recall, "candidate_window_limit"),
        whole_of(recall, "neighbour_count") or 0,
        tuple(words.items()),
        recall.get("ranking_scope") == _NEWEST,
        whole_of(recall, "meaning_count") or 0,
        tuple([whole_of(here, word) or 0 for word in words]) if here else (),
    )
