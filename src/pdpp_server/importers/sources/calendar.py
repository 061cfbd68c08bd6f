"""Calendars (.ics): what is planned, and every time it takes place."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

from pdpp_server.importers.formats.calendar_events import (
    CalendarEvent,
    event_data,
    occurrence_data,
    read_event,
    value_of,
)
from pdpp_server.importers.formats.calendar_times import Clock, When, day_of
from pdpp_server.importers.formats.content_lines import Component, ContentLine, components, unescaped
from pdpp_server.importers.formats.recurrence import OCCURRENCES_MAX, UnreadableRule, repeated
from pdpp_server.importers.formats.zones import named_zone, own_zones, zone_name
from pdpp_server.importers.identity import account_name, digest, record_key
from pdpp_server.importers.source import Account, DamagedFile, File, Files, Head, Importer, Known, Outcome, Still
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.model.runs import AsOf, Coverage, Covered, Sieve
from pdpp_server.model.times import instant

AHEAD = timedelta(days=366)  # how far repeating events are laid out beyond today
DATES_MAX = 10_000  # that one event may except or add
HEAD_BYTES = 4096
DERIVED = {"occurrences": "events"}

_KINDS = frozenset({"VEVENT", "VTIMEZONE", "VTODO", "VJOURNAL"})
_NOTED = frozenset({"DTSTAMP", "LAST-MODIFIED", "CREATED"})
_UTC = re.compile(r"[0-9]{8}T[0-9]{6}Z")
_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*BEGIN:(?:VCALENDAR|VEVENT)\s*\n", re.IGNORECASE)


# Recognise --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Scan:
    """What one look at a whole file tells."""

    names: set[str] = field(default_factory=set[str])  # of the calendars in it
    name: str | None = None  # of the first
    zone_name: str | None = None
    described: list[Component] = field(default_factory=list[Component])
    zones: Mapping[str, tzinfo] = field(default_factory=dict[str, tzinfo])  # by these descriptions
    events: int = 0
    is_repeating: bool = False
    uids: Counter[str] = field(default_factory=Counter[str])
    newest: str = ""  # day on which something was noted down, as it is written
    newest_start: str = ""
    stamps: set[str] = field(default_factory=set[str])  # the oldest and the newest moment of such a note
    is_ended: bool = False  # the calendar is there to its last line
    other_kinds: int = 0
    has_floating: bool = False
    unknown_zones: set[str] = field(default_factory=set[str])


class FoundCalendars(NamedTuple):
    clocks: Mapping[str, Clock]  # by file
    repeated_uids: frozenset[str]  # of events that stand there more than once
    horizon: datetime
    is_whole: bool
    as_of: AsOf | None


def knows(head: Head) -> bool:
    return _BEGINS.match(head.first(HEAD_BYTES)) is not None


def accounts(files: Files, known: Known) -> Iterable[Account]:
    """One account for each calendar: they are shared with different people, so they are consented to one by one."""
    scans = {file: _scan(file) for file in known}
    named: dict[str, list[File]] = {}
    for file, scan in scans.items():
        named.setdefault(scan.name or account_name(file.name), []).append(file)
    for name, found in named.items():
        yield _account(name, {file: scans[file] for file in found}, files.zone, files.now)


def _account(name: str, scans: Mapping[File, Scan], zone: tzinfo, now: datetime | None) -> Account:
    clocks: dict[str, Clock] = {}
    uids: Counter[str] = Counter()
    for file, scan in scans.items():
        own = named_zone(scan.zone_name) if scan.zone_name else None
        clocks[file.name] = Clock(scan.zones, own or zone)
        uids += scan.uids
    scanned = scans.values()
    newest = max(scan.newest for scan in scanned) or max(scan.newest_start for scan in scanned)
    horizon = _horizon(newest) if now is None else _end_of_month(now.astimezone(zone) + AHEAD)
    repeated_uids = frozenset(uid for uid, count in uids.items() if count > 1)
    notes = tuple(_notes(scans, clocks, zone, horizon))
    is_repeating = any(scan.is_repeating for scan in scanned)
    is_whole = all(scan.is_ended for scan in scanned)
    return Account(
        name,
        tuple(scans),
        zone,
        notes,
        FoundCalendars(clocks, repeated_uids, horizon, is_whole, _as_of(scanned, now)),
        depends_on=f"{horizon:%Y-%m-%d}" if is_repeating else "",
        collection=_collection(name, scans),
        derived=DERIVED,
    )


def _collection(name: str, scans: Mapping[File, Scan]) -> str:
    """Its own name; of several calendars in one account another one, as a newer export may hold some of them only."""
    held: list[str] = []
    for file, scan in scans.items():
        held += sorted(scan.names) or [account_name(file.name)]
    return name if len(held) == 1 else f"{name} {digest(*held)}"


def _as_of(scans: Iterable[Scan], now: datetime | None) -> AsOf | None:
    """The newest moment at which anything was noted down; one that is yet to come says nothing."""
    latest = f"{now.astimezone(UTC) + timedelta(days=1):%Y%m%dT%H%M%SZ}" if now else "9"
    stamps = {stamp for scan in scans for stamp in scan.stamps if stamp <= latest}
    return AsOf(max(stamps), is_varied=len(stamps) > 1) if stamps else None


def _end_of_month(day: datetime) -> datetime:
    """So that the same file is laid out further in another month, and is not read anew each day."""
    next_month = day.replace(day=28) + timedelta(days=4)
    return datetime(next_month.year, next_month.month, 1) - timedelta(seconds=1)  # noqa: DTZ001  a time on the wall


def _horizon(newest: str) -> datetime:
    day = datetime.strptime(newest or "19700101", "%Y%m%d")  # noqa: DTZ007  a day on the wall
    return day + AHEAD


def _notes(scans: Mapping[File, Scan], clocks: Mapping[str, Clock], zone: tzinfo, horizon: datetime) -> Iterator[str]:
    if any(scan.events for scan in scans.values()):
        yield f"Repeating events are laid out until {horizon:%Y-%m-%d}, at most {OCCURRENCES_MAX} times each."
    else:
        yield "It holds no events."
    floating = {str(clocks[file.name].floating) for file, scan in scans.items() if scan.has_floating}
    if floating:
        yield f"Dates and times without a zone are read as {', '.join(sorted(floating))}."
    unknown = {name for scan in scans.values() for name in scan.unknown_zones}
    if unknown:
        shown = ", ".join(repr(name[:60]) for name in sorted(unknown)[:5])
        yield f"Zones that nobody knows are read as {zone}: {shown}."
    others = sum(scan.other_kinds for scan in scans.values())
    if others:
        yield f"Only events are imported; to-dos and journal entries left out: {others}."


def _scan(file: File) -> Scan:
    scan = Scan()
    try:
        with file.open() as stream:
            for item in components(stream, _KINDS):
                scan.is_ended = _is_end(item)
                _note(item, scan)
    except DamagedFile:
        pass  # reading it will tell
    scan.zones = own_zones(scan.described)
    scan.unknown_zones -= scan.zones.keys()
    return scan


def _is_end(item: Component | ContentLine) -> bool:
    return isinstance(item, ContentLine) and item.name == "END" and item.value.strip() == "VCALENDAR"


def _note(item: Component | ContentLine, scan: Scan) -> None:
    match item:
        case ContentLine(name="X-WR-CALNAME" | "NAME") if item.value.strip():
            name = unescaped(item.value).strip()[:200]
            scan.names.add(name)
            scan.name = scan.name or name
        case ContentLine(name="X-WR-TIMEZONE"):
            scan.zone_name = item.value.strip()
        case Component(name="VTIMEZONE"):
            scan.described.append(item)
        case Component(name="VEVENT"):
            _note_event(item, scan)
        case Component():
            scan.other_kinds += 1
        case _:
            pass


def _note_event(event: Component, scan: Scan) -> None:
    scan.events += 1
    scan.is_repeating |= event.first("RRULE") is not None
    uid = value_of(event, "UID")
    if uid:
        scan.uids[uid] += 1
    start = event.first("DTSTART")
    if start:
        _note_start(start, scan)
    days = [day_of(event.first(name)) for name in _NOTED]
    scan.newest = max(scan.newest, *days)
    noted = [line.value.strip() for line in event.lines if line.name in _NOTED]
    stamps = scan.stamps.union(filter(_UTC.fullmatch, noted))
    if stamps:
        scan.stamps = {min(stamps), max(stamps)}


def _note_start(start: ContentLine, scan: Scan) -> None:
    scan.newest_start = max(scan.newest_start, day_of(start))
    zone = zone_name(start)
    if not zone:
        scan.has_floating |= not start.value.strip().upper().endswith("Z")
    elif named_zone(zone) is None:
        scan.unknown_zones.add(zone)


# Read -------------------------------------------------------------------------------------------------------------


def read(account: Account) -> Iterator[Outcome]:
    """All events, and what they cover."""
    found: FoundCalendars = account.found
    within: tuple[int, int] | None = None
    for outcome in _read(account.files, found):
        yield outcome
        if isinstance(outcome, Incoming) and (at := _single_time(outcome)) is not None:
            within = (min(at, within[0]), max(at, within[1])) if within else (at, at)
    if found.is_whole:
        events = Coverage(sieve=Sieve(within))  # a part by days is written as a whole one is
        yield Covered({"events": events, "occurrences": Coverage(follows=DERIVED["occurrences"])}, found.as_of)


def _single_time(event: Incoming) -> int | None:
    """When something is that does not repeat: a series may have begun long before the days that were exported."""
    data = event.data or {}
    is_one = event.stream == "events" and not data.get("is_recurring") and "series_id" not in data
    return instant(data.get("start")) if is_one else None


def _read(files: Iterable[File], found: FoundCalendars) -> Iterator[Outcome]:
    """Events that stand there once as they come; series whose single times were changed when all of them are read."""
    series: dict[str, list[CalendarEvent]] = {}
    for file in files:
        clock = found.clocks[file.name]
        for outcome in _events(file, clock):
            if isinstance(outcome, Rejection):
                yield outcome
            elif outcome.uid in found.repeated_uids:
                series.setdefault(outcome.uid, []).append(outcome)
            else:
                yield from _outcomes([outcome], found.horizon)
    for events in series.values():
        yield from _outcomes(events, found.horizon)


def _events(file: File, clock: Clock) -> Iterator[CalendarEvent | Rejection]:
    try:
        with file.open() as stream:
            for component in components(stream, _KINDS):
                if isinstance(component, Component) and component.name == "VEVENT":
                    for line in component.broken:
                        yield Rejection(f"{file.name}:{line.number}", "invalid_record", line.reason)
                    yield read_event(component, f"{file.name}:{component.number}", clock)
    except DamagedFile as damaged:
        yield Rejection(file.name, "invalid_record", str(damaged))


def _outcomes(events: list[CalendarEvent], horizon: datetime) -> Iterator[Outcome]:
    """The records of all events of one UID."""
    newest: dict[str, CalendarEvent] = {}
    for event in _in_terms_of_series(events):
        known = newest.setdefault(event.key, event)
        if known is event:
            continue
        older = event if event.edition < known.edition else known
        newest[event.key] = known if older is event else event
        if older.said != newest[event.key].said:
            yield Rejection(older.place, "invalid_record", "another event of this UID is in the file, and is newer")
    changed = {event.instead_of.stamp: event for event in newest.values() if event.instead_of}
    for event in newest.values():
        yield Incoming(event.place, "events", event.key, event_data(event), None)
        if event.instead_of:
            yield _occurrence(event, event.start, event.instead_of.stamp)
        else:
            yield from _occurrences(event, changed, horizon)


def _in_terms_of_series(events: list[CalendarEvent]) -> list[CalendarEvent]:
    """Outlook names a day of a series of days by a time at night: it replaces that day."""
    series = max((event for event in events if not event.instead_of), key=lambda event: event.edition, default=None)
    if series is None:
        return events
    return [
        replace(event, instead_of=series.start.at(_wall(event.instead_of, series.start)) or event.instead_of)
        if event.instead_of and event.instead_of.is_date != series.start.is_date
        else event
        for event in events
    ]


def _occurrences(event: CalendarEvent, changed: Mapping[str, CalendarEvent], horizon: datetime) -> Iterator[Outcome]:
    try:
        walls = _walls(event, horizon)
    except UnreadableRule:
        reason = "the rule of repetition cannot be read: only the first time is kept"
        yield Rejection(event.place, "invalid_record", reason)
        walls = [event.start.wall]
    for wall in walls[:-OCCURRENCES_MAX]:  # too many to be told: what an earlier reading told of them stays
        if (when := event.start.at(wall)) and when.stamp not in changed:
            yield Still("occurrences", _occurrence_key(event, when.stamp))
    onwards = _onwards(changed)
    for wall in walls[-OCCURRENCES_MAX:]:
        when = event.start.at(wall)
        if when and when.stamp not in changed:
            change = next((change for since, change in onwards if since <= when.utc), None)
            moved = _moved(when, change) if change else when
            yield _occurrence(change or event, moved or when, when.stamp)


def _onwards(changed: Mapping[str, CalendarEvent]) -> list[tuple[datetime, CalendarEvent]]:
    """Changes of all later times, the last first, each with the time from which it counts."""
    found = [(one.instead_of.utc, one) for one in changed.values() if one.instead_of and one.is_for_the_future]
    return sorted(found, key=lambda one: one[0], reverse=True)


def _moved(when: When, change: CalendarEvent) -> When | None:
    """A time of a series, as far from where it was as the first one that the change is about."""
    start, before = change.start, _wall(change.instead_of or change.start, change.start)
    return start.at(_wall(when, start) + (start.wall - before))


def _occurrence(event: CalendarEvent, start: When, stamp: str) -> Incoming:
    key = _occurrence_key(event, stamp)
    return Incoming(event.place, "occurrences", key, {"id": key, **occurrence_data(event, start)}, None)


def _occurrence_key(event: CalendarEvent, stamp: str) -> str:
    return f"{record_key(event.uid)}_{stamp}"


def _walls(event: CalendarEvent, horizon: datetime) -> list[datetime]:
    """Raises: UnreadableRule."""
    start = event.start
    walls = {start.wall}
    for line in event.component.all("RRULE"):
        walls.update(repeated(line.value, start.wall, start.zone, max(horizon, start.wall)))
    walls.update(_wall(when, start) for when in _dates(event, "RDATE"))
    excepted = list(_dates(event, "EXDATE"))
    days = {when.wall.date() for when in excepted if when.is_date}
    times = {_wall(when, start) for when in excepted if not when.is_date}
    return sorted(wall for wall in walls if wall not in times and wall.date() not in days)


def _wall(when: When, start: When) -> datetime:
    """The time on the wall where the event starts."""
    if start.is_date and when.zone is UTC:
        return datetime.combine(when.utc.astimezone(start.zone), start.wall.time())
    if when.is_date or start.is_date:
        return datetime.combine(when.wall, start.wall.time())
    return when.utc.astimezone(start.zone).replace(tzinfo=None)


def _dates(event: CalendarEvent, name: str) -> Iterator[When]:
    count = 0
    for line in event.component.all(name):
        for value in line.value.split(","):
            count += 1
            if count <= DATES_MAX and (when := event.clock.read(line, value)):
                yield when


CALENDAR = Importer(
    key="calendar",
    knows=knows,
    accounts=accounts,
    read=read,
    version=2,
    takes="calendars (.ics)",
    obtain="Google: takeout.google.com, Calendar; Apple Calendar: File, Export; Outlook: save the calendar as .ics",
)
