"""A page of records, one line for each; and the same page clipped to the room that there is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any, NamedTuple

from pdpp_server.evidence.budget import affordable, first_that_fits, that_fit
from pdpp_server.evidence.budgets import (
    LONG_HANDLE_BYTES,
    QUERY_ASKED_BYTES,
    QUERY_BYTES,
    QUERY_CURSOR_BYTES,
    QUERY_FAIR_BYTES,
    QUERY_LEAST_BYTES,
    QUERY_LONG_CALL_BYTES,
    QUERY_LONG_MARK_BYTES,
    QUERY_NAME_CHARS,
    QUERY_REMARK_BYTES,
    QUERY_SHARED_BYTES,
    QUERY_SHARED_MOST,
)
from pdpp_server.evidence.calls import (
    AskedArguments,
    NextCall,
    changes_from,
    fetch_of,
    read_whole,
    records_around,
    records_from,
    schema_of,
    words_of,
)
from pdpp_server.evidence.fitted import Fitted
from pdpp_server.evidence.handles import mint
from pdpp_server.evidence.record_lines import EntryLine, entry_line, least_line_bytes, said_line, whole_lines
from pdpp_server.evidence.remarks import FILTER_PARTS, filtered_out, warning_lines
from pdpp_server.evidence.shown import Entry, shown_of
from pdpp_server.evidence.text import byte_len, compact_json, handle_text, name_text, number_of
from pdpp_server.evidence.titles import ACTOR_ROLE, BODY_ROLE, TIME_ROLE
from pdpp_server.model.activity import NOTHING, Shown, together
from pdpp_server.model.queries import Condition, RecordsQuery
from pdpp_server.model.records import Around, Record, RecordPage, Tombstone
from pdpp_server.model.times import instant

_SAID = (BODY_ROLE, ACTOR_ROLE, TIME_ROLE)
_ABSENT = object()
_PLAIN = frozenset({str, int, float, bool, type(None)})
_SEVERAL = 3  # records of a page of which it is worth saying once what they share
_PART_BYTES = len(", the first 100 of them here, next_cursor goes on after all 100")


class RecordsText(NamedTuple):
    text: str
    shown: int  # entries of the page for which there was room
    told: Shown = NOTHING


def records_text(page: RecordPage, query: RecordsQuery, asked: AskedArguments) -> RecordsText:
    """The cursor stands on the first line, so that a clipped text still goes on.

    Every record is sure of a few fields before any gets more. Where there is no room for the whole page, the call that
    goes on after the last record shown has a cursor of its own.
    """
    if not page.records:
        return RecordsText(_nothing_text(page, query, asked), 0)
    return _around_text(page, query, asked) if page.around else _page_text(page, query, asked)


def _around_text(page: RecordPage, query: RecordsQuery, asked: AskedArguments) -> RecordsText:
    """Where there is no room for all, those nearest to the record, and the cursors that go on from them."""
    made = _page_text(page, query, asked)
    while made.shown < len(page.records):
        page = page.nearest(made.shown)
        made = _page_text(page, query, asked)
    assert page.around is not None
    named = [page.around.id] if _is_short(mint(page.around.id)) else []
    return made._replace(told=together(made.told, shown_of(named)))


def _page_text(page: RecordPage, query: RecordsQuery, asked: AskedArguments) -> RecordsText:
    page, shared = _said_once(page)
    handles = [mint(entry.id) for entry in page.records]
    named = [*zip(page.records, handles, strict=True)]
    ahead = _ahead(page, asked)
    opening_bytes = _opening_bytes(page.records, handles)
    head = _head_text(page, query, len(handles), shared)
    room = QUERY_BYTES - byte_len(head) - opening_bytes - _lines_bytes(ahead)
    if not (page.around or page.warnings):
        whole = whole_lines(named, room)
        if whole is not None:
            parts = (head, *[line.text for line in whole], *ahead)
            return _made(page, parts, whole, opening_bytes, shared)
    least = [least_line_bytes(entry, handle, QUERY_LEAST_BYTES) for entry, handle in named]
    for_rest = 0
    if len(handles) > 1 and not page.around:
        for_rest = _PART_BYTES + _rest_bytes(asked)
    said = affordable(warning_lines(page.warnings), room - for_rest - least[0])
    remarks = [line for line in said if line]
    room -= _lines_bytes(remarks)
    sizes, spare = that_fit(least, room, for_rest)
    if len(sizes) < len(handles):  # if some must go, then the others are worth reading
        most = QUERY_ASKED_BYTES if query.fields else QUERY_FAIR_BYTES
        fair = (least_line_bytes(entry, handle, most, query.fields or ()) for entry, handle in named)
        sizes, spare = that_fit(fair, room, for_rest)
    shown = len(sizes)
    if shown < len(handles):
        spare += for_rest - _PART_BYTES
        rest = _rest_text(page, asked, shown, spare - 1)
        ahead = [rest, *ahead]
        spare -= _lines_bytes([rest])
        head = _head_text(page, query, shown, shared)
    lines: list[EntryLine] = []
    line_of = said_line if page.around else entry_line
    for (entry, handle), size in zip(named, sizes, strict=False):
        share = spare // (shown - len(lines))
        line = line_of(entry, handle, size - 1 + share, query.fields or ())
        lines.append(line)
        spare -= byte_len(line.text) + 1 - size
    parts = (head, *[line.text for line in lines], *remarks, *ahead)
    return _made(page, parts, lines, opening_bytes + max(0, spare), shared)


def _made(
    page: RecordPage, parts: Sequence[str], lines: Sequence[EntryLine], room: int, shared: Mapping[str, Any]
) -> RecordsText:
    """The text of these parts and of the next step, for which there is so much room."""
    opening = _opening_text(page, lines, room)
    told = together(_told(page.records, lines), shown_of((), shared))
    return RecordsText("\n".join(part for part in (*parts, opening) if part), len(lines), told)


def _said_once(page: RecordPage) -> tuple[RecordPage, Mapping[str, Any]]:
    """The page without what handles tell and without what all its records share, and that; where it has several."""
    records = [entry for entry in page.records if isinstance(entry, Record)]
    several = 2 if page.around else _SEVERAL
    if len(records) < max(several, len(page.records)):
        return page, {}
    shared = dict(islice(_shared(records), QUERY_SHARED_MOST))

    def left_of(record: Record) -> Record:
        key = record.id.key
        kept = {name: value for name, value in record.data.items() if name not in shared and value != key}
        return record._replace(data=kept)

    return replace(page, records=tuple(map(left_of, records))), shared


def _shared(records: Sequence[Record]) -> Iterator[tuple[str, Any]]:
    """Short values that are the same in all; who said something stands beside it nevertheless."""
    first, *others = (record.data for record in records)
    roles = records[0].roles or {}
    for name, value in first.items():
        if roles.get(name) in _SAID or any(data.get(name, _ABSENT) != value for data in others):
            continue
        is_plain = type(value) in _PLAIN and all(type(data[name]) is type(value) for data in others)  # true is no 1
        if is_plain and byte_len(compact_json(value)) <= QUERY_SHARED_BYTES:
            yield name, value


def _told(entries: Sequence[Entry], lines: Sequence[EntryLine]) -> Shown:
    ids = [entry.id for entry in entries[: len(lines)]]
    fields: list[str] = []
    for line in lines:
        ids += [other.id for other in line.related]
        fields += line.fields
    return shown_of(ids, fields)


def records_next(fitted: Fitted, query: RecordsQuery, asked: AskedArguments) -> tuple[NextCall, ...]:
    """Read what was clipped or left out, then turn the page, or keep the bookmark; where neither is left to do, open
    the first record."""
    page = fitted.page
    ahead = tuple(_onward(page, asked))
    if not page.records:
        schema = schema_of(asked["stream"], asked.get("connection_id"))
        words = words_of(query.stream, query.connection_id, _unmet(page, query))
        if words is None or query.cursor:
            return (*ahead, schema)
        return (*ahead, words, schema)
    for handle, fields in fitted.clipped.items():
        return (read_whole(handle, next(iter(fields))), *ahead)
    for handle in fitted.omitted:
        return (fetch_of(handle), *ahead)
    if ahead:
        return ahead[-1:]  # around a record later; `meta.around` has the cursor of the other way
    for entry in page.records:
        if isinstance(entry, Record):
            return (fetch_of(mint(entry.id)),)
    return ()


def _onward(page: RecordPage, asked: AskedArguments) -> Iterator[NextCall]:
    if around := page.around:
        cursors = (around.earlier_cursor, around.later_cursor)
        yield from (records_around(asked, mint(around.id), cursor) for cursor in cursors if cursor)
    elif page.next_cursor:
        yield records_from(asked, page.next_cursor)
    elif page.is_short:  # the schema names the connections that can be asked one by one
        yield schema_of(asked["stream"])
    elif page.next_changes_since:
        yield changes_from(asked, page.next_changes_since)


def _lines_bytes(lines: Sequence[str]) -> int:
    return sum(map(byte_len, lines)) + len(lines)


# The first line -----------------------------------------------------------------------------------------------------


def _is_short(handle: str) -> bool:
    """Whether a handle may be said beside its own line."""
    return byte_len(handle) <= LONG_HANDLE_BYTES


def _around_head_text(page: RecordPage, around: Around, query: RecordsQuery, shared: Mapping[str, Any]) -> str:
    here, handle = len(page.records), mint(around.id)
    named = handle_text(handle) if _is_short(handle) else "that record"
    counted = number_of(here, "record") if page.count is None else f"{here} of {page.count} records"
    where = f"further on from {named}" if query.cursor else f"around {named}"
    ends = "" if query.cursor else _ends_text(around)
    said = f"{name_text(query.stream)}: {counted} {where}, oldest first{ends}{_alike_text(shared)}."
    if around.earlier_cursor:
        said += f" earlier_cursor={name_text(around.earlier_cursor)}"
    if around.later_cursor:
        said += f" later_cursor={name_text(around.later_cursor)}"
    return said


def _ends_text(around: Around) -> str:
    if around.earlier_cursor is None and around.later_cursor is None:
        return ", none before or after them"
    if around.earlier_cursor is None:
        return ", none before them"
    return ", none after them" if around.later_cursor is None else ""


def _head_text(page: RecordPage, query: RecordsQuery, shown: int, shared: Mapping[str, Any]) -> str:
    if page.around:
        return _around_head_text(page, page.around, query, shared)
    here = len(page.records)
    turned = "the next " if query.cursor else ""
    counted = f"{turned}{_counted_text(page, query)}"
    part, after = "", ""
    if shown < here:
        part = f", the first {shown} of them here"
        after = f", next_cursor goes on after all {here}" if page.next_cursor else ""
    order = _order_text(page, query)
    stream = name_text(query.stream)
    return f"{stream}: {counted}{part}, {order}{_alike_text(shared)}{after}.{_mark_text(page)}"


def _alike_text(shared: Mapping[str, Any]) -> str:
    return f", all with {compact_json(shared)}" if shared else ""


def _counted_text(page: RecordPage, query: RecordsQuery) -> str:
    noun = "change" if _is_feed(page, query) else "record"
    here = len(page.records)
    if page.count is not None:
        return f"{here} of {number_of(page.count, noun)} (exact)"
    return f"{number_of(here, noun)}{_more_text(page, query)}"


def _more_text(page: RecordPage, query: RecordsQuery) -> str:
    if page.has_more is None:
        return ", whether all of them is not said"
    if page.has_more:
        return " and more"
    return ", the last" if query.cursor else " in all"


def _order_text(page: RecordPage, query: RecordsQuery) -> str:
    """What is known of the order: what was asked for, or what the times of the records prove."""
    if _is_feed(page, query):
        return "in the order of their last change"
    if query.sort:
        return f"by {name_text(query.sort)}, {'ascending' if query.ascending else 'descending'}"
    times = [instant(entry.authored_at) for entry in page.records if isinstance(entry, Record)]
    known = [time for time in times if time is not None]
    is_falling = len(known) == len(page.records) and all(later >= earlier for later, earlier in pairwise(known))
    return "newest first" if is_falling else "in the order of the stream"


def _is_feed(page: RecordPage, query: RecordsQuery) -> bool:
    gone = Tombstone in map(type, page.records)
    return gone or query.changes_since is not None or page.next_changes_since is not None


def _mark_text(page: RecordPage) -> str:
    """The cursor, or at the end of a feed its bookmark."""
    if page.next_cursor:
        return _named_mark("next_cursor", page.next_cursor, "narrow with filter")
    if page.next_changes_since:
        instead = "later, changes_since beginning tells all again"
        return _named_mark("next_changes_since", page.next_changes_since, instead)
    return ""


def _named_mark(name: str, mark: str, instead: str) -> str:
    if byte_len(mark) > QUERY_LONG_MARK_BYTES:
        return f" {name} is too long for this text: {instead}"
    return f" {name}={name_text(mark)}"


# What follows the records: calls that can be copied whole, or words for those that are too long ----------------------

_MORE = "more: the same call with cursor = next_cursor"
_NOT_BOTH = " instead of changes_since"  # a feed goes on by its cursor alone
_AROUND = "more: the same call with cursor = "
_LATER = "next time: query_records with changes_since = next_changes_since"
_NO_CURSOR = "more: no cursor leads to them; repeat with connection_id, a narrower filter or a larger limit"


def _ahead(page: RecordPage, asked: AskedArguments) -> list[str]:
    """How to go on after the page."""
    if page.around:
        return _around_words(page.around)
    if byte_len(page.next_cursor or page.next_changes_since or "") > QUERY_LONG_MARK_BYTES:
        return []
    if page.next_cursor:
        return [_more_words(asked)]
    if page.is_short:
        return [_NO_CURSOR]
    return [_call_text(f"next time: {call.text} gives what changed since now", _LATER) for call in _onward(page, asked)]


def _around_words(around: Around) -> list[str]:
    named: list[str] = []
    if around.earlier_cursor is not None:
        named.append("earlier_cursor")
    if around.later_cursor is not None:
        named.append("later_cursor")
    return [f"{_AROUND}{' or '.join(named)}"] if named else []


def _more_words(asked: AskedArguments) -> str:
    return f"{_MORE}{_NOT_BOTH}" if "changes_since" in asked else _MORE


def _call_text(call: str, words: str) -> str:
    return call if byte_len(call) <= QUERY_LONG_CALL_BYTES else words


def _rest_bytes(asked: AskedArguments) -> int:
    """What it takes to say how the records that are left out are reached; a cursor is as long as its record's key."""
    return byte_len(_rest_ways(asked, "c" * QUERY_CURSOR_BYTES)[0]) + 1


