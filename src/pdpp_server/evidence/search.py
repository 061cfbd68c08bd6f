"""Search hits as a short list that an agent can read at once, cite and follow."""

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from itertools import islice
from typing import NamedTuple

from pdpp_server.evidence.budget import affordable, first_that_fits
from pdpp_server.evidence.calls import NextCall, fetch_of, read_around, read_at, schema_of, search_from
from pdpp_server.evidence.lean import narrow_excerpt
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
)
from pdpp_server.evidence.titles import dated, hit_identity, hit_title, label, moment
from pdpp_server.model.activity import NOTHING, Shown, together
from pdpp_server.model.queries import SearchQuery
from pdpp_server.model.records import Excerpt, Hit, Recall, SearchPage, Warned
from pdpp_server.model.times import instant

SEARCH_BYTES = 3600
METADATA_ONLY = "(only metadata known, no match of its own)"
NO_MATCH = "(passage, no match of its own)"
NO_PLACE = "(matched, place not proven)"
_LONG_HANDLE_BYTES = 160
_PART_BYTES = len(", the first 100 of them here")
_BESIDE_BYTES = len(" (no match of its own, beside the hit above)")
_CURSOR_BYTES = 170  # kept free for a cursor that is yet to be asked for
_COPIED_BYTES = 96  # of a call that only turns the page and is printed whole, beside its cursor
_FETCHED_CHARS = 2000  # of a text that is better read whole than by windows
_SOURCES_SHOWN = 8
_WORD_CHARS = 40  # of a match that a next step repeats
_DROWNED = 20  # times as often: then one word drowns another
_SOURCES, _FETCH_FIRST = "sources: ", "next: fetch with id = first_fetch_id"


class SearchText(NamedTuple):
    text: str
    shown: int  # hits of the page for which there was room
    told: Shown = NOTHING


class Piece(NamedTuple):
    """Some words, the fields that they came from, and the excerpt that they cut short."""

    text: str
    fields: tuple[str, ...] = ()
    cut: Excerpt | None = None


class Measure(NamedTuple):
    """How much of each hit is shown: characters of a text by its rank, and of labels, names and titles."""

    first: int
    middle: int
    last: int
    names: int

    def chars(self, rank: int) -> int:
        return self.first if rank < _FIRST_HITS else self.middle if rank < _MIDDLE_HITS else self.last


_FIRST_HITS, _MIDDLE_HITS = 4, 6
# The first hits get the room. Where a page does not fit, all get less; a name alone is the least.
_MEASURES = (
    Measure(300, 200, 80, 48),
    Measure(240, 140, 48, 40),
    Measure(160, 100, 40, 32),
    Measure(100, 60, 32, 24),
    Measure(64, 32, 24, 16),
)
_NAMED = Measure(0, 0, 0, 0)


def search_text(page: SearchPage, query: SearchQuery, ids: Sequence[str], rest: str | None = None) -> SearchText:
    """The first handle stands on the first line, so a clipped text still opens its best hit.

    Every hit is named with its time and a few words before any gets more. Where there is no room for the whole page,
    the call that goes on after the last hit shown has that hit's own cursor, or `rest` from a server that gave it none.
    """
    hits = page.hits
    if not hits:
        return SearchText(_nothing_text(page), 0)
    room = SEARCH_BYTES - byte_len(_head_text(page, query, ids[0], len(hits))) - _following_bytes(page, query, ids)
    rows = _rows(page, ids, room)
    shown = len(rows)
    following = _following(page, query, ids, rows, rest)
    told = shown_of([hit.id for hit in hits[:shown]], [name for row in rows for name in row.fields])
    if any(line.startswith(_SOURCES) for line in following):  # which names those of all hits
        told = together(told, Shown(connections=tuple([hit.id.connection_id for hit in hits])))
    lines = (_head_text(page, query, ids[0], shown), *_as_a_talk(hits[:shown], rows), *following)
    return SearchText("\n".join(lines), shown, told)


def _rows(page: SearchPage, ids: Sequence[str], room: int) -> list[Piece]:
    """All hits in the richest way that fits; else as many names as do."""
    usual = _usual_fields(page.hits)
    room -= _BESIDE_BYTES * sum(1 for hit in page.hits if hit.beside)
    for measure in _MEASURES:
        least = sum(len(id) + 1 for id in ids)
        rows = [] if least > room else [*_measured(page.hits, ids, measure, usual)]
        if rows and sum(byte_len(row.text) + 1 for row in rows) <= room:
            return rows
    taken: list[Piece] = []
    for row in _measured(page.hits, ids, _MEASURES[-1] if len(ids[0]) <= _LONG_HANDLE_BYTES else _NAMED, usual):
        room -= byte_len(row.text) + 1
        if room < 0 and taken:
            break
        taken.append(row)
    return taken


