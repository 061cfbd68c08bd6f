"""The lines of a WhatsApp chat: where a message begins, and what its time means."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import pairwise
from typing import BinaryIO, NamedTuple

from pdpp_server.importers.formats.charsets import decoded

LINE_BYTES_MAX = 1024 * 1024
MESSAGE_CHARS_MAX = 1_000_000

_MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
_BLANKS = re.compile("[\u202f\u00a0\u2009]")
_ANY = f"[{_MARKS}]*"
_DATE = (
    rf"(?P<date>(?P<a>\d{{1,2}}|\d{{4}}){_ANY}(?P<mark>[./-]){_ANY}[ ]?(?P<b>\d{{1,2}})"
    rf"{_ANY}(?P=mark){_ANY}[ ]?(?P<c>\d{{4}}|\d{{1,2}})\.?)"
)
_TIME = (
    rf"(?P<time>(?P<early>上午|下午|오전|오후)?[ ]?(?P<hour>\d{{1,2}})[:.](?P<minute>\d{{2}})"
    rf"(?:[:.](?P<second>\d{{2}}))?[ ]?{_ANY}(?P<half>[AaPp]\.?[ ]?[Mm]\.?|[صم]|SA|CH)?)"
)
_END = rf"{_ANY}(?(open)\][ ]?|[ ][-\u2013][ ])"
_WORDS = "(?:klo |kl |um |às |à |a las |at |lúc )?"
_STAMP = re.compile(rf"{_ANY}(?P<open>\[)?{_DATE}{_ANY}[,،]?[ ]{_WORDS}{_ANY}{_TIME}{_END}")
_STAMP_TIME_FIRST = re.compile(rf"{_ANY}(?P<open>\[)?{_WORDS}{_TIME}{_ANY}[,،]?[ ]{_ANY}{_DATE}{_END}")  # as in Vietnam
_PARTS = ("a", "b", "c", "hour", "minute", "second", "half", "early", "mark", "date", "time", "open")
# How a line begins that may begin with a time: in digits of ours or of others, in a bracket, in an invisible mark.
_BEGINNINGS = frozenset(b"0123456789[\xe2\xef\xd8\xd9\xdb\xe0l")
_SENDER = re.compile(rf"([^:\n]{{1,100}}?):(?:[ ]|\Z)([{_MARKS}]*)")
_AFTERNOON = ("p", "下", "오후", "م", "ch")
_UNMARKED = dict.fromkeys(map(ord, _MARKS))


class Stamp(NamedTuple):
    """The time of a message as it is written; which of the parts is the day is decided for the whole file."""

    parts: tuple[int, int, int]
    mark: str
    is_year_first: bool
    clock: tuple[int, int, int]
    half: str
    text: str  # the same in every export of the same phone


class WhatsappMessage(NamedTuple):
    """One message: its lines without the time and the sender; those of the phone itself have no sender."""

    line: int
    stamp: Stamp
    sender: str
    text: str
    is_marked: bool  # with the invisible mark that stands before what WhatsApp itself writes


def stamped(line: str) -> tuple[Stamp, str] | None:
    """The time that begins a message, and the rest of its line."""
    begins = line[:80]
    if not begins.isascii():
        begins = _BLANKS.sub(" ", begins)
    found = _STAMP.match(begins) or _STAMP_TIME_FIRST.match(begins)
    if not found:
        return None
    first, second, third, hour, minute, seconds, half, early, mark, date, time, bracket = found.group(*_PARTS)
    if seconds and not bracket:
        return None
    clock = (int(hour), int(minute), int(seconds or 0))
    text = unmarked(f"{date} {time}").lower().replace(" ", "")
    parts = (int(first), int(second), int(third))
    return Stamp(parts, mark, len(first) == 4, clock, half or early or "", text), line[found.end() :]


def said(stream: BinaryIO) -> Iterator[WhatsappMessage | int]:
    """The messages; a line that no message begins before is told by its number."""
    open_: tuple[int, Stamp, str] | None = None
    lines: list[str] = []
    size = number = 0
    while raw := stream.readline(LINE_BYTES_MAX):
        number += 1
        line = decoded(raw.rstrip(b"\r\n"))
        if "\0" in line:
            line = line.replace("\0", "\ufffd")
        begun = stamped(line) if raw[0] in _BEGINNINGS else None
        if begun:
            if open_:
                yield _whole(*open_, lines)
            open_, lines, size = (number, *begun), [], 0
        elif open_ is None:
            if line.strip(_MARKS + " \t"):
                yield number
        elif size < MESSAGE_CHARS_MAX:
            lines.append(line)
            size += len(line) + 1  # an empty line is kept too
    if open_:
        yield _whole(*open_, lines)


def _whole(number: int, stamp: Stamp, first: str, lines: list[str]) -> WhatsappMessage:
    found = _SENDER.match(first)
    sender = unmarked(found[1]).strip() if found else ""
    begins = first[found.end() :] if found else first
    is_marked = bool(found and found[2]) or not found
    return WhatsappMessage(number, stamp, sender, "\n".join([begins, *lines]) if lines else begins, is_marked)


def unmarked(text: str) -> str:
    """Without the invisible marks that stand for the direction of writing."""
    return text if text.isascii() else text.translate(_UNMARKED)


class Dates:
    """The days of a chat as its lines tell them, looked at where they change: most lines are of the day before them."""

    def __init__(self) -> None:
        self.stamps: list[Stamp] = []
        self._last = b""

    def look(self, raw: bytes) -> None:
        comma = raw.find(b",", 0, 24)
        begins = raw[: comma if comma > 0 else 11]
        if begins == self._last or raw[0] not in _BEGINNINGS:
            return
        begun = stamped(decoded(raw[:200]))
        if begun:
            self._last = begins
            if not self.stamps or self.stamps[-1].parts != begun[0].parts:
                self.stamps.append(begun[0])


# Times ------------------------------------------------------------------------------------------------------------


class Order(NamedTuple):
    """Which part of a date is the day, and how that is known."""

    is_day_first: bool
    because: str
    is_sure: bool


def order_of(stamps: Iterable[Stamp]) -> Order:
    """From the dates themselves: a part above twelve is a day, and time does not run backwards."""
    dates: list[tuple[int, int, int]] = []
    last: Stamp | None = None
    for stamp in stamps:
        if stamp.is_year_first:
            return Order(False, "the year stands first", True)
        if not dates or dates[-1] != stamp.parts:
            dates.append(stamp.parts)
        last = stamp
    days_first = sum(first > 12 for first, _, _ in dates)
    days_second = sum(second > 12 for _, second, _ in dates)
    if days_first != days_second:
        return Order(days_first > days_second, "a number above 12 can only be a day", True)
    as_days, as_months = _backwards(dates, 1), _backwards(dates, 0)
    if as_days != as_months:
        return Order(as_days < as_months, "so the dates follow each other", True)
    is_american = last is not None and last.mark == "/" and last.half in ("AM", "PM")
    return Order(not is_american, "nothing in it tells day from month, and this is more common", False)


def _backwards(dates: list[tuple[int, int, int]], month: int) -> int:
    """How often a date is before the one above it."""
    ordered = [(parts[2], parts[month], parts[1 - month]) for parts in dates]
    return sum(later < earlier for earlier, later in pairwise(ordered))


def wall_time(stamp: Stamp, order: Order) -> datetime | None:
    """On the phone's own clock; None for a time that does not exist."""
    first, second, third = stamp.parts
    if stamp.is_year_first:
        year, month, day = first, second, third
    else:
        month, day = (second, first) if order.is_day_first else (first, second)
        year = third if third > 99 else 2000 + third
    hour, minute, seconds = stamp.clock
    if stamp.half:
        hour = hour % 12 + (12 if stamp.half.lower().startswith(_AFTERNOON) else 0)
    try:
        return datetime(year, month, day, hour, minute, seconds)  # noqa: DTZ001  the zone comes from the owner
    except ValueError:
        return None