def _rest_text(page: RecordPage, asked: AskedArguments, shown: int, limit: int) -> str:
    cursor = page.cursor_after(shown - 1)
    ways = _rest_ways(asked, cursor) if cursor else []
    again = f"rest: the same call with {compact_json({'limit': shown})}, then on from its cursor"
    return first_that_fits((*ways, again), limit)


def _rest_ways(asked: AskedArguments, cursor: str) -> list[str]:
    instead = _NOT_BOTH if "changes_since" in asked else ""
    words = f"rest: the same call with {compact_json({'cursor': cursor})}{instead}"
    return [_call_text(f"rest: {records_from(asked, cursor).text}", words), words]


_CUTS = ' ("…"+n: n characters more)'
_SHORT_READ = f"next: read_record_field with id and field_path of what is clipped{_CUTS}"
_SHORT_FETCH = "next: fetch with an id as shown"


def _opening_bytes(entries: Sequence[Entry], handles: Sequence[str]) -> int:
    """What the next step may take whatever was clipped: a call of a handle and a name, or words instead."""
    names = set[str]().union(*[one.data for one in entries if isinstance(one, Record)])
    longest_name = max(map(byte_len, names), default=0)
    sizes = [size for size in map(byte_len, handles) if size <= LONG_HANDLE_BYTES]
    words = byte_len(_SHORT_READ)
    if not sizes:
        return 1 + words
    call = len('next: read_record_field {"id":"","field_path":""}') + max(sizes) + min(longest_name, QUERY_NAME_CHARS)
    return 1 + max(call + byte_len(_CUTS), words)


