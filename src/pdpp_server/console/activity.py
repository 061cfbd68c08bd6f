"""What was disclosed, in sentences: by day and client, with what was asked and what the records are called."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from typing import NamedTuple

import orjson

from pdpp_server.console.chart import chart
from pdpp_server.console.desks import Desks
from pdpp_server.console.page import Page, SeeOther
from pdpp_server.console.sources import chosen_from
from pdpp_server.console.visit import Visit
from pdpp_server.errors import InvalidRecordId, InvalidRequest
from pdpp_server.evidence.activity import (
    is_own,
    what_left,
    what_was_done,
    what_was_done_in_all,
    when_read,
    who_read,
)
from pdpp_server.evidence.handles import parse
from pdpp_server.evidence.said import say
from pdpp_server.evidence.words import day_words, local_day, local_moment
from pdpp_server.model.activity import KEPT_DAYS_MAX, KEPT_DAYS_MIN, NOTHING, Asked, Disclosure, Shown, together
from pdpp_server.model.pending import Pending
from pdpp_server.model.records import RecordId
from pdpp_server.model.times import iso
from pdpp_server.owner.own_reader import Titled

LIMIT, OWN_LIMIT = 40, 20
TITLES_EACH, TITLES_MAX = 5, 60
NEW_DAYS = 7
KEPT = ((0, say("ever")), (1095, say("three years")), (365, say("one year")), (KEPT_DAYS_MIN, say("100 days")))

Titles = Mapping[str, Titled]


class ReadEntry(NamedTuple):
    """One read: a sentence first, then what `pdpp activity` prints, for those who want it."""

    at: str
    who: str
    did: str
    records: list[tuple[str, str]]  # handle, title
    more: int  # records that are not listed
    line: tuple[str, ...]  # when, operation, what, bytes
    request_id: str
    grant_ids: tuple[str, ...]
    query: str


class ReaderDay(NamedTuple):
    """What one client did on one day."""

    name: str
    grant_id: str | None  # where its page is
    did: str
    last: str
    is_first: bool  # it had never read before
    entries: list[ReadEntry]


class DayShown(NamedTuple):
    day: str
    words: str
    readers: list[ReaderDay]


@dataclass(frozen=True, slots=True)
class LogWords:
    """What is needed to put lines of the log into words."""

    names: Mapping[str, str]
    pages: Mapping[str, str]  # client to the grant whose page is its own
    firsts: Mapping[str, str]
    asked: Mapping[str, Asked]
    known: frozenset[str]  # grants


def show(desks: Desks, visit: Visit) -> Page | Pending[Page]:
    asked = visit.asked(*FILTERS)
    is_narrowed = any(asked.values())
    asks_for_one = asked["request"] or asked["record"]
    found = _found(desks, asked, limit=LIMIT + 1, own=None if asks_for_one else False)
    own = [] if is_narrowed else desks.owner.activity(own=True, limit=OWN_LIMIT)
    shown = found[:LIMIT]
    kept = desks.owner.activity_kept_days
    values = {
        "asked": asked,
        "is_narrowed": is_narrowed,
        "before": shown[-1].at if len(found) > LIMIT else None,
        "clients": _clients(desks),
        "sources": chosen_from(desks),
        "chart": None if is_narrowed else chart(desks),
        "keeps_words": desks.owner.keeps_asked,
        "kept_days": kept,
        "kept_choices": _kept_choices(kept),
    }
    return titled(desks, visit, [*shown, *own], partial(_page, desks, values, shown, own))


def keep(desks: Desks, visit: Visit) -> SeeOther:
    """So long from now on."""
    offered = {str(days): days for days, _ in _kept_choices(desks.owner.activity_kept_days)}
    said = visit.value("days")
    if said not in offered:
        raise InvalidRequest(say("The log is kept for one of the times that its page offers."), param="days")
    desks.owner.keep_activity(offered[said] or None)
    return SeeOther("/activity")


def _kept_choices(kept: int | None) -> list[tuple[int, str]]:
    """Those of the page, and what was said by the command."""
    others = {kept: say("{count} days", count=kept)} if kept else {}
    return sorted((others | dict(KEPT)).items(), key=lambda each: each[0] or KEPT_DAYS_MAX, reverse=True)


FILTERS = ("client", "source", "day", "grant", "record", "request", "before")


def _page(
    desks: Desks, values: Mapping[str, object], found: list[Disclosure], own: list[Disclosure], titles: Titles
) -> Page:
    said = said_of(desks, [*found, *own])
    days = days_of(desks, said, found, titles)
    own_looks = [entry(said, each, titles) for each in own]
    return Page("activity.html", {**values, "days": days, "own": own_looks}, shown=titles_shown(titles))


def titles_shown(titles: Titles) -> Shown:
    """What leaves with what records are called."""
    return together(NOTHING, *(each.shown for each in titles.values()))


def _found(desks: Desks, asked: Mapping[str, str], *, limit: int, own: bool | None) -> list[Disclosure]:
    since, until = _span(desks, asked["day"])
    earlier = [time for time in (until, asked["before"]) if time]
    return desks.owner.activity_of(
        asked["grant"] or None,
        client_id=asked["client"] or None,
        request_id=asked["request"] or None,
        record=asked["record"] or None,
        connection_id=asked["source"] or None,
        since=since,
        until=min(earlier, default=None),
        own=own,
        limit=limit,
    )


def _span(desks: Desks, day: str) -> tuple[str | None, str | None]:
    """From midnight to midnight, by the owner's clock."""
    if not day:
        return None, None
    try:
        start = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=desks.zone)
    except ValueError:
        raise InvalidRequest(say("A day is written as 2026-01-31."), param="day") from None
    return iso(start), iso(start + timedelta(days=1))


