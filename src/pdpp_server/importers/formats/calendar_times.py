"""Times as calendars write them: a date, a time of some zone, or one that floats."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

from pdpp_server.importers.formats.content_lines import ContentLine
from pdpp_server.importers.formats.zones import moment, named_zone, zone_name

LAST_YEAR = 2100  # a stamp later than that is a mistake

_TIME = re.compile(r"([0-9]{8})(?:T([0-9]{6}|[0-9]{4})(Z)?)?", re.IGNORECASE)
_FORMATS = {4: "%Y%m%d%H%M", 6: "%Y%m%d%H%M%S"}
_DURATION = re.compile(
    r"([+-])?P(?:([0-9]{1,5})W)?(?:([0-9]{1,6})D)?(?:T(?:([0-9]{1,6})H)?(?:([0-9]{1,7})M)?(?:([0-9]{1,8})S)?)?",
    re.IGNORECASE,
)


class When(NamedTuple):
    """A date, or a time on the wall of some zone."""

    wall: datetime
    zone: tzinfo
    is_date: bool

    @property
    def utc(self) -> datetime:
        return moment(self.wall, self.zone)

    @property
    def stamp(self) -> str:
        """What tells one time of a repeating event from the others."""
        return f"{self.wall:%Y%m%d}" if self.is_date else f"{self.utc:%Y%m%dT%H%M%SZ}"

    def at(self, wall: datetime) -> "When | None":
        """The same on another day; None beyond the end of time."""
        when = When(wall, self.zone, self.is_date)
        return when if when._is_in_time() else None

    def after(self, lasts: timedelta) -> "When":
        """Days on the wall for a date, else hours that pass; itself where that would be before it, or beyond time."""
        try:
            if self.is_date:
                later = When(self.wall + lasts, self.zone, is_date=True)
            else:
                later = When((self.utc + lasts).replace(tzinfo=None), UTC, is_date=False)
        except OverflowError:
            return self
        return later if later._is_in_time() and later.utc >= self.utc else self

    def _is_in_time(self) -> bool:
        try:
            return bool(self.utc)
        except (OverflowError, ValueError):
            return False


class Clock(NamedTuple):
    """By what the times of one file are read."""

    zones: Mapping[str, tzinfo]  # that the file describes
    floating: tzinfo  # for times and dates that name none

    def read(self, line: ContentLine | None, value: str | None = None) -> When | None:
        """The time that a line tells, or one of the values in it; None where that is no time."""
        text = (line.value if value is None else value) if line else ""
        found = _TIME.fullmatch(text.strip().partition("/")[0])
        if not line or not found:
            return None
        day, clock, is_utc = found.groups()
        wall = _wall(day + (clock or "0000"))
        return When(wall, UTC if is_utc else self._zone(line), not clock).at(wall) if wall else None

    def _zone(self, line: ContentLine) -> tzinfo:
        name = zone_name(line)
        return (self.zones.get(name) or named_zone(name) or self.floating) if name else self.floating


def _wall(digits: str) -> datetime | None:
    try:
        return datetime.strptime(digits, _FORMATS[len(digits) - 8])  # noqa: DTZ007  its zone is known to the caller
    except ValueError:
        return None


def day_of(line: ContentLine | None) -> str:
    """The day of a time, as it is written; empty where it is none, or none that anybody meant."""
    found = _TIME.fullmatch(line.value.strip()) if line else None
    day = _wall(found[1] + "0000") if found else None
    return f"{day:%Y%m%d}".zfill(8) if day and day.year <= LAST_YEAR else ""


def duration(text: str) -> timedelta | None:
    found = _DURATION.fullmatch(text)
    if not found:
        return None
    weeks, days, hours, minutes, seconds = (int(digits or 0) for digits in found.groups()[1:])
    lasts = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    return -lasts if found[1] == "-" else lasts
