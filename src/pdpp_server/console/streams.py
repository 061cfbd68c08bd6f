"""One stream of one source: its records newest first, one talk, one month, or what stands around a record."""

from calendar import Calendar
from collections.abc import Iterable, Iterator, Mapping
from datetime import MAXYEAR, MINYEAR, date, datetime, timedelta
from functools import partial
from typing import NamedTuple

from pdpp_server.console.desks import Desks
from pdpp_server.console.page import Page
from pdpp_server.console.rows import TALK_CHARS, RecordRow, rows_of, rows_shown, shown_fields
from pdpp_server.console.sums import Sums, adds_up, sums_of
from pdpp_server.console.visit import Visit
from pdpp_server.errors import ConnectionNotFound, InvalidRequest, NotFound
from pdpp_server.evidence.handles import parse
from pdpp_server.evidence.said import say
from pdpp_server.evidence.words import local_day, month_words
from pdpp_server.model.activity import Shown, together
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import Condition, RecordsQuery
from pdpp_server.model.records import RecordPage
from pdpp_server.model.streams import AMOUNT_ROLE, DAY_ROLE, Stream
from pdpp_server.model.times import iso

LIMIT, TALK_LIMIT, MONTH_LIMIT, AROUND_LIMIT = 25, 50, 100, 11
DAY_SHOWN = 4
MIDNIGHTS = timedelta(hours=26)  # from where a day begins first on earth to where it begins last
LONGEST = timedelta(days=366)  # that something is followed: whoever looked for more would look at all that ever was
FIRST_DAY = date(MINYEAR + 1, 1, 1)
WEEKDAYS = (say("Mon"), say("Tue"), say("Wed"), say("Thu"), say("Fri"), say("Sat"), say("Sun"))


class MonthDay(NamedTuple):
    number: int  # 0 outside of the month
    rows: list[RecordRow]
    more: int


def show(desks: Desks, visit: Visit) -> Pending[Page]:
    connection, name = visit.named["connection_id"], visit.named["stream"]
    stream = declared(desks, connection, name)
    asked = visit.asked("talk", "month", "around", "field", "is", "from", "before")
    query = RecordsQuery(
        name,
        connection,
        fields=shown_fields(stream),
        conditions=tuple(_conditions(desks, stream, asked)),
        limit=_limit(asked),
        cursor=visit.query.get("cursor") or None,
        ascending=bool(asked["talk"]),
        around=parse(asked["around"]).key if asked["around"] else None,
    )
    reader = desks.reads.reader(visit.request_id)

    def listed(sums: list[Sums]) -> Pending[Page]:
        return reader.query_records(query).shaped(partial(_page, desks, connection, stream, asked, sums))

    if asked["month"] and adds_up(stream):
        return sums_of(reader, query, stream).followed(listed)
    return listed([])


def declared(desks: Desks, connection: str, name: str) -> Stream:
    """Raises `ConnectionNotFound` or `NotFound`: a page that is opened after its thing was removed says so."""
    declaration = desks.owner.declarations().get(connection)
    if declaration is None:
        raise source_gone()
    stream = declaration.streams.get(name)
    if stream is None:
        raise NotFound(say("That source has nothing of that kind."), remedy=say("Its page lists what it has."))
    return stream


def source_gone() -> ConnectionNotFound:
    return ConnectionNotFound(
        say("That source is not here, or not any more."), remedy=say("Your sources are on their page.")
    )


def time_filter(stream: Stream) -> str | None:
    """The field by which records of a span of time are found, if there is one."""
    return next((name for name in stream.time_fields if {"gte", "lt"} <= {*stream.range_filters.get(name, ())}), None)


def filter_fields(stream: Stream) -> list[str]:
    """What people narrow by: what the publisher thought worth grouping by."""
    return [name for name in stream.aggregations.group_by if stream.compares(stream.fields[name])]


def _limit(asked: Mapping[str, str]) -> int:
    if asked["around"]:
        return AROUND_LIMIT
    if asked["talk"]:
        return TALK_LIMIT
    return MONTH_LIMIT if asked["month"] else LIMIT