def _clients(desks: Desks) -> list[tuple[str, str]]:
    """By what each is called; of those that are called alike, since when each is known."""
    grants = [(row.grant.client_id, row.name, row.grant.issued_at) for row in desks.owner.grants()]
    names = {client: name for client, name, _ in grants}
    since = {client: issued_at for client, _, issued_at in reversed(grants)}
    called, now = Counter(names.values()), desks.local_now()
    return [
        (client, name if called[name] == 1 else _since(name, local_moment(since[client], desks.zone, now)))
        for client, name in sorted(names.items())
    ]


def _since(name: str, time: str) -> str:
    return say("{name}, since {time}", name=name, time=time)


# In words -------------------------------------------------------------------------------------------------------------


def titled(desks: Desks, visit: Visit, found: list[Disclosure], page: "partial[Page]") -> Page | Pending[Page]:
    """With what records are called, which is a look of the owner's own; without records there is nothing to look up."""
    listed = [handle for each in found for handle in each.records[:TITLES_EACH]]
    named = [*dict.fromkeys(listed)][:TITLES_MAX]
    ids = [id for handle in named if (id := _id(handle))]
    if not ids:
        return page({})
    reader = desks.reads.reader(visit.request_id)
    return reader.titles(ids).shaped(page)


def _id(handle: str) -> RecordId | None:
    try:
        return parse(handle)
    except InvalidRecordId:
        return None


def said_of(desks: Desks, found: Iterable[Disclosure]) -> LogWords:
    rows = desks.owner.grants()
    pages = {row.grant.client_id: row.standing for row in rows}
    return LogWords(
        desks.owner.reader_names(),
        {} if desks.decided_at else pages,
        desks.owner.first_reads(),
        desks.owner.asked(found),
        frozenset(row.grant.grant_id for row in rows),
    )


def days_of(desks: Desks, said: LogWords, found: Iterable[Disclosure], titles: Titles) -> list[DayShown]:
    """Newest day first, and in it whoever read last."""
    now = desks.local_now()
    by_day = groupby(found, key=lambda each: local_day(each.at, desks.zone))
    return [DayShown(day, day_words(day, now), _readers(said, [*lines], titles)) for day, lines in by_day]


def _readers(said: LogWords, lines: list[Disclosure], titles: Titles) -> list[ReaderDay]:
    """A client by its id; a reader without one, such as a tool of the owner's, by the kind of its token."""
    by_client: dict[str, list[Disclosure]] = {}
    for line in lines:
        by_client.setdefault(line.client_id or line.token_kind, []).append(line)
    return [_reader(said, client_id, group, titles) for client_id, group in by_client.items()]


def _reader(said: LogWords, client_id: str, lines: list[Disclosure], titles: Titles) -> ReaderDay:
    latest, earliest = lines[0], lines[-1]
    began = said.firsts.get(client_id) == earliest.at
    return ReaderDay(
        who_read(latest, said.names),
        said.pages.get(client_id),
        what_was_done_in_all(lines),
        latest.at,
        began and not is_own(latest.token_kind, client_id),
        [entry(said, line, titles) for line in lines],
    )


def entry(said: LogWords, line: Disclosure, titles: Titles) -> ReadEntry:
    listed = [(handle, titles[handle].title) for handle in line.records[:TITLES_EACH] if handle in titles]
    return ReadEntry(
        line.at,
        who_read(line, said.names),
        what_was_done(line, said.asked.get(line.request_id)),
        listed,
        len(line.records) - len(listed),
        (when_read(line), line.operation, what_left(line), f"{line.bytes:,} bytes"),
        line.request_id,
        tuple(grant_id for grant_id in line.grant_ids if grant_id in said.known),
        orjson.dumps(dict(line.query)).decode() if line.query else "",
    )
