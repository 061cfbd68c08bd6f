"""Time zones as calendars name them: IANA names, the names of Windows, and rules that a file brings itself."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from tzlocal.windows_tz import win_tz

from pdpp_server.importers.formats.content_lines import Component, ContentLine, unescaped
from pdpp_server.importers.formats.recurrence import repeated

FIRST_YEAR, LAST_YEAR = 1970, 2100  # between which the rules of a zone are laid out
NAME_CHARS = 500
CHANGES_MAX = 100_000  # of all zones that a file describes: each has two rules, and each rule 130 in those years
RULE_COST = 500  # of them that each rule counts for at least, because one that brings none takes as long

# The table that CLDR keeps of what Windows calls its zones.
_WINDOWS = {name.lower(): zone for name, zone in win_tz.items()}
_IANA = re.compile(r"/?(?:[A-Za-z0-9_+.-]{1,60}/){0,6}[A-Za-z0-9_+-]{1,60}")
_UTC = frozenset({"UTC", "GMT", "Z", "ETC/UTC", "ETC/GMT"})
_OFFSET = re.compile(r"([+-])([01][0-9]|2[0-3])([0-5][0-9])(?:[0-9]{2})?")


class _Change(NamedTuple):
    onset: datetime  # on the wall as it was before
    before: timedelta
    after: timedelta


def named_zone(name: str) -> tzinfo | None:
    """By a name that is known everywhere, also at the end of a path as some programs write it; None for all others."""
    return _named(name) if len(name) <= NAME_CHARS else None


@lru_cache(maxsize=1000)  # a file can name any number
def _named(name: str) -> tzinfo | None:
    name = name.strip().strip('"')
    if name.upper() in _UTC:
        return UTC
    known = _WINDOWS.get(name.lower(), name)
    if not _IANA.fullmatch(known):
        return None
    steps = known.strip("/").split("/")
    for count in range(min(3, len(steps)), min(2, len(steps)) - 1, -1):
        with suppress(KeyError, ValueError, OSError):  # unknown; not a name; a folder
            return ZoneInfo("/".join(steps[-count:]))
    return None


def zone_name(line: ContentLine) -> str:
    """The zone that a line names: a comma in the name is escaped in one program, quoted in another, bare in a third."""
    return unescaped(",".join(line.params.get("TZID", ()))).strip()


def own_zones(components: Iterable[Component]) -> dict[str, tzinfo]:
    """The zones that a file describes itself (VTIMEZONE), by the name it gives them, as far as there is room."""
    zones: dict[str, tzinfo] = {}
    room = CHANGES_MAX
    for component in components:
        name, place = component.first("TZID"), component.first("X-LIC-LOCATION")
        if name is not None:
            known = named_zone(unescaped(name.value)) or (named_zone(place.value) if place else None)
            zone = known
            if zone is None:
                changes, cost = _described(component, room)
                room -= cost
                zone = OwnZone(sorted(changes)) if changes else None
            if zone is not None:
                zones[unescaped(name.value).strip()] = zone
    return zones


class OwnZone(tzinfo):
    """A zone by the moments at which its clocks were or will be changed."""

    def __init__(self, changes: Sequence[_Change]) -> None:
        self._offsets = [changes[0].before, *(change.after for change in changes)]
        # A clock that is put forward shows no time between the two: such a time is read by the offset before.
        self._walls = [change.onset + max(timedelta(), change.after - change.before) for change in changes]
        self._instants = [change.onset - change.before for change in changes]

    def utcoffset(self, dt: datetime | None, /) -> timedelta:
        return self._offsets[bisect_right(self._walls, dt.replace(tzinfo=None))] if dt else self._offsets[0]

    def fromutc(self, dt: datetime, /) -> datetime:
        return dt + self._offsets[bisect_right(self._instants, dt.replace(tzinfo=None))]

    def dst(self, dt: datetime | None, /) -> None:
        return None

    def tzname(self, dt: datetime | None, /) -> None:
        return None


def _described(component: Component, room: int) -> tuple[list[_Change], int]:
    """The changes of its clocks, and how much of the room is gone; none where one cannot be read, or where they do not
    fit."""
    changes: list[_Change] = []
    cost = 0
    for part in component.inner:
        if part.name in ("STANDARD", "DAYLIGHT"):
            cost += 1 if part.first("RRULE") is None else RULE_COST
            if cost > room:
                return [], cost
            try:
                found = [*_changes(part)]
            except (ValueError, OverflowError):
                return [], cost
            changes += found
            cost += max(0, len(found) - RULE_COST)
    return changes if cost <= room else [], cost


def _changes(part: Component) -> Iterator[_Change]:
    """Raises: ValueError."""
    before, after = (_offset(part.first(name)) for name in ("TZOFFSETFROM", "TZOFFSETTO"))
    start, rule = part.first("DTSTART"), part.first("RRULE")
    onset = datetime.strptime(start.value.strip() if start else "", "%Y%m%dT%H%M%S")  # noqa: DTZ007  on the wall
    if rule is None:
        return iter([_Change(onset, before, after)])
    if onset.year < FIRST_YEAR:
        onset = onset.replace(year=FIRST_YEAR, day=1)  # the rule knows the day
    times = repeated(rule.value, onset, UTC, datetime(LAST_YEAR, 1, 1))  # noqa: DTZ001
    return (_Change(time, before, after) for time in times)


def _offset(line: ContentLine | None) -> timedelta:
    found = _OFFSET.fullmatch(line.value.strip()) if line else None
    if not found:
        raise ValueError("no offset")
    minutes = int(found[2]) * 60 + int(found[3])
    return timedelta(minutes=-minutes if found[1] == "-" else minutes)


def moment(wall: datetime, zone: tzinfo) -> datetime:
    """A time on the wall as an instant in UTC. One that the clock skips is read as if it had not yet been put forward
    (RFC 5545 section 3.3.5), and one that it shows twice is the first. Raises: OverflowError."""
    return wall.replace(tzinfo=zone).astimezone(UTC)
