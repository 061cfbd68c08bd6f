"""Search hits as a short list that an agent can cite and follow."""

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from pdpp_server.evidence.budget import affordable, first_that_fits, that_fit
from pdpp_server.evidence.calls import Call, fetch_of, read_around, read_at, schema_of, search_from
from pdpp_server.evidence.shown import shown_of
from pdpp_server.evidence.text import (
    CUT,
    byte_len,
    clip_shown,
    compact_json,
    handle_text,
    name_text,
    one_line,
    quoted,
    whole_characters,
)
from pdpp_server.evidence.titles import TITLE_CHARS, hit_identity, hit_title, label, moment
from pdpp_server.model.activity import NOTHING, Shown, together
from pdpp_server.model.queries import SearchQuery
from pdpp_server.model.records import Excerpt, Hit, Recall, SearchPage, Warned

SEARCH_BYTES = 1800
METADATA_ONLY = "(only metadata known, no match of its own)"
NO_MATCH = "(passage, no match of its own)"
NO_PLACE = "(matched, place not proven)"
_LONG_HANDLE_BYTES = 160
_LEAST_CHARS, _MOST_CHARS = 32, 160  # of an excerpt
# What is worth having once there is so much to spare: a time, names, a second excerpt, a title that says nothing new.
_WORTH_BYTES, _NAMES_BYTES, _SECOND_BYTES, _PLENTY_BYTES = 20, 40, 100, 200
_PART_BYTES = len(", the first 100 of them here")
_AROUND_BYTES, _MARK_BYTES = byte_len(f'@12345 "{CUT}{CUT}"'), len("<mark></mark>")
_CURSOR_BYTES = 170  # kept free for a cursor that is yet to be asked for
_SOURCES_SHOWN = 8
_WORD_CHARS = 40  # of a match that a next step repeats
_SOURCES, _FETCH_FIRST = "sources: ", "next: fetch with id = first_fetch_id"


class SearchText(NamedTuple):
    text: str
    shown: int  # hits of the page for which there was room
    told: Shown = NOTHING


class Piece(NamedTuple):
    """Some words, and the fields that they came from."""

    text: str
    fields: tuple[str, ...] = ()


