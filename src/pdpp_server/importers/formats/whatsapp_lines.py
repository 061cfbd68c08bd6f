"""The lines of a WhatsApp chat: where a message begins, and what its time means."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from io import BufferedIOBase
from itertools import pairwise
from typing import BinaryIO, NamedTuple, cast

from pdpp_server.importers.formats.charsets import decoded

LINE_BYTES_MAX = 1024 * 1024
BLOCK_BYTES = 256 * 1024  # lines are cut and decoded so many at a time
MESSAGE_CHARS_MAX = 1_000_000

_MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
_BLANKS = re.compile("[\u202f\u00a0\u2009]")
_ANY = f"[{_MARKS}]*"
_DATE = (
    rf"(?P<date>(?P<a>\d{{1,2}}|\d{{4}}){_ANY}(?P<mark>[./-]){_ANY}[ ]?(?P<b>\d{{1,2}})"
    rf"{_ANY}(?P=mark){_ANY}[ ]?(?P<c>\d{{4}}|\d{{1,2}})\.?)(?:[ ](?:BE|\u0433\.))?"
)
_TIME = (
    rf"(?P<time>(?P<early>上午|下午|午前|午後|오전|오후)?[ ]?(?P<hour>\d{{1,2}})[:.](?P<minute>\d{{2}})"
    rf"(?:[:.](?P<second>\d{{2}}))?[ ]?{_ANY}(?P<half>[AaPp]\.?[ ]?[Mm]\.?|[صم]|SA|CH)?(?:[ ]ч\.)?)"
)
_END = rf"{_ANY}(?(open)\][ ]?|[ ][-\u2013][ ])"
_WORDS = "(?:klo |kl |um |às |à |a las |at |lúc )?"
_STAMP = re.compile(rf"{_ANY}(?P<open>\[)?{_DATE}{_ANY}[,،]?[ ]{_WORDS}{_ANY}{_TIME}{_END}")
_STAMP_TIME_FIRST = re.compile(rf"{_ANY}(?P<open>\[)?{_WORDS}{_TIME}{_ANY}[,،]?[ ]{_ANY}{_DATE}{_END}")  # as in Vietnam
_DAY, _CLOCK = re.compile(_DATE), re.compile(_TIME)
# How a line begins that may begin with a time: in digits of ours or of others, in a bracket, in an invisible mark.
# Once as bytes, and once as what such bytes begin.
_BEGINNINGS = frozenset(b"0123456789[\xe2\xef\xd8\xd9\xdb\xe0l")
_MAY_BEGIN = re.compile("[0-9\\[l\u0600-\u067f\u06c0-\u06ff\u0800-\u0fff\u2000-\u2fff\uf000-\uffff]")
_SENDER_CHARS_MAX = 100
_AFTERNOON = ("p", "下", "午後", "오후", "م", "ch")
_MARK, _MARK_SET = re.compile(f"[{_MARKS}]"), frozenset(_MARKS)


# A note without a sender may have a colon inside a quotation, as where a group gets another name.
_IN_QUOTES = re.compile(r'(?:\A|\s)(?:"[^"]*|[“„][^“”]*|«[^»]*|「[^」]*)\Z')
_FIRST_YEAR = 2009  # of WhatsApp; what is earlier is of another calendar
_BUDDHIST_YEARS = 543


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
    date, time, bracket = found.group("date", "time", "open")
    parts, mark, is_year_first, day_text = _day(date)
    clock, half, has_seconds, clock_text = _clock(time)
    if has_seconds and not bracket:
        return None
    return Stamp(parts, mark, is_year_first, clock, half, day_text + clock_text), line[found.end() :]


@lru_cache(maxsize=1024)
def _day(date: str) -> tuple[tuple[int, int, int], str, bool, str]:
    """Its parts, what stands between them, whether the year is the first of them, and how it is told from others."""
    found = cast("re.Match[str]", _DAY.fullmatch(date))
    first, second, third, mark = found.group("a", "b", "c", "mark")
    return (int(first), int(second), int(third)), mark, len(first) == 4, _alike(date)


@lru_cache(maxsize=4096)
def _clock(time: str) -> tuple[tuple[int, int, int], str, bool, str]:
    """Its parts, the half of the day, whether it has seconds, and how it is told from others."""
    found = cast("re.Match[str]", _CLOCK.fullmatch(time))
    hour, minute, seconds, half, early = found.group("hour", "minute", "second", "half", "early")
    return (int(hour), int(minute), int(seconds or 0)), half or early or "", bool(seconds), _alike(time)


def _alike(written: str) -> str:
    return unmarked(written).lower().replace(" ", "")


def said(stream: BinaryIO) -> Iterator[WhatsappMessage | int]:
    """The messages; a line that no message begins before is told by its number.

    Those of a block are cut out before the first of them is read on: to go back and forth between the two for each
    message takes a sixth longer.
    """
    messages = _Cutting()
    for lines in _blocks(stream):
        yield from messages.ended(lines)
    if messages.stamp:
        yield messages.last()


class _Cutting:
    """Lines into messages, one of which is open: its time, how its line began, and what it says so far."""

    def __init__(self) -> None:
        self.stamp: Stamp | None = None
        self._head, self._first, self._more = "", "", list[str]()
        self._begun_at = self._size = self._number = 0

    def ended(self, lines: Iterable[str]) -> list[WhatsappMessage | int]:
        """Those that end before one of these lines."""
        stamp, head, number = self.stamp, self._head, self._number
        ended: list[WhatsappMessage | int] = []
        for number, line in enumerate(lines, start=self._number + 1):
            if head and line.startswith(head):  # one of the same minute
                begun = stamp, line[len(head) :]
            else:
                begun = stamped(line) if _MAY_BEGIN.match(line) else None
                if begun:
                    head = line[: len(line) - len(begun[1])]
                    head = "" if head.endswith("]") else head  # behind which another line may have a blank
            if begun:
                if stamp:
                    ended.append(_whole(self._begun_at, stamp, self._first, self._more))
                (stamp, self._first), self._more, self._begun_at, self._size = begun, [], number, 0
            elif stamp is None:
                if line.strip(_MARKS + " \t"):
                    ended.append(number)
            elif self._size < MESSAGE_CHARS_MAX:
                self._more.append(line)
                self._size += len(line) + 1  # an empty line is kept too
        self.stamp, self._head, self._number = stamp, head, number
        return ended

    def last(self) -> WhatsappMessage:
        assert self.stamp is not None
        return _whole(self._begun_at, self.stamp, self._first, self._more)


def _blocks(stream: BinaryIO) -> Iterator[list[str]]:
    """Lines without their ends. What could be read of a file that is damaged further on comes before that is said."""
    rest = b""
    while block := cast(BufferedIOBase, stream).read1(BLOCK_BYTES):
        block = rest + block
        while len(block) >= LINE_BYTES_MAX and block.find(b"\n", 0, LINE_BYTES_MAX) < 0:
            yield _decoded_lines(block[:LINE_BYTES_MAX])
            block = block[LINE_BYTES_MAX:]
        end = block.rfind(b"\n")
        if end >= 0:
            yield _decoded_lines(block[:end])
        rest = block[end + 1 :]
    if rest:
        yield _decoded_lines(rest)


def _decoded_lines(block: bytes) -> list[str]:
    """All at once where that can be done; else each line may be in another charset."""
    try:
        lines = block.decode().split("\n")
    except UnicodeDecodeError:
        lines = [decoded(raw.rstrip(b"\r")) for raw in block.split(b"\n")]
    if b"\r" in block:
        lines = [line.rstrip("\r") for line in lines]
    if b"\0" in block:
        lines = [line.replace("\0", "\ufffd") for line in lines]
    return lines


def _whole(number: int, stamp: Stamp, first: str, more: list[str]) -> WhatsappMessage:
    """Whoever says something stands before the first colon, if a blank or nothing is behind that."""
    name, colon, text = first.partition(":")
    has_sender = colon and 0 < len(name) <= _SENDER_CHARS_MAX and text[:1] in (" ", "")
    sender = _sender(name) if has_sender else ""
    if not sender:
        return WhatsappMessage(number, stamp, "", "\n".join([first, *more]) if more else first, True)
    begins = text[1:]
    is_marked = begins[:1] in _MARK_SET
    if is_marked:
        begins = begins.lstrip(_MARKS)
    text = "\n".join([begins, *more]) if more else begins
    return WhatsappMessage(number, stamp, sender, text, is_marked)


@lru_cache(maxsize=1024)
def _sender(name: str) -> str:
    """Nobody where the colon stands inside a quotation."""
    return "" if _IN_QUOTES.search(name) else unmarked(name).strip()


def unmarked(text: str) -> str:
    """Without the invisible marks that stand for the direction of writing."""
    return text if text.isascii() else _MARK.sub("", text)


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
        year = third
    year = _common_year(year)
    hour, minute, seconds = stamp.clock
    if stamp.half:
        hour = hour % 12 + (12 if stamp.half.lower().startswith(_AFTERNOON) else 0)
    if year < _FIRST_YEAR:
        return None
    try:
        return datetime(year, month, day, hour, minute, seconds)  # noqa: DTZ001  the zone comes from the owner
    except ValueError:
        return None


def _common_year(year: int) -> int:
    """Phones in Thailand write the years of the Buddha, of which two numbers are above those of ours."""
    whole = year if year > 99 else 2500 + year if 2500 + year - _BUDDHIST_YEARS >= _FIRST_YEAR else 2000 + year
    return whole - _BUDDHIST_YEARS if whole > 2500 else whole
