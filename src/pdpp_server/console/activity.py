"""What was disclosed, to whom, when; by grant, by record, by request, and by day."""

from collections.abc import Iterable
from datetime import timedelta
from typing import NamedTuple

from pdpp_server.console.desks import Desks
from pdpp_server.console.page import Page
from pdpp_server.console.visit import Visit
from pdpp_server.evidence.activity import reader_names, what_left, when_read, who_read
from pdpp_server.evidence.words import counted
from pdpp_server.model.activity import Disclosure

LIMIT, RECORDS_SHOWN = 100, 20
DAYS, BAR_HEIGHT = 30, 34


class Entry(NamedTuple):
    """One disclosure in words; the same as `pdpp activity` prints."""

    when: str
    who: str
    operation: str
    what: str
    request_id: str
    grant_ids: tuple[str, ...]
    records: tuple[str, ...]
    more: int  # records that are not listed


class Bar(NamedTuple):
    day: str
    says: str
    x: int
    height: int


class Chart(NamedTuple):
    bars: tuple[Bar, ...]
    first: str
    last: str
    says: str


def show(desks: Desks, visit: Visit) -> Page:
    asked = {name: visit.query.get(name, "").strip() for name in ("grant", "record", "request")}
    found = desks.owner.activity_of(
        asked["grant"] or None, request_id=asked["request"] or None, record=asked["record"] or None, limit=LIMIT
    )
    return Page(
        "activity.html",
        {
            "asked": asked,
            "entries": entries(desks, found),
            "is_cut": len(found) == LIMIT,
            "limit": LIMIT,
            "chart": chart(desks, asked["grant"] or None) if not (asked["record"] or asked["request"]) else None,
        },
    )


def entries(desks: Desks, found: Iterable[Disclosure]) -> list[Entry]:
    grants = [row.grant for row in desks.owner.grants()]
    names, known = reader_names(grants), {grant.grant_id for grant in grants}
    return [
        Entry(
            when_read(disclosure),
            who_read(disclosure, names),
            disclosure.operation,
            what_left(disclosure),
            disclosure.request_id,
            tuple(grant_id for grant_id in disclosure.grant_ids if grant_id in known),
            disclosure.records[:RECORDS_SHOWN],
            len(disclosure.records[RECORDS_SHOWN:]),
        )
        for disclosure in found
    ]


def chart(desks: Desks, grant_id: str | None = None) -> Chart:
    """Reads on each of the last days."""
    today = desks.now().date()
    known = {day.day: day for day in desks.owner.activity_days(grant_id)}
    days = [(today - timedelta(days=back)).isoformat() for back in range(DAYS - 1, -1, -1)]
    most = max((known[day].disclosures for day in days if day in known), default=0)
    bars: list[Bar] = []
    reads = records = 0
    for place, day in enumerate(days):
        if day in known:
            here = known[day]
            reads, records = reads + here.disclosures, records + here.records
            says = f"{day}: {counted(here.disclosures, 'read')}, {counted(here.records, 'record')}"
            bars.append(Bar(day, says, place, max(2, round(BAR_HEIGHT * here.disclosures / most))))
    return Chart(tuple(bars), days[0], days[-1], f"{counted(reads, 'read')}, {counted(records, 'record')}")