def _conditions(desks: Desks, stream: Stream, asked: Mapping[str, str]) -> list[Condition]:
    found: list[Condition] = []
    if asked["talk"] and stream.talk_fields:
        found.append(Condition(stream.talk_fields[0], "eq", asked["talk"]))
    if asked["field"] and asked["is"]:
        found.append(Condition(asked["field"], "eq", asked["is"]))
    return [*found, *standing_in(desks, stream, *_days(asked))]


def _days(asked: Mapping[str, str]) -> tuple[date | None, date | None]:
    """The first that was asked for, and that before which it ends."""
    return _month(asked["month"]) if asked["month"] else (day_asked(asked["from"]), day_asked(asked["before"]))


def begun_in(desks: Desks, stream: Stream, first: date | None, end: date | None) -> Iterator[Condition]:
    """What begins on some days; of a stream of whole days a little more, of which `stands_in` then leaves out the rest.

    A whole day begins at midnight where its calendar is, which may be another day by the owner's clock.
    """
    time = time_filter(stream)
    if time and first:
        yield Condition(time, "gte", instant_of(desks, stream, time, first, -_around(stream)))
    if time and end:
        yield Condition(time, "lt", instant_of(desks, stream, time, end, _around(stream)))


def standing_in(desks: Desks, stream: Stream, first: date | None, end: date | None) -> Iterator[Condition]:
    """What is on: also what began before, and goes on."""
    ends = _end_filter(stream)
    if ends and first:
        yield Condition(ends, "gte", instant_of(desks, stream, ends, first, -_around(stream)))
        first -= min(LONGEST, first - FIRST_DAY)
    yield from begun_in(desks, stream, first, end)


def _around(stream: Stream) -> timedelta:
    return MIDNIGHTS if has_whole_days(stream) else timedelta()


def _end_filter(stream: Stream) -> str | None:
    """The field by which is found what goes on, and stands on each of its days. An amount counts once."""
    end = stream.end_field
    is_found = end is not None and "gte" in stream.range_filters.get(end, ())
    return end if is_found and AMOUNT_ROLE not in stream.roles.values() else None


def is_asked_for_more(stream: Stream) -> bool:
    """Whether some of what is asked for stands on days beside, and is left out by `stands_in`."""
    return has_whole_days(stream) or _end_filter(stream) is not None


def days_of(desks: Desks, row: RecordRow) -> tuple[str, str]:
    """The first and the last."""
    first = row.day or local_day(row.at or "", desks.zone)
    return first, row.until or first


def stands_in(days: tuple[str, str], first: date | None, end: date | None) -> bool:
    began, ended = days
    return (first is None or ended >= first.isoformat()) and (end is None or began < end.isoformat())


def on_day(desks: Desks, rows: Iterable[RecordRow], day: date) -> list[RecordRow]:
    """Those that stand on it; when something began on a day before is not told as its time."""
    standing = [(days_of(desks, row), row) for row in rows]
    here = [(began, row) for (began, ended), row in standing if began <= day.isoformat() <= ended]
    return [row if began == day.isoformat() else row._replace(at=None) for began, row in here]


def has_whole_days(stream: Stream) -> bool:
    return DAY_ROLE in stream.roles.values()


def instant_of(desks: Desks, stream: Stream, field: str, day: date, later: timedelta = timedelta()) -> str:
    """Where a day begins: by the owner's clock, or as it is where the field knows days alone."""
    if stream.fields[field].type == "date":
        return day.isoformat()
    return iso(datetime(day.year, day.month, day.day, tzinfo=desks.zone) + later)


def day_asked(text: str) -> date | None:
    return day_named(text) if text else None


def day_named(text: str) -> date:
    try:
        return _within_reach(date.fromisoformat(text))
    except ValueError:
        raise InvalidRequest(say("A day is written as 2026-01-31."), param="from") from None


def _within_reach(day: date) -> date:
    """With a day before it and after it, in every zone."""
    if not MINYEAR < day.year < MAXYEAR:
        raise InvalidRequest(say("That day is too far away."), remedy=say("Choose one of a year that people count."))
    return day


