"""What was read in the last weeks, by day and client: bars that are drawn, and the same numbers as a table."""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import NamedTuple

from pdpp_server.console.desks import Desks
from pdpp_server.evidence.activity import OWN_NAMES
from pdpp_server.evidence.said import say
from pdpp_server.evidence.words import day_words
from pdpp_server.model.activity import ClientDay
from pdpp_server.model.times import iso

DAYS, HEIGHT = 28, 60
COLOURS = 5  # clients with a colour of their own; further ones share the last


class Bar(NamedTuple):
    """A client's part of a day, in units of the drawing."""

    x: int
    y: float
    height: float
    colour: int
    says: str


class ChartRow(NamedTuple):
    day: str
    name: str
    reads: int
    records: int


class Chart(NamedTuple):
    bars: list[Bar]
    rows: list[ChartRow]
    names: list[tuple[int, str]]  # colour, client
    first: str
    last: str
    says: str


def chart(desks: Desks, clients: frozenset[str] | None = None) -> Chart | None:
    """Of all clients, or of those; None where none of them read. What the owner looks at is not drawn."""
    now = desks.local_now()
    days = [(now.date() - timedelta(days=back)).isoformat() for back in range(DAYS - 1, -1, -1)]
    by_client = desks.owner.activity_by_client(iso(now - timedelta(days=DAYS)), desks.zone)
    read = [each for each in by_client if _is_drawn(each, clients) and each.day in days]
    if not read:
        return None
    names = desks.owner.reader_names()
    totals = Counter[str]()
    for each in read:
        totals[each.client_id] += each.disclosures
    order = sorted(totals, key=lambda client: (-totals[client], client))
    colours = {client: min(place, COLOURS - 1) for place, client in enumerate(order)}
    rows: list[ChartRow] = []
    for each in read:
        name = names.get(each.client_id, each.client_id)
        rows.append(ChartRow(each.day, name, each.disclosures, each.records))
    reads = sum(row.reads for row in rows)
    records = sum(row.records for row in rows)
    return Chart(
        _bars(days, read, rows, colours),
        rows,
        [(colours[client], names.get(client, client)) for client in order],
        day_words(days[0], now),
        day_words(days[-1], now),
        _numbers(reads, records),
    )


def _numbers(reads: int, records: int) -> str:
    times = say("1 read") if reads == 1 else say("{reads} reads", reads=reads)
    amount = say("1 record") if records == 1 else say("{records} records", records=records)
    return say("{times}, {amount}", times=times, amount=amount)


def _is_drawn(read: ClientDay, clients: frozenset[str] | None) -> bool:
    return read.client_id not in OWN_NAMES and (clients is None or read.client_id in clients)


def _bars(days: list[str], read: list[ClientDay], rows: Iterable[ChartRow], colours: dict[str, int]) -> list[Bar]:
    """Stacked: what a day already has is below."""
    said = {(each.day, each.client_id): row for each, row in zip(read, rows, strict=True)}
    tops = Counter[str]()
    for each in read:
        tops[each.day] += each.disclosures
    most = max(tops.values())
    bars: list[Bar] = []
    heights = dict.fromkeys(tops, 0.0)
    for each in sorted(read, key=lambda each: colours[each.client_id]):
        height = max(2.0, round(HEIGHT * each.disclosures / most, 1))
        heights[each.day] += height
        row = said[each.day, each.client_id]
        numbers = _numbers(row.reads, row.records)
        says = say("{day}: {name}, {numbers}", day=each.day, name=row.name, numbers=numbers)
        top = round(HEIGHT - heights[each.day], 1)
        bars.append(Bar(days.index(each.day), top, height, colours[each.client_id], says))
    return bars