def _measured(
    hits: Sequence[Hit], ids: Sequence[str], measure: Measure, usual: frozenset[tuple[str, str]]
) -> Iterator[Piece]:
    for rank, (hit, id) in enumerate(zip(hits, ids, strict=True)):
        yield _row(hit, id, measure.chars(rank), measure.names, usual)


def _as_a_talk(hits: Sequence[Hit], rows: Sequence[Piece]) -> Iterator[str]:
    """The rows by rank; but what came by its neighbours stands with the hit that lifted it, as they were said."""
    places = {hit.id: place for place, hit in enumerate(hits)}
    exchanges: dict[int, list[int]] = {}
    for place, hit in enumerate(hits):
        leading = places.get(hit.beside, place) if hit.beside else place
        exchanges.setdefault(leading, []).append(place)
    for leading, exchange in sorted(exchanges.items(), key=lambda item: min(item[1])):
        for place in sorted(exchange, key=lambda place: _in_talk(hits[place])):
            where = "" if place == leading else _beside_text(hits[place], hits[leading])
            yield f"{rows[place].text}{where}"


def _in_talk(hit: Hit) -> tuple[int, str]:
    return instant(hit.authored_at) or 0, hit.id.key


def _beside_text(hit: Hit, leading: Hit) -> str:
    return f" (no match of its own, beside the hit {'below' if _in_talk(hit) < _in_talk(leading) else 'above'})"


def search_next(page: SearchPage, query: SearchQuery, ids: Sequence[str]) -> tuple[NextCall, ...]:
    """Read on where the best hit is cut, else open it; then turn the page."""
    if not page.hits:
        return (schema_of(),)
    more = (search_from(query, page.next_cursor),) if page.next_cursor else ()
    return (_opening(page.hits, ids), *more)


def _opening(hits: Sequence[Hit], ids: Sequence[str]) -> NextCall:
    """Where the first text that is not whole goes on at its match; else the first hit with all its fields."""
    for hit, id in zip(hits, ids, strict=True):
        cut = next((excerpt for excerpt in hit.excerpts if not _is_whole(excerpt)), None)
        if cut is not None and (call := _reading(id, cut)):
            return call
    return fetch_of(ids[0])


def _reading(handle: str, excerpt: Excerpt) -> NextCall | None:
    if excerpt.is_placed:
        start = excerpt.marks[min(excerpt.rarest, len(excerpt.marks) - 1)][0] if excerpt.marks else excerpt.end
        return read_at(handle, excerpt.field, start)
    if not excerpt.marks:
        return None
    start, end = excerpt.marks[0]
    word = excerpt.text[start:end]
    is_plain = word.replace("-", "").isalnum() and len(word) <= _WORD_CHARS  # a place can be found by it
    return read_around(handle, excerpt.field, word) if is_plain else None


def _is_whole(excerpt: Excerpt) -> bool:
    return excerpt.is_placed and excerpt.start == 0 and excerpt.end >= excerpt.total_chars


def _head_text(page: SearchPage, query: SearchQuery, first_id: str, shown: int) -> str:
    here = len(page.hits)
    part = "" if shown == here else f", the first {shown} of them here"
    turned = "the next " if query.cursor else ""
    found = f"{turned}{_counted(page)}{_more_text(page)}"
    order = ", best first" if here > 1 else ""
    return f"search: {found}{part}{order}. first_fetch_id={handle_text(first_id)}"


def _counted(page: SearchPage) -> str:
    """Matches of how many, and what stands beside them apart."""
    recall, here = page.recall, len(page.hits)
    if recall.matches is None:
        return f"{here} hit{'' if here == 1 else 's'}"
    matches = sum(1 for hit in page.hits if not hit.is_beside)
    total = f"{'' if recall.matches_exact else 'at least '}{recall.matches}"
    of = "" if total == str(matches) else f" of {total}"
    beside = f" and {here - matches} beside them" if here > matches else ""
    return f"{matches}{of} match{'' if recall.matches == 1 else 'es'}{beside}"


def _more_text(page: SearchPage) -> str:
    """What is to be said where a server has more, or does not say whether it has, and gives no cursor."""
    if page.is_short is None:
        return ", whether all of them is not said"
    return " and more that no cursor leads to" if page.is_short else ""