def _month(text: str) -> tuple[date, date]:
    try:
        first = _within_reach(date.fromisoformat(f"{text}-01"))
        return first, next_month(first)
    except ValueError:
        raise InvalidRequest(say("A month is written as 2026-01."), param="month") from None


def next_month(first: date) -> date:
    return (first + timedelta(days=31)).replace(day=1)


def _page(
    desks: Desks, connection: str, stream: Stream, asked: dict[str, str], sums: list[Sums], page: RecordPage
) -> Page:
    rows = rows_of(page.records, stream, desks.zone, TALK_CHARS if asked["talk"] or asked["around"] else 240)
    if is_asked_for_more(stream):
        rows = [row for row in rows if stands_in(days_of(desks, row), *_days(asked))]
    here = asked["around"]
    named = {source.connection_id: source.called for source in desks.owner.sources()}
    month = _month_of(asked, rows, desks)
    values = {
        "source": named.get(connection, connection),
        "connection_id": connection,
        "stream": stream.name,
        "label": stream.label or stream.name,
        "talk_title": "".join(row.title for row in _naming(asked, rows)),
        "detail": stream.detail or stream.description,
        "asked": asked,
        "rows": [row._replace(is_here=row.handle == here) for row in rows],
        "next": page.next_cursor if not asked["around"] else None,
        "has_time": time_filter(stream) is not None,
        "fields": filter_fields(stream),
        "is_money": _has_money(rows),
        "has_sums": adds_up(stream),
        "sums": sums,
        "weeks": month,
        "weekdays": WEEKDAYS,
        "month_words": month_words(asked["month"]) if asked["month"] else "",
        "around_month": _around_month(asked["month"]) if asked["month"] else None,
        "latest_month": _latest_month(desks, rows),
    }
    return Page("stream.html", values, shown=_drawn(asked, rows, month))


def _latest_month(desks: Desks, rows: list[RecordRow]) -> str | None:
    """That of the newest, but none to come: calendars reach into years ahead."""
    this = desks.local_now().date().isoformat()[:7]
    return next((min(days_of(desks, row)[0][:7], this) for row in rows if row.at or row.day), None)


def _has_money(rows: list[RecordRow]) -> bool:
    return any(row.amount is not None for row in rows)


def _naming(asked: dict[str, str], rows: list[RecordRow]) -> list[RecordRow]:
    """The one by which a talk is called: its first, if that has a title."""
    return [row for row in rows[:1] if asked["talk"] and "title" in row.fields]


def _drawn(asked: dict[str, str], rows: list[RecordRow], month: list[list[MonthDay]]) -> Shown:
    """What the page shows of each: a month has titles alone, and not of all; a list also names talks."""
    if month:
        return rows_shown([row for week in month for day in week for row in day.rows], ("title", "at", "until"))
    if _has_money(rows):
        return rows_shown(rows, ("title", "who", "amount", "currency", "at"))
    if asked["talk"] or asked["around"]:
        untold = [row for row in rows if not row.text]
        titled = rows_shown([*_naming(asked, rows), *untold], ("title",))
        return together(titled, rows_shown(rows, ("who", "text", "at", "until")))
    return rows_shown(rows, ("title", "who", "text", "at", "until", "talk"))


def _month_of(asked: dict[str, str], rows: list[RecordRow], desks: Desks) -> list[list[MonthDay]]:
    """Weeks of days, where each row has one and none is money: money is a table with sums."""
    is_dated = all(row.day or row.at for row in rows)
    if not asked["month"] or not is_dated or _has_money(rows):
        return []
    first, _ = _month(asked["month"])
    return [
        [_month_day(desks, rows[::-1], day) if day.month == first.month else MonthDay(0, [], 0) for day in week]
        for week in Calendar().monthdatescalendar(first.year, first.month)
    ]


def _month_day(desks: Desks, rows: list[RecordRow], day: date) -> MonthDay:
    here = on_day(desks, rows, day)
    return MonthDay(day.day, here[:DAY_SHOWN], len(here[DAY_SHOWN:]))


def _around_month(month: str) -> tuple[str, str]:
    first, _ = _month(month)
    before, after = first - timedelta(days=1), next_month(first)
    return before.isoformat()[:7], after.isoformat()[:7]
