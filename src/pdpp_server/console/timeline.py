"""One day over all sources: what came, what was said, what was on."""

from datetime import date, timedelta
from functools import partial
from typing import NamedTuple

from pdpp_server.console.desks import Desks
from pdpp_server.console.page import Page
from pdpp_server.console.rows import RecordRow, rows_of, rows_shown, shown_fields
from pdpp_server.console.streams import (
    begun_in,
    day_asked,
    days_of,
    has_whole_days,
    is_asked_for_more,
    on_day,
    standing_in,
    time_filter,
)
from pdpp_server.console.visit import Visit
from pdpp_server.evidence.words import day_words
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import RecordsQuery
from pdpp_server.model.records import RecordPage
from pdpp_server.model.sources import Declaration
from pdpp_server.model.streams import AMOUNT_ROLE, Stream

EACH = 8  # of one stream
ASKED = 40  # of one of which some stand on the days beside
LINE_CHARS = 160
DRAWN = ("title", "who", "text", "amount", "currency", "at", "until")


class TimelineLine(NamedTuple):
    row: RecordRow
    source: str
    label: str
    connection_id: str
    stream: str


def show(desks: Desks, visit: Visit) -> Page | Pending[Page]:
    asked, streams = day_asked(visit.query.get("day", "").strip()), _streams(desks)
    reader = desks.reads.reader(visit.request_id)

    def shown(day: date) -> Pending[Page]:
        queries = [_query(desks, connection, stream, day) for connection, _, stream in streams]
        return reader.pages(queries).shaped(partial(_page, desks, day, streams))

    if asked:
        return shown(asked)
    if not streams:
        return _page(desks, desks.local_now().date(), [], [])
    newest = [_newest_query(desks, connection, stream) for connection, _, stream in streams]
    return reader.pages(newest).followed(lambda pages: shown(_newest(desks, streams, pages)))


def _newest_query(desks: Desks, connection: str, stream: Stream) -> RecordsQuery:
    """What began last, but not after today: calendars reach into years to come."""
    until_now = begun_in(desks, stream, None, desks.local_now().date() + timedelta(days=1))
    limit = ASKED if has_whole_days(stream) else 1
    return RecordsQuery(stream.name, connection, fields=shown_fields(stream), conditions=tuple(until_now), limit=limit)


def _newest(desks: Desks, streams: list[tuple[str, str, Stream]], pages: list[RecordPage]) -> date:
    """The newest day, no later than today, on which there is anything."""
    today = desks.local_now().date().isoformat()
    found: list[str] = []
    for (_, _, stream), page in zip(streams, pages, strict=True):
        days = [days_of(desks, row) for row in rows_of(page.records, stream, desks.zone, LINE_CHARS)]
        found += [min(until, today) for began, until in days if began <= today]
    return date.fromisoformat(max(found, default=today))


def _streams(desks: Desks) -> list[tuple[str, str, Stream]]:
    """Streams whose records happen at a time: connection, the owner's name for it, stream. Of talks, what is said."""
    declared = desks.owner.declarations()
    streams: list[tuple[str, str, Stream]] = []
    for source in desks.owner.sources():
        for held in source.streams:
            if not held.records:
                continue
            declaration = declared[source.connection_id]
            stream = declaration.streams.get(held.name)
            if stream and _stands(stream, declaration):
                streams.append((source.connection_id, source.called, stream))
    return streams


def _stands(stream: Stream, declaration: Declaration) -> bool:
    """Whether its records stand on the page, and no others tell the same."""
    if not _happens(stream):
        return False
    return not _is_told_by_others(stream, declaration) and not _stands_twice(stream, declaration)


def _is_told_by_others(stream: Stream, declaration: Declaration) -> bool:
    """A thread or a chat has no words of its own: the messages that it has stand on their days already."""
    others = [declaration.streams[each.stream] for each in stream.relationships if each.cardinality == "has_many"]
    has_words = "primary-body" in stream.roles.values()
    return not has_words and any("primary-body" in each.roles.values() and _happens(each) for each in others)


def _stands_twice(stream: Stream, declaration: Declaration) -> bool:
    """An event stands on each of its days as an occurrence already, and a payment of a batch inside its booking."""
    is_money = AMOUNT_ROLE in stream.roles.values()
    shown_by = "has_one" if is_money else "has_many"
    others = [declaration.streams[each.stream] for each in stream.relationships if each.cardinality == shown_by]
    return any(_is_the_same(stream, other) for other in others if other.name != stream.name)


def _is_the_same(stream: Stream, other: Stream) -> bool:
    """What both are called and when both happen is the same of each."""
    told = ("primary-title", "event-time")
    mine, theirs = ({role: name for name, role in each.roles.items() if role in told} for each in (stream, other))
    return len(mine) == len(told) and mine == theirs


def _happens(stream: Stream) -> bool:
    return time_filter(stream) is not None and "event-time" in stream.roles.values()


def _query(desks: Desks, connection: str, stream: Stream, day: date) -> RecordsQuery:
    span = tuple(standing_in(desks, stream, day, day + timedelta(days=1)))
    limit = ASKED if is_asked_for_more(stream) else EACH
    return RecordsQuery(stream.name, connection, fields=shown_fields(stream), conditions=span, limit=limit)


def _page(desks: Desks, day: date, streams: list[tuple[str, str, Stream]], pages: list[RecordPage]) -> Page:
    lines: list[TimelineLine] = []
    more: list[tuple[str, str, str, str]] = []
    for (connection, name, stream), page in zip(streams, pages, strict=True):
        label = stream.label or stream.name
        rows = _of_day(desks, day, stream, page)
        lines += [TimelineLine(row, name, label, connection, stream.name) for row in rows[:EACH]]
        if page.is_short or len(rows) > EACH:
            more.append((connection, name, stream.name, label))
    values = {
        "day": day.isoformat(),
        "words": day_words(day.isoformat(), desks.local_now()),
        "before": (day - timedelta(days=1)).isoformat(),
        "after": (day + timedelta(days=1)).isoformat(),
        "lines": sorted(lines, key=lambda line: line.row.at or ""),
        "more": more,
        "has_sources": bool(streams) or bool(desks.owner.sources()),
    }
    return Page("timeline.html", values, shown=rows_shown([line.row for line in lines], DRAWN))


def _of_day(desks: Desks, day: date, stream: Stream, page: RecordPage) -> list[RecordRow]:
    rows = rows_of(page.records, stream, desks.zone, LINE_CHARS)
    return on_day(desks, rows, day) if is_asked_for_more(stream) else rows
