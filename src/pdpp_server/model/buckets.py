"""Time buckets: the hours, days and months of a clock on the wall, wherever that wall is."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo

from pdpp_server.model.queries import Granularity
from pdpp_server.model.times import DAY_MICROS

_MINUTE, _HOUR = 60_000_000, 3_600_000_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = _EPOCH.toordinal()
_FIRST_WALL = (date.min.toordinal() - _EPOCH_DAY) * DAY_MICROS
_LAST_WALL = (date.max.toordinal() - _EPOCH_DAY + 1) * DAY_MICROS - 1
_FAR_EAST_OR_WEST = 18 * _HOUR  # no zone was ever further from UTC, and none changed twice within twice that time
_MONDAY = 3  # 1970-01-01 was a Thursday
_ZONE_NAME = re.compile(r"[A-Z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*").fullmatch  # not what lies beside the zones


class Bucket(NamedTuple):
    """One period, by its first moment on the wall (microseconds, as if it were UTC).

    Hours and minutes also by their offset: when clocks go back, the same hour comes twice.
    """

    wall: int
    offset: int | None = None


def zone_of(name: str) -> ZoneInfo | None:
    """The zone of that IANA name; None where there is none."""
    try:
        return ZoneInfo(name) if _ZONE_NAME(name) else None
    except (LookupError, ValueError, OSError):
        return None


class Buckets:
    """The buckets of one granularity in one zone. Instants are microseconds since 1970."""

    def __init__(self, granularity: Granularity, zone: ZoneInfo) -> None:
        self._first = _FIRST[granularity]
        self._is_short = granularity in _SHORT
        self._most_days = _DAYS[granularity]
        self._zone = zone
        self._offsets: dict[int, int | None] = {}  # by day of UTC; None for a day on which the offset changes

    @property
    def are_long(self) -> bool:
        """Whether they are days, or longer."""
        return not self._is_short

    def of(self, moment: int) -> Bucket:
        """The bucket in which an instant lies."""
        offset = self._offset(moment)
        wall = min(max(moment + offset, _FIRST_WALL), _LAST_WALL)
        return Bucket(self._first(wall), offset if self._is_short else None)

    def core(self, moment: int) -> tuple[Bucket, int, int]:
        """The bucket that has an instant in UTC, and two instants between which all lies in it whatever the zone."""
        first = self._first(moment)
        following = self._first(first + self._most_days * DAY_MICROS)
        return Bucket(first), first + _FAR_EAST_OR_WEST, following - _FAR_EAST_OR_WEST

    def cut(self, since: int, until: int) -> list[int]:
        """Where pieces of a day begin that each lie in one bucket, of a day or longer; the first is `since`."""
        turn = self._turn(since, until - 1)
        edges = (since, until) if turn is None else (since, turn, until)
        return [begin for start, end in pairwise(edges) for begin in self._halves(start, end)]

    def start(self, bucket: Bucket) -> str:
        """When a bucket begins, with the offset of then; for a time that clocks skipped, when they went on."""
        wall, wanted = bucket
        before, after = wall - _FAR_EAST_OR_WEST, wall + _FAR_EAST_OR_WEST
        turn = self._turn(before, after)
        begins = {wall - self._offset(before), wall - self._offset(after)}
        if turn is not None:
            begins.add(turn)
        offsets = {moment: self._offset(moment) for moment in sorted(begins)}
        first, offset = next(
            (moment + offset, offset)
            for moment, offset in offsets.items()
            if moment + offset >= wall and wanted in (None, offset)
        )
        zone = timezone(timedelta(microseconds=offset))
        return _moment(min(first, _LAST_WALL)).replace(tzinfo=zone).isoformat(timespec="seconds")

    def key(self, bucket: Bucket) -> str:
        """What the wall shows: a date, or a date and a time to the minute."""
        return _moment(bucket.wall).isoformat()[: 16 if self._is_short else 10]

    def _halves(self, start: int, end: int) -> tuple[int, ...]:
        """The same where the offset stays the same: a day is cut once at the most."""
        offset = self._offset(start)
        first = self._first(end - 1 + offset) - offset
        return (start, first) if first > start else (start,)

    def _offset(self, moment: int) -> int:
        day = moment // DAY_MICROS
        if day not in self._offsets:
            first, last = self._looked_up(day * DAY_MICROS), self._looked_up((day + 1) * DAY_MICROS - 1)
            self._offsets[day] = first if first == last else None
        known = self._offsets[day]
        return self._looked_up(moment) if known is None else known

    def _looked_up(self, moment: int) -> int:
        inside = min(max(moment, _FIRST_WALL + DAY_MICROS), _LAST_WALL - DAY_MICROS)  # of what a datetime can be
        offset = _moment(inside).astimezone(self._zone).utcoffset()
        assert offset is not None
        return offset // timedelta(microseconds=1)

    def _turn(self, since: int, until: int) -> int | None:
        """The instant after `since` at which another offset begins to hold, where it is another one at `until`."""
        before = self._offset(since)
        if self._offset(until) == before:
            return None
        while until - since > 1:
            middle = (since + until) // 2
            since, until = (middle, until) if self._offset(middle) == before else (since, middle)
        return until


def _moment(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


@lru_cache(4096)
def _first_of(day: int, months: int) -> int:
    """The first moment of the month, quarter or year of a day."""
    dated = date.fromordinal(day + _EPOCH_DAY)
    first = dated.replace(month=(dated.month - 1) // months * months + 1, day=1)
    return (first.toordinal() - _EPOCH_DAY) * DAY_MICROS


def _first_monday(wall: int) -> int:
    day = wall // DAY_MICROS
    return (day - (day + _MONDAY) % 7) * DAY_MICROS


_SHORT = frozenset({"minute", "hour"})
_DAYS: Mapping[Granularity, int] = {  # at the most
    "minute": 0,
    "hour": 0,
    "day": 1,
    "week": 7,
    "month": 31,
    "quarter": 92,
    "year": 366,
}
_FIRST: Mapping[Granularity, Callable[[int], int]] = {
    "minute": lambda wall: wall - wall % _MINUTE,
    "hour": lambda wall: wall - wall % _HOUR,
    "day": lambda wall: wall - wall % DAY_MICROS,
    "week": _first_monday,
    "month": lambda wall: _first_of(wall // DAY_MICROS, 1),
    "quarter": lambda wall: _first_of(wall // DAY_MICROS, 3),
    "year": lambda wall: _first_of(wall // DAY_MICROS, 12),
}
