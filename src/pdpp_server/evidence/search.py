"""Search hits as a short list that an agent can read at once, cite and follow."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from pdpp_server.evidence.budget import affordable, first_that_fits
from pdpp_server.evidence.budgets import (
    LONG_HANDLE_BYTES,
    SEARCH_BYTES,
    SEARCH_COPIED_BYTES,
    SEARCH_CURSOR_BYTES,
    SEARCH_FETCHED_CHARS,
    SEARCH_REMARK_BYTES,
    SEARCH_VERDICT_BYTES,
    WORD_CHARS,
)
from pdpp_server.evidence.calls import NextCall, around_of, fetch_of, read_around, read_at, schema_of, search_from
from pdpp_server.evidence.hits import Piece, as_a_talk, beside_bytes, hit_rows, is_whole
from pdpp_server.evidence.remarks import (
    NOT_SEARCHED,
    SOURCES,
    leaves_weaker,
    missing_lines,
    recall_lines,
    search_remarks,
    warning_lines,
)
from pdpp_server.evidence.shown import shown_of
from pdpp_server.evidence.text import (
    byte_len,
    compact_json,
    handle_text,
    number_of,
)
from pdpp_server.evidence.titles import moment
from pdpp_server.model.activity import NOTHING, Shown, together
from pdpp_server.model.queries import SearchQuery
from pdpp_server.model.records import Excerpt, SearchPage

_PART_BYTES = len(", the first 100 of them here")
_WHOLE_BYTES = len(", none of them whole: a lower limit shows more")
_REST_BYTES = SEARCH_CURSOR_BYTES + len('rest: the same search with {"cursor":""}')
_GOOD_HITS = 3  # of which a cut one is better read on than any other is looked around
_FETCH_FIRST = "next: fetch with id = first_fetch_id"


class SearchText(NamedTuple):
    text: str
    shown: int  # hits of the page for which there was room
    told: Shown = NOTHING


def search_text(page: SearchPage, query: SearchQuery, ids: Sequence[str], rest: str | None = None) -> SearchText:
    """The first handle stands on the first line, so a clipped text still opens its best hit.

    Every hit is named with its time and a few words before any gets more. Where there is no room for the whole page,
    the call that goes on after the last hit shown has that hit's own cursor, or `rest` from a server that gave it none.
    """
    hits = page.hits
    if not hits:
        return SearchText(_nothing_text(page, query), 0)
    opening = _Head(_found_text(page, query), _order_text(page), handle_text(ids[best_match(page)]))
    missing = [*missing_lines(page.recall, query)]
    verdict = _verdict(missing)
    unmatched = () if verdict else missing
    remarks = [*unmatched, *search_remarks(page, query)]
    more = _search_ways("more", query, page.next_cursor) if page.next_cursor else []
    room = SEARCH_BYTES - byte_len(opening.text()) - byte_len(verdict) - _following_bytes(page, ids, more, remarks)
    rows = hit_rows(hits, ids, room if query.brief else room - _WHOLE_BYTES)
    shown = len(rows)
    part = "" if shown == len(hits) else f", the first {shown} of them here"
    head = opening.text(part, _whole_text(rows, query)) + verdict
    if shown < len(hits):  # how many of them hold each word was counted over all
        in_part = replace(page, recall=replace(page.recall, here=()))
        remarks = [*unmatched, *search_remarks(in_part, query)]
    following = _following(page, query, ids, rows, rest, head, more, remarks)
    told = shown_of([hit.id for hit in hits[:shown]], [name for row in rows for name in row.fields])
    if any(line.startswith(SOURCES) for line in following):  # which names those of all hits
        told = together(told, Shown(connections=tuple([hit.id.connection_id for hit in hits])))
    lines = (head, *as_a_talk(hits[:shown], rows), *following)
    return SearchText("\n".join(lines), shown, told)


def search_next(page: SearchPage, query: SearchQuery, ids: Sequence[str]) -> tuple[NextCall, ...]:
    """Read on where the best hit is cut, else open it; then turn the page."""
    if not page.hits:
        return (_schema(page, query),)
    more = (search_from(query, page.next_cursor),) if page.next_cursor else ()
    cuts = (next((excerpt for excerpt in hit.excerpts if not is_whole(excerpt)), None) for hit in page.hits)
    steps = _steps(page, ids, _first_cut(page, ids, cuts)) or (fetch_of(ids[best_match(page)]),)
    return (*steps[:1], *more)


def best_match(page: SearchPage) -> int:
    """Which of the hits is to be opened first: what only stands beside a match may be ranked above it."""
    return next((place for place, hit in enumerate(page.hits) if not hit.is_beside), 0)


class _Cut(NamedTuple):
    """Which hit is cut short first, and the call that reads on there."""

    rank: int
    call: NextCall


def _first_cut(page: SearchPage, ids: Sequence[str], cuts: Iterable[Excerpt | None]) -> _Cut | None:
    """Of matches: what is cut of a record beside one is seldom what was looked for."""
    for rank, (hit, id, cut) in enumerate(zip(page.hits, ids, cuts, strict=False)):
        if cut is not None and not hit.is_beside and len(id) <= LONG_HANDLE_BYTES:
            return _Cut(rank, _on_from(id, cut))
    return None


def _steps(page: SearchPage, ids: Sequence[str], cut: _Cut | None) -> tuple[NextCall, ...]:
    """The most useful step first: on in a good hit that is cut; else around the best one, where somebody speaks. A weak
    hit is never all that is offered, for that it is long says nothing for it."""
    around = _around(page, ids)
    if cut is None:
        return around
    if cut.rank < _GOOD_HITS:
        return (cut.call, *around)
    return (*around, cut.call) if around else ()


def _around(page: SearchPage, ids: Sequence[str]) -> tuple[NextCall, ...]:
    first = best_match(page)
    best, id = page.hits[first], ids[first]
    is_booked = best.amount is not None  # whose actor is who was paid, and said nothing
    is_said = best.actor is not None and bool(best.excerpts) and not is_booked
    if not page.narrows or not is_said or len(id) > LONG_HANDLE_BYTES:
        return ()
    return (around_of(best.id.stream, id),)


def _reading(handle: str, excerpt: Excerpt) -> NextCall | None:
    marks = excerpt.marks
    if excerpt.is_placed:
        start = marks[min(excerpt.rarest, len(marks) - 1)][0] if marks else excerpt.end
        return read_at(handle, excerpt.field, start)
    if not marks:
        return None
    start, end = marks[0]
    word = excerpt.text[start:end]
    is_plain = word.replace("-", "").isalnum() and len(word) <= WORD_CHARS  # a place can be found by it
    return read_around(handle, excerpt.field, word) if is_plain else None


def _whole_text(rows: Sequence[Piece], query: SearchQuery) -> str:
    """How many hits are whole, where a given limit leaves the others little room."""
    whole = sum([1 for row in rows if row.cut is None])
    if query.brief or len(rows) < 2 or whole == len(rows):  # of one hit no limit shows more
        return ""
    return f", {whole or 'none'} of them whole: a lower limit shows more"


def _verdict(missing: Sequence[str]) -> str:
    """Which words stand nowhere: before the hits, which are read otherwise by whoever knows it."""
    return "".join([f"\n{line}" for line in missing if byte_len(line) <= SEARCH_VERDICT_BYTES])


class _Head(NamedTuple):
    """The first line, in the parts that are the same however many hits are shown."""

    found: str
    order: str
    first: str  # the handle to be opened

    def text(self, part: str = "", whole: str = "") -> str:
        return f"search: {self.found}{part}{self.order}{whole}. first_fetch_id={self.first}"


def _found_text(page: SearchPage, query: SearchQuery) -> str:
    turned = "the next " if query.cursor else "all " if _are_all(page) else ""
    weaker = ", the others match less (a limit shows them)" if leaves_weaker(page, query) else ""
    return f"{turned}{_counted(page)}{weaker}{_more_text(page)}"


def _are_all(page: SearchPage) -> bool:
    """Whether these are several and there is no other match: as many as a page holds by default look like a page."""
    matches = sum(1 for hit in page.hits if not (hit.is_meant or hit.is_beside))
    return matches > 1 and page.recall.matches_exact and page.recall.matches == matches and page.next_cursor is None


def _order_text(page: SearchPage) -> str:
    first = "newest" if page.recall.is_newest else "best"
    return f", {first} first" if len(page.hits) > 1 else ""


def _counted(page: SearchPage) -> str:
    """Matches of how many, and what stands beside them apart."""
    recall, here = page.recall, len(page.hits)
    if recall.matches is None:
        return number_of(here, "hit")
    meant = sum([1 for hit in page.hits if hit.is_meant])
    beside = sum([1 for hit in page.hits if hit.is_beside])
    matches = str(here - meant - beside)
    total = str(recall.matches) if recall.matches_exact else f"at least {recall.matches}"
    counted = matches if total == matches else f"{matches} of {total}"
    counted += " match" if recall.matches == 1 else " matches"
    if beside:
        counted += f" and {beside} beside them"
    if meant:
        counted += f", {meant} by meaning"
    return counted


def _more_text(page: SearchPage) -> str:
    """What is to be said where a server has more, or does not say whether it has, and gives no cursor."""
    if page.is_short is None:
        return ", whether all of them is not said"
    return " and more that no cursor leads to" if page.is_short else ""


# What follows the hits: remarks, and calls in several ways, the fullest first ---------------------------------------


def _following_bytes(page: SearchPage, ids: Sequence[str], more: Sequence[str], remarks: Sequence[str]) -> int:
    """What is kept free for it: the calls at their shortest, and all remarks within reason."""
    calls = [_next_ways(page, ids, None)[-1], *more[-1:]]
    if len(page.hits) > 1:
        calls.append("r" * (_REST_BYTES + _PART_BYTES))
    wanted = sum([byte_len(line) + 1 for line in calls])
    said = sum([byte_len(line) + 1 for line in remarks])
    return min(wanted + said, max(wanted, SEARCH_BYTES // 3))


def _following(
    page: SearchPage,
    query: SearchQuery,
    ids: Sequence[str],
    rows: Sequence[Piece],
    rest: str | None,
    head: str,
    more: list[str],
    remarks: Sequence[str],
) -> list[str]:
    """Remarks as far as there is room, then the calls."""
    shown = len(rows)
    taken = byte_len(head) + sum([byte_len(row.text) + 1 for row in rows])
    taken += beside_bytes(page.hits[:shown])
    calls: list[list[str]] = []
    if any(not hit.beside for hit in page.hits[shown:]):
        calls.append(_rest_ways(query, shown, page.hits[shown - 1].cursor or rest))
    if more:
        calls.append(more)
    calls.append(_next_ways(page, ids, _first_cut(page, ids, [row.cut for row in rows])))
    spare = SEARCH_BYTES - taken - sum([byte_len(ways[-1]) + 1 for ways in calls])
    affordable_remarks = [line for line in affordable(remarks, spare) if line]
    spare -= sum([byte_len(line) + 1 for line in affordable_remarks])
    said: list[str] = []
    for ways in calls:
        said.append(first_that_fits(ways, byte_len(ways[-1]) + spare))
        spare -= byte_len(said[-1]) - byte_len(ways[-1])
    return [*affordable_remarks, *said]


def _on_from(handle: str, cut: Excerpt) -> NextCall:
    """The whole record where its text is short, else the text at its match."""
    if cut.is_placed and cut.total_chars <= SEARCH_FETCHED_CHARS:
        return fetch_of(handle)
    return _reading(handle, cut) or fetch_of(handle)


def _search_ways(word: str, query: SearchQuery, cursor: str) -> list[str]:
    call = f"{word}: {search_from(query, cursor).text}"
    words = f"{word}: the same search with {compact_json({'cursor': cursor})}"
    return [call, words] if byte_len(call) - byte_len(cursor) <= SEARCH_COPIED_BYTES else [words]


def _rest_ways(query: SearchQuery, shown: int, cursor: str | None) -> list[str]:
    if cursor and len(cursor) <= SEARCH_CURSOR_BYTES:
        return _search_ways("rest", query, cursor)
    return [f"rest: the same search with {compact_json({'limit': shown})}, then on from its cursor"]


_AS_SHOWN = "ids as shown, connection_id only if shown separately"  # ids of ours always have their connection


def _next_ways(page: SearchPage, ids: Sequence[str], cut: _Cut | None) -> list[str]:
    first_id = ids[best_match(page)]
    if len(first_id) > LONG_HANDLE_BYTES:
        return [f'next: fetch {{"id":ID}}, {_AS_SHOWN}', _FETCH_FIRST]
    opening = f"next: {fetch_of(first_id).text}"
    steps = _steps(page, ids, cut)
    if not steps:
        return [opening] if page.narrows else [f"{opening}, {_AS_SHOWN}", opening]
    best, *further = steps
    first = f"next: {best.text}{_what_for(best)}"
    if further and best.tool == "query_records":  # which other hits are cut can be seen
        return [first, opening]
    others = [f"{step.text}{_what_for(step)}" for step in further]
    if not others and best.tool != "fetch":
        others = ['fetch {"id":ID}']
    whole = " · ".join((first, *others))
    as_shown = [] if page.narrows else [f"{whole}, {_AS_SHOWN}"]
    return [*as_shown, whole, first, opening]


_READS_ON = " for (+n more)"


def _what_for(call: NextCall) -> str:
    if call.tool == "query_records":
        return " shows what is around it"
    return _READS_ON if call.tool == "fetch" else " reads on at the match"


def _nothing_text(page: SearchPage, query: SearchQuery) -> str:
    lines = [*recall_lines(page.recall), *missing_lines(page.recall, query), *warning_lines(page.warnings)]
    as_of = moment(page.as_of)
    fresh = f" Data as of {as_of}." if as_of else ""
    said = [line for line in lines if byte_len(line) < SEARCH_REMARK_BYTES][:3]
    return "\n".join(
        (
            f"search: 0 hits{_more_text(page)}.{fresh}",
            *said,
            f"next: {_other_ways(page, query)}",
        )
    )


def _other_ways(page: SearchPage, query: SearchQuery) -> str:
    schema = _schema(page, query).text
    if _is_unsearched(page):
        return f"{schema} for its filters"
    return f"search with other words, or {schema} for what can be searched"


def _schema(page: SearchPage, query: SearchQuery) -> NextCall:
    return schema_of(query.streams[0], query.connection_id) if query.streams and _is_unsearched(page) else schema_of()


def _is_unsearched(page: SearchPage) -> bool:
    """Whether no word was looked for anywhere; beside a stream that was searched, other words may find something."""
    return not page.recall.words and any(warned.code == NOT_SEARCHED for warned in page.warnings)