def _opening_text(page: RecordPage, lines: Sequence[EntryLine], limit: int) -> str:
    """Open what the first cut left out; where nothing was cut, the first record, but none of a page that goes on."""
    openings = [line.opening for line in lines if line.opening]
    live = [entry for entry in page.records[: len(lines)] if isinstance(entry, Record)]
    if not live or (not openings and (len(lines) < len(page.records) or _goes_on(page))):
        return ""
    reads = [call for call in openings if call.tool == "read_record_field"]
    call = (reads or openings or [fetch_of(mint(live[0].id))])[0]
    whole = f"next: {call.text}"
    if reads:
        return first_that_fits(
            (f"{whole} reads on in what is clipped{_CUTS}", f"{whole}{_CUTS}", _SHORT_READ), limit - 1
        )
    ways = [f"{whole} shows all fields of a record (+n: so many are not shown here)"] if openings else []
    return first_that_fits((*ways, whole, _SHORT_FETCH), limit - 1)


def _goes_on(page: RecordPage) -> bool:
    if page.around:
        return page.around.goes_on
    return bool(page.next_cursor or page.next_changes_since or page.is_short)


def _nothing_text(page: RecordPage, query: RecordsQuery, asked: AskedArguments) -> str:
    stream = name_text(query.stream)
    said = [line for line in warning_lines(page.warnings) if byte_len(line) < QUERY_REMARK_BYTES][:3]
    calls = _ahead(page, asked)
    if query.changes_since:
        return "\n".join((f"{stream}: nothing changed.{_mark_text(page)}", *said, *calls))
    head = f"{stream}: 0 records{_why_text(page, query)}.{_mark_text(page)}"
    if query.conditions and not query.cursor:
        step = filtered_out(query.stream, query.connection_id, _unmet(page, query))
    else:
        step = f"next: {schema_of(query.stream).text} for what it holds; search"
    return "\n".join((head, *said, *calls, step))


def _unmet(page: RecordPage, query: RecordsQuery) -> Sequence[Condition]:
    """The conditions that no record passes; where each is passed by some, none is met by another value."""
    passing = next((warned.detail for warned in page.warnings if warned.code == FILTER_PARTS), None)
    return [each for each in query.conditions if not passing or not passing.get(each.field)]


def _why_text(page: RecordPage, query: RecordsQuery) -> str:
    if page.has_more is not False:
        return _more_text(page, query)
    if query.cursor:
        return ", nothing after this cursor"
    return ", no record passes the filter" if query.conditions else ", no record here that the grant shows"
