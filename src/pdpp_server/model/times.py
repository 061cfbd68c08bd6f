"""Instants: ISO 8601 text to microseconds since 1970, and back."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import orjson

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY_MICROS = 86_400_000_000
_SECONDS = slice(1, len('"2026-11-15T08:00:00'))  # in what orjson writes, which is a string of JSON
_MILLISECONDS = slice(1, len('"2026-11-15T08:00:00.000'))
TIME_CHARS = 64  # of the text of a time: a fraction of a second may have as many digits as it likes
_FIRST, _LAST = -719_162 * DAY_MICROS, 2_932_897 * DAY_MICROS - 1  # the years 1 to 9999


def instant(value: object) -> int | None:
    """The moment that a date or date-time string names; None where it names none. Without a zone it is UTC."""
    return _instant(value) if isinstance(value, str) and len(value) <= TIME_CHARS else None


@lru_cache(maxsize=4096)  # whoever stores a record asks for its time more than once
def _instant(value: str) -> int | None:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    if not value.isprintable():  # the day and the hour may be parted by any character
        return None
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    micros = since.days * DAY_MICROS + since.seconds * 1_000_000 + since.microseconds
    return micros if _FIRST <= micros <= _LAST else None  # others could not be written in UTC


def iso(moment: datetime) -> str:
    """The one form in which we write times: UTC, milliseconds, `Z`."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    written = orjson.dumps(moment)  # every read and every line of the log asks: `isoformat` takes ten times as long
    return written[_MILLISECONDS].decode() + "Z" if moment.microsecond else written[_SECONDS].decode() + ".000Z"


def iso_micros(micros: int) -> str:
    return iso(_EPOCH + timedelta(microseconds=micros))


def iso_exact(micros: int) -> str:
    """The same, with microseconds where milliseconds would name another moment."""
    text = iso_micros(micros)
    return f"{text[:-1]}{micros % 1000:03}Z" if micros % 1000 else text


def newest(times: Iterable[str | None]) -> str | None:
    """The latest of these, as it was written; None where there is none."""
    return max((time for time in times if time), key=lambda time: instant(time) or 0, default=None)