def search_text(page: SearchPage, query: SearchQuery, ids: Sequence[str], rest: str | None = None) -> SearchText:
    """The first handle stands on the first line, so a clipped text still opens its best hit.

    Every hit is sure of a few words before any gets more. Where there is no room for the whole page, the call that
    goes on after the last hit shown has that hit's own cursor, or `rest` from a server that gave it none.
    """
    hits = page.hits
    if not hits:
        return SearchText(_nothing_text(page), 0)
    calls = [_search_ways("more", query, page.next_cursor)] if page.next_cursor else []
    calls.append(_next_ways(hits[0], ids[0]))
    room = SEARCH_BYTES - byte_len(_head_text(page, query, ids[0], len(hits))) - _least_bytes(calls)
    for_rest = _rest_bytes(hits)
    remarks = _affordable_remarks(page, room - for_rest - _least_row_bytes(hits[0], ids[0]))
    least = (_least_row_bytes(hit, id) for hit, id in zip(hits, ids, strict=True))
    sizes, spare = that_fit(least, room - sum(byte_len(remark) + 1 for remark in remarks), for_rest)
    shown = len(sizes)
    if shown < len(hits):
        calls.insert(0, _rest_ways(query, shown, hits[shown - 1].cursor or rest, for_rest))
        spare += for_rest - _PART_BYTES - _least_bytes(calls[:1])
    said: list[str] = []
    for ways in calls:
        said.append(first_that_fits(ways, byte_len(ways[-1]) + spare))
        spare -= byte_len(said[-1]) - byte_len(ways[-1])
    rows: list[Piece] = []
    for left, hit, id, size in zip(range(shown, 0, -1), hits, ids, sizes, strict=False):
        rows.append(_row(hit, id, size, min(spare, max(spare // left, _WORTH_BYTES))))
        spare -= byte_len(rows[-1].text) + 1 - size
    lines = (_head_text(page, query, ids[0], shown), *(row.text for row in rows), *remarks, *said)
    fields = [name for row in rows for name in row.fields] + _opened_fields(hits[0], said[-1])
    told = shown_of([hit.id for hit in hits[:shown]], fields)
    if any(remark.startswith(_SOURCES) for remark in remarks):  # which names those of all hits
        told = together(told, Shown(connections=tuple([hit.id.connection_id for hit in hits])))
    return SearchText("\n".join(lines), shown, told)


def _opened_fields(hit: Hit, said: str) -> list[str]:
    """The field that the next step opens: naming it tells that it matched."""
    proven = next((excerpt.field for excerpt in hit.excerpts if excerpt.marks), None)
    return [] if proven is None or said == _FETCH_FIRST else [proven]


def _affordable_remarks(page: SearchPage, limit: int) -> list[str]:
    remarks = (*_recall_lines(page.recall), *warning_lines(page.warnings), *_source_lines(page))
    return [remark for remark in affordable(remarks, limit) if remark]


def search_next(page: SearchPage, query: SearchQuery, ids: Sequence[str]) -> tuple[Call, ...]:
    """Open the best hit where it matched, then turn the page."""
    if not page.hits:
        return (schema_of(),)
    more = (search_from(query, page.next_cursor),) if page.next_cursor else ()
    return (_opening(page.hits[0], ids[0]), *more)


def _opening(hit: Hit, handle: str) -> Call:
    found = next((excerpt for excerpt in hit.excerpts if excerpt.marks), None)
    if found is None:
        return fetch_of(handle)
    start, end = found.marks[0]
    if found.is_placed:
        return read_at(handle, found.field, start)
    word = found.text[start:end]
    is_plain = word.replace("-", "").isalnum() and len(word) <= _WORD_CHARS  # a place can be found by it
    return read_around(handle, found.field, word) if is_plain else fetch_of(handle)


def _head_text(page: SearchPage, query: SearchQuery, first_id: str, shown: int) -> str:
    recall, here = page.recall, len(page.hits)
    known = None if recall.matches is None else recall.matches + recall.beside
    counted = "" if known is None else f" of {'' if recall.matches_exact else 'at least '}{known}"
    part = "" if shown == here else f", the first {shown} of them here"
    turned = "the next " if query.cursor else ""
    ranked = ", ranked over all matches" if recall.complete else ""
    noun = "hit" if here == 1 and known in (None, 1) else "hits"
    found = f"{turned}{here}{counted} {noun}{_more_text(page)}"
    return f"search: {found}{part}{ranked}. first_fetch_id={handle_text(first_id)}"


def _more_text(page: SearchPage) -> str:
    """What is to be said where a server has more, or does not say whether it has, and gives no cursor."""
    if page.is_short is None:
        return ", whether all of them is not said"
    return " and more that no cursor leads to" if page.is_short else ""


# What follows the hits: calls in several ways, the fullest first --------------------------------------------------


def _least_bytes(calls: Sequence[Sequence[str]]) -> int:
    return sum(byte_len(ways[-1]) + 1 for ways in calls)


def _search_ways(word: str, query: SearchQuery, cursor: str) -> list[str]:
    call = search_from(query, cursor).text
    return [f"{word}: {call}", f"{word}: the same search with {compact_json({'cursor': cursor})}"]


def _rest_bytes(hits: Sequence[Hit]) -> int:
    """What it takes to say that hits are left out and how to get them, wherever the cut will be."""
    usual = len(hits[0].cursor or "") or _CURSOR_BYTES
    return _PART_BYTES + len('rest: the same search with {"cursor":""}') + usual + 1 if len(hits) > 1 else 0


def _rest_ways(query: SearchQuery, shown: int, cursor: str | None, limit: int) -> list[str]:
    ways = _search_ways("rest", query, cursor) if cursor else []
    if ways and _PART_BYTES + _least_bytes([ways]) <= limit:
        return ways
    return [f"rest: the same search with {compact_json({'limit': shown})}, then on from its cursor"]


def _next_ways(hit: Hit, handle: str) -> list[str]:
    opening = _opening(hit, handle)
    beyond_id = {name: value for name, value in opening.arguments.items() if name != "id"}
    call = f"next: {opening.text}"
    whole = call + (' or fetch {"id":ID}' if beyond_id else "")
    ways = [f"{whole}, an id exactly as shown, connection_id only if it is shown separately", whole, call]
    if byte_len(handle) > _LONG_HANDLE_BYTES:
        ways += [f"next: {opening.tool} with id = first_fetch_id and {compact_json(beyond_id)}"] if beyond_id else []
        ways += [_FETCH_FIRST]
    return ways


def _recall_lines(recall: Recall) -> Iterator[str]:
    if not recall.complete and recall.ranked is not None:
        window = f", at most {recall.window} are" if recall.window else ""
        narrower = "rarer words, streams or connection_id reach the others"
        yield f"recall: only {recall.ranked} matches were ranked{window}; {narrower}"
    if recall.beside:
        yield f"neighbours: {recall.beside} of the hits stand beside a match in time and have no match of their own"


def warning_lines(warnings: tuple[Warned, ...]) -> Iterator[str]:
    for warned in warnings:
        yield f"warning {name_text(clip_shown(warned.code, 40))}: {quoted(clip_shown(warned.message, 120))}"


def _source_lines(page: SearchPage) -> Iterator[str]:
    """Where the hits of the page come from, and how fresh that is."""
    parts: list[str] = []
    counts = Counter([hit.origin.connection_id for hit in page.hits])
    if len(counts) > 1:
        mix = ", ".join(f"{name_text(name)} {count}" for name, count in counts.most_common(_SOURCES_SHOWN))
        others = len(counts) - _SOURCES_SHOWN
        parts.append(f"{_SOURCES}{mix}" + (f", {others} more" if others > 0 else ""))
    if fresh := moment(page.as_of):
        parts.append(f"data as of {fresh}")
    if parts:
        yield "; ".join(parts)


def _nothing_text(page: SearchPage) -> str:
    lines = [*_recall_lines(page.recall), *warning_lines(page.warnings)]
    as_of = moment(page.as_of)
    fresh = f" Data as of {as_of}." if as_of else ""
    said = [line for line in lines if byte_len(line) < 300][:3]
    return "\n".join(
        (
            f"search: 0 hits{_more_text(page)}.{fresh}",
            *said,
            "next: search with other words, or schema {} for what can be searched",
        )
    )


# One hit ----------------------------------------------------------------------------------------------------------


def _least_row_bytes(hit: Hit, handle: str) -> int:
    """About what the handle and a few words take, with the end of the line; a long handle goes without words."""
    size = byte_len(handle_text(handle)) + 1
    if size > _LONG_HANDLE_BYTES:
        return size
    if not hit.excerpts:
        return size + 1 + len(METADATA_ONLY)
    first = hit.excerpts[0]
    chars = min(_LEAST_CHARS, len(first.text))
    return size + 1 + _around_bytes(first) + chars * byte_len(first.text) // (len(first.text) or 1)


def _row(hit: Hit, handle: str, size: int, spare: int) -> Piece:
    """The hit on one line: when, what and whose as far as `spare` bytes go, and words in what is left of all."""
    about = named = handle_text(handle)
    fields: tuple[str | None, ...] = ()
    if spare >= _WORTH_BYTES:
        when = moment(hit.authored_at)
        known = _known_texts(hit, when, spare) if spare >= _NAMES_BYTES else ("", "")
        time, title, source = affordable((when, *known), spare)
        about = " ".join(filter(None, (named, source, time, title)))
        named_by = hit.title_field or hit.time_field
        fields = (hit.time_field if time else None, named_by if title else None)
    words = _words(hit, size + spare - byte_len(about) - 2)
    text = f"{about} {words.text}" if words.text else about
    return Piece(text, (*[name for name in fields if name is not None], *words.fields))


def _known_texts(hit: Hit, when: str, spare: int) -> tuple[str, str]:
    """Title and source. A title that only repeats label, stream and time is worth its bytes where there are plenty."""
    chars = min(TITLE_CHARS, spare // 2)
    repeats = not hit.title or (hit.title.endswith(when) and hit.title == hit_identity(hit))
    title = "" if repeats and spare < _PLENTY_BYTES else f"title {quoted(hit_title(hit, chars))}"
    known_as, connector = label(hit.origin, chars), hit.origin.connector_key
    source = (name_text(connector) if connector else "", quoted(known_as) if known_as else "")
    return title, " ".join(filter(None, source))


def _words(hit: Hit, room: int) -> Piece:
    """What was proven, in at most `room` bytes."""
    if not hit.excerpts:
        return Piece(METADATA_ONLY if len(METADATA_ONLY) <= room else "")
    words = _excerpt_text(hit.excerpts[0], room)
    if not hit.matched_fields:
        return Piece(words, (hit.excerpts[0].field,)) if words else Piece(NO_MATCH if len(NO_MATCH) <= room else "")
    left = room - byte_len(words) - 1
    second = "" if left < _SECOND_BYTES or len(hit.excerpts) == 1 else _excerpt_text(hit.excerpts[1], left)
    said = zip(hit.excerpts, (words, second), strict=False)
    return Piece(f"{words} {second}".strip(), tuple([excerpt.field for excerpt, text in said if text]))


def _excerpt_text(excerpt: Excerpt, room: int) -> str:
    """Where it matched and the words around; fewer of them where they are long in bytes, and nothing without room."""
    if not excerpt.text:
        text = f"{name_text(excerpt.field)}{_remark(excerpt)}"
        return text if byte_len(text) <= room else ""
    chars = min(_MOST_CHARS, room - _around_bytes(excerpt))
    while chars > 0:
        narrowed = narrow_excerpt(excerpt, chars)
        at = f"@{narrowed.marks[0][0] if narrowed.marks else narrowed.start}" if excerpt.is_placed else ""
        before, after = CUT if narrowed.start else "", CUT if narrowed.end < narrowed.total_chars else ""
        text = f"{name_text(excerpt.field)}{at} {quoted(f'{before}{one_line(marked(narrowed))}{after}')}"
        text += _remark(excerpt)
        size = byte_len(text)
        if size <= room:
            return text
        chars = min(len(narrowed.text), chars) * room // size - 1
    return ""


def _remark(excerpt: Excerpt) -> str:
    """What is missing of a proof."""
    if not excerpt.is_placed:
        return f" {NO_PLACE}"
    return "" if excerpt.marks else f" {NO_MATCH}"


def _around_bytes(excerpt: Excerpt) -> int:
    """About what stands around the words of an excerpt: field and place, quotes, cuts, marks of two words."""
    return byte_len(excerpt.field) + _AROUND_BYTES + _MARK_BYTES * min(2, len(excerpt.marks)) + len(_remark(excerpt))


def marked(excerpt: Excerpt) -> str:
    """The text with its matches in mark tags; all else is escaped, so that no record can forge one."""
    text = excerpt.text
    plain = _escaped if "<" in text or "&" in text or ">" in text else str
    pieces: list[str] = []
    done = 0
    for start, end in excerpt.marks:
        first, last = max(done, start - excerpt.start), max(done, end - excerpt.start)
        pieces += (plain(text[done:first]), "<mark>", plain(text[first:last]), "</mark>")
        done = last
    return "".join((*pieces, plain(text[done:])))


def _escaped(text: str) -> str:
    return escape(text, quote=False)


def unproven(hit: Hit) -> str:
    """What is to be said of a hit without a match of its own."""
    return "" if hit.matched_fields else NO_MATCH if hit.excerpts else METADATA_ONLY


def narrow_excerpt(excerpt: Excerpt, chars: int) -> Excerpt:
    """At most `chars` of it around its first match, its words and offsets unchanged."""
    text = excerpt.text
    if len(text) <= chars:
        return excerpt
    first = excerpt.marks[0][0] - excerpt.start if excerpt.marks else 0
    start = whole_characters(text, max(0, min(first - chars // 3, len(text) - chars)))
    end = whole_characters(text, start + chars)
    low, high = excerpt.start + start, excerpt.start + end
    kept = tuple([(max(a, low), min(b, high)) for a, b in excerpt.marks if a < high and b > low])
    return excerpt._replace(text=text[start:end], start=low, marks=kept)