# What follows the hits: remarks, and calls in several ways, the fullest first ---------------------------------------


def _following_bytes(page: SearchPage, query: SearchQuery, ids: Sequence[str]) -> int:
    """What is kept free for it: the calls at their shortest, and all remarks within reason."""
    calls = [_next_ways(page, ids, None)[-1]]
    if page.next_cursor:
        calls.append(_search_ways("more", query, page.next_cursor)[-1])
    if len(page.hits) > 1:
        calls.append("r" * (_CURSOR_BYTES + _PART_BYTES))
    wanted = sum(byte_len(line) + 1 for line in calls)
    remarks = sum(byte_len(line) + 1 for line in _remarks(page, query))
    return min(wanted + remarks, max(wanted, SEARCH_BYTES // 3))


def _following(
    page: SearchPage, query: SearchQuery, ids: Sequence[str], rows: Sequence[Piece], rest: str | None
) -> list[str]:
    """Remarks as far as there is room, then the calls."""
    shown = len(rows)
    taken = byte_len(_head_text(page, query, ids[0], shown)) + sum(byte_len(row.text) + 1 for row in rows)
    taken += sum(byte_len(line) for line in _besides(page.hits[:shown]))
    calls: list[list[str]] = []
    if shown < len(page.hits):
        calls.append(_rest_ways(query, shown, page.hits[shown - 1].cursor or rest))
    if page.next_cursor:
        calls.append(_search_ways("more", query, page.next_cursor))
    calls.append(_next_ways(page, ids, _first_cut(ids, rows)))
    spare = SEARCH_BYTES - taken - sum(byte_len(ways[-1]) + 1 for ways in calls)
    remarks = [line for line in affordable(_remarks(page, query), spare) if line]
    spare -= sum(byte_len(line) + 1 for line in remarks)
    said: list[str] = []
    for ways in calls:
        said.append(first_that_fits(ways, byte_len(ways[-1]) + spare))
        spare -= byte_len(said[-1]) - byte_len(ways[-1])
    return [*remarks, *said]


def _besides(hits: Sequence[Hit]) -> Iterator[str]:
    places = {hit.id: hit for hit in hits}
    for hit in hits:
        leading = places.get(hit.beside) if hit.beside else None
        if leading is not None:
            yield _beside_text(hit, leading)


def _first_cut(ids: Sequence[str], rows: Sequence[Piece]) -> NextCall | None:
    """Where the first text that is cut short goes on."""
    for id, row in zip(ids, rows, strict=False):
        if row.cut is not None and len(id) <= _LONG_HANDLE_BYTES:
            return _on_from(id, row.cut)
    return None


def _on_from(handle: str, cut: Excerpt) -> NextCall:
    """The whole record where its text is short, else the text at its match."""
    is_short = cut.is_placed and cut.total_chars <= _FETCHED_CHARS
    return (None if is_short else _reading(handle, cut)) or fetch_of(handle)


def _search_ways(word: str, query: SearchQuery, cursor: str) -> list[str]:
    call = f"{word}: {search_from(query, cursor).text}"
    words = f"{word}: the same search with {compact_json({'cursor': cursor})}"
    return [call, words] if byte_len(call) - byte_len(cursor) <= _COPIED_BYTES else [words]


def _rest_ways(query: SearchQuery, shown: int, cursor: str | None) -> list[str]:
    if cursor and len(cursor) <= _CURSOR_BYTES:
        return _search_ways("rest", query, cursor)
    return [f"rest: the same search with {compact_json({'limit': shown})}, then on from its cursor"]


_AS_SHOWN = "ids as shown, connection_id only if shown separately"


def _next_ways(page: SearchPage, ids: Sequence[str], reading: NextCall | None) -> list[str]:
    if len(ids[0]) > _LONG_HANDLE_BYTES:
        return [f'next: fetch {{"id":ID}}, {_AS_SHOWN}', _FETCH_FIRST]
    if reading:
        reads_on = " reads on at (+n more)" if reading.tool == "fetch" else " reads on at the match"
        on = f"next: {reading.text}{reads_on}"
        fetching = "" if reading.tool == "fetch" else ' · fetch {"id":ID}'
        return [f"{on}{fetching}, {_AS_SHOWN}", on, f"next: {fetch_of(ids[0]).text}"]
    opening = fetch_of(ids[0]).text
    return [f"next: {opening}, {_AS_SHOWN}", f"next: {opening}"]


def recall_says(recall: Recall) -> str:
    """What was complete, in words."""
    any_word = "; any word may match, rare ones count most" if len(recall.words) > 1 else ""
    if recall.complete:
        return f"all matches of these words were ranked{any_word}; other words may find more"
    if recall.ranked is None:
        return "that server does not say what it ranked"
    return f"only {recall.ranked} matches were ranked{any_word}; rarer words, streams or connection_id reach the others"


def _remarks(page: SearchPage, query: SearchQuery) -> list[str]:
    lines = (*_recall_lines(page.recall), *word_lines(page.recall.words), *_sender_lines(page, query))
    return [*lines, *warning_lines(page.warnings), *_source_lines(page)]


def _recall_lines(recall: Recall) -> Iterator[str]:
    if not recall.complete and recall.ranked is not None:
        window = f", at most {recall.window} are" if recall.window else ""
        narrower = "rarer words, streams or connection_id reach the others"
        yield f"recall: only {recall.ranked} matches were ranked{window}; {narrower}"


def word_lines(words: Sequence[tuple[str, int]]) -> Iterator[str]:
    """What matched nothing; and how often each word occurs, where one drowns the others."""
    missing = [quoted(clip_shown(word, _WORD_CHARS)) for word, count in words if not count]
    if missing:
        yield f"no match: {', '.join(missing)}"
    counted = sorted((count, word) for word, count in words if count)
    if len(counted) > 1 and counted[-1][0] >= _DROWNED * counted[0][0]:
        rarest, commonest = (f"{quoted(clip_shown(word, _WORD_CHARS))} in {count}" for count, word in _ends(counted))
        yield f"records: {rarest}, {commonest}"


def _ends(counted: Sequence[tuple[int, str]]) -> tuple[tuple[int, str], tuple[int, str]]:
    return counted[0], counted[-1]


def _sender_lines(page: SearchPage, query: SearchQuery) -> Iterator[str]:
    """A name in the query that is somebody's who wrote: then a filter on it narrows."""
    if query.conditions:
        return
    words = {word.casefold() for word, _ in page.recall.words}
    for hit in page.hits:
        name, field = hit.actor, hit.actor_field
        if name and field and name.casefold() in words and name.isalnum():
            narrowed = compact_json({"streams": [hit.id.stream], "filter": {field: name}})
            yield f"only by {name}: add {narrowed[1:-1]}"
            return


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
        yield "; ".join(parts)


def _nothing_text(page: SearchPage) -> str:
    lines = [*_recall_lines(page.recall), *word_lines(page.recall.words), *warning_lines(page.warnings)]
    as_of = moment(page.as_of)
    fresh = f" Data as of {as_of}." if as_of else ""
    said = [line for line in lines if byte_len(line) < 600][:3]
    return "\n".join(
        (
            f"search: 0 hits{_more_text(page)}.{fresh}",
            *said,
            "next: search with other words, or schema {} for what can be searched",
        )
    )


# One hit ----------------------------------------------------------------------------------------------------------


def _usual_fields(hits: Sequence[Hit]) -> frozenset[tuple[str, str]]:
    """Streams of which every hit shows the same field first: then its name need not stand on every line."""
    firsts: dict[str, set[str]] = {}
    for hit in hits:
        firsts.setdefault(hit.id.stream, set()).update(excerpt.field for excerpt in islice(_bodies(hit), 1))
    alone = Counter([hit.id.stream for hit in hits])
    told = [(stream, *names) for stream, names in firsts.items() if len(names) == 1 and alone[stream] > 1]
    return frozenset((stream, name) for stream, name in told)


def _bodies(hit: Hit) -> Iterator[Excerpt]:
    """The excerpts that are not the title, which has a place of its own."""
    return (excerpt for excerpt in hit.excerpts if excerpt.field != hit.title_field)


def _row(hit: Hit, handle: str, chars: int, names: int, usual: frozenset[tuple[str, str]]) -> Piece:
    """The hit on one line: its whole handle, where it comes from, when, who, what it is called, and its words."""
    named = handle_text(handle)
    if not chars or len(handle) > _LONG_HANDLE_BYTES:
        return Piece(named)
    when, who, what = dated(hit.authored_at), _actor_text(hit, names), _title_text(hit, names)
    about = " ".join(filter(None, (named, _source_text(hit, names), when, who, what.text)))
    words = _words(hit, chars, usual)
    told = (hit.time_field if when else None, hit.actor_field if who else None)
    text = f"{about}: {words.text}" if words.text else about
    return Piece(text, (*[name for name in told if name], *what.fields, *words.fields), words.cut)


def _source_text(hit: Hit, names: int) -> str:
    known_as, connector = label(hit.origin, names), hit.origin.connector_key
    return " ".join(filter(None, (name_text(connector) if connector else "", quoted(known_as) if known_as else "")))


def _actor_text(hit: Hit, names: int) -> str:
    """Marked where nothing else says why this is a hit."""
    if not hit.actor:
        return ""
    name = clip_shown(hit.actor, names)
    only_match = hit.actor_field in hit.also_matched and not any(excerpt.marks for excerpt in hit.excerpts)
    return f"by {quoted(f'<mark>{escape(name, quote=False)}</mark>' if only_match else name)}"


def _title_text(hit: Hit, names: int) -> Piece:
    """The declared title, with its marks; one that only repeats label, stream and time says nothing new."""
    marked_title = next((excerpt for excerpt in hit.excerpts if excerpt.field == hit.title_field), None)
    if marked_title is not None and marked_title.text:
        return Piece(f"title {_quoted_text(narrow_excerpt(marked_title, names))}", (marked_title.field,))
    if not hit.title or hit.title == hit_identity(hit):
        return Piece("")
    return Piece(f"title {quoted(hit_title(hit, names))}", (hit.title_field,) if hit.title_field else ())


def _words(hit: Hit, chars: int, usual: frozenset[tuple[str, str]]) -> Piece:
    """What was proven, and what of the text is shown beside that."""
    bodies = [*_bodies(hit)]
    if not bodies:
        return Piece("" if hit.matched_fields else METADATA_ONLY)
    is_usual = (hit.id.stream, bodies[0].field) in usual
    first = _excerpt_text(bodies[0], chars, is_usual=is_usual)
    remark = "" if hit.matched_fields or hit.beside else f" {NO_MATCH}"
    if len(bodies) == 1 or chars < _MEASURES[1].middle:
        return first._replace(text=first.text + remark)
    second = _excerpt_text(bodies[1], chars // 2, is_usual=False)
    return Piece(f"{first.text} {second.text}{remark}", (*first.fields, *second.fields), first.cut or second.cut)


def _excerpt_text(excerpt: Excerpt, chars: int, *, is_usual: bool) -> Piece:
    """Where it stands and the words around; how many characters are not shown."""
    name = name_text(excerpt.field)
    if not excerpt.text:
        return Piece(f"{name} {NO_PLACE}", (excerpt.field,))
    narrowed = narrow_excerpt(excerpt, chars)
    text = _quoted_text(narrowed)
    if not excerpt.is_placed:
        return Piece(f"{name} {text} {NO_PLACE}", (excerpt.field,), narrowed)
    if _is_whole(narrowed):
        return Piece(text if is_usual else f"{name} {text}", (excerpt.field,))
    place = narrowed.marks[0][0] if narrowed.marks else narrowed.start
    left = narrowed.total_chars - len(narrowed.text)
    return Piece(f"{name}@{place} {text} (+{left} more)", (excerpt.field,), narrowed)


def _quoted_text(excerpt: Excerpt) -> str:
    before, after = CUT if excerpt.start else "", CUT if excerpt.end < excerpt.total_chars else ""
    return quoted(f"{before}{one_line(marked(excerpt))}{after}")


def marked(excerpt: Excerpt) -> str:
    """The text with its matches in mark tags; all else is escaped, so that no record can forge one."""
    text = excerpt.text
    plain = _escaped if "<" in text or "&" in text or ">" in text else str
    pieces: list[str] = []
    done = 0
    for start, end in _joined(excerpt):
        first, last = max(done, start - excerpt.start), max(done, end - excerpt.start)
        pieces += (plain(text[done:first]), "<mark>", plain(text[first:last]), "</mark>")
        done = last
    return "".join((*pieces, plain(text[done:])))


def _joined(excerpt: Excerpt) -> Iterator[tuple[int, int]]:
    """The marks; words that stand together have one."""
    start = end = None
    for first, last in excerpt.marks:
        if start is not None and end is not None:
            if excerpt.text[end - excerpt.start : first - excerpt.start] == " ":
                end = last
                continue
            yield start, end
        start, end = first, last
    if start is not None and end is not None:
        yield start, end


def _escaped(text: str) -> str:
    return escape(text, quote=False)


def unproven(hit: Hit) -> str:
    """What is to be said of a hit without a match of its own."""
    return "" if hit.matched_fields else NO_MATCH if hit.excerpts else METADATA_ONLY
