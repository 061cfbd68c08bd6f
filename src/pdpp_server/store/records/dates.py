"""Dates in a question: the days of which it speaks, and the words that say so. What reads in two ways is no date."""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

# What a record of the time that is asked for is worth, by the number of days that this is; a longer stretch: the last.
_LIFTS = ((1, 5.0), (7, 3.0), (31, 2.0))
_LONG_LIFT = 1.5
_ANY_YEAR = 2000  # stands for every year; it has a 29th of February

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH_OF = {name[:size]: n for n, name in enumerate(_MONTHS, start=1) for size in (3, len(name))} | {"sept": 9}
_WEEKDAYS: Sequence[str] = "monday tuesday wednesday thursday friday saturday sunday".split()
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
_ALSO_VERBS = frozenset({"may", "march", "mar"})  # which are months where a year follows, or a capital begins them


@dataclass(frozen=True, slots=True)
class AskedDays:
    """A stretch of days, the first and the last among them; or that stretch of every year."""

    first: date
    last: date
    is_yearly: bool = False

    @property
    def lift(self) -> float:
        days = (self.last - self.first).days + 1
        return next((lift for most, lift in _LIFTS if days <= most), _LONG_LIFT)

    def holds(self, day: date) -> bool:
        if self.is_yearly:
            day = day.replace(year=_ANY_YEAR)
        return self.first <= day <= self.last


class AskedDates(NamedTuple):
    """The days of which a question speaks, and the places of the words that name them."""

    days: tuple[AskedDays, ...] = ()
    places: tuple[tuple[int, int], ...] = ()
    is_relative: bool = False  # whether any of them counts from the day of the question

    def lift(self, day: date) -> float:
        """By how much a record of that day is lifted; by nothing where it is of another time."""
        return max((days.lift for days in self.days if days.holds(day)), default=1.0)

    def names(self, place: int) -> bool:
        """Whether the word there is a part of a date."""
        return any(start <= place < end for start, end in self.places)


NO_DATES = AskedDates()


class _Read(NamedTuple):
    start: int
    end: int
    days: AskedDays
    is_relative: bool = False


_Reader = Callable[[re.Match[str], date], AskedDays | None]


def dates_in(question: str, asked_on: date) -> AskedDates:
    """What stands in quotes, or behind a minus, is meant as words."""
    if not _LIKELY.search(question):
        return NO_DATES
    plain = _LITERAL.sub(lambda literal: " " * len(literal[0]), question)
    found: list[_Read] = []
    for reader, form, is_counted in _forms():
        for match in form.finditer(plain):
            start, end = match.span()
            if any(read.start < end and start < read.end for read in found):
                continue
            days = reader(match, asked_on)
            if days is not None:
                which = match.groupdict().get("which") or ""
                found.append(_Read(start, end, days, is_counted or which.lower() in _RELATIVE))
    joined = list(_joined(sorted(found), plain))
    days = tuple([read.days for read in joined])
    places = tuple([(read.start, read.end) for read in joined])
    return AskedDates(days, places, any(read.is_relative for read in joined))


def _joined(found: Sequence[_Read], text: str) -> Iterator[_Read]:
    """Two dates with what makes a stretch of them before and between them are one."""
    rest = list(found)
    while rest:
        read = rest.pop(0)
        stretch = _stretch(read, rest[0], text) if rest else None
        if stretch is not None:
            rest.pop(0)
        yield stretch or read


def _stretch(one: _Read, other: _Read, text: str) -> _Read | None:
    opening = _OPENING.search(text[: one.start])
    if opening is None or not _BETWEEN.fullmatch(text[one.end : other.start]):
        return None
    first, last = one.days.first, other.days.last
    if one.days.is_yearly and not other.days.is_yearly:
        first = _replaced(first, other.days.first.year)
    if first > last or (other.days.is_yearly and not one.days.is_yearly):
        return None
    days = AskedDays(first, last, is_yearly=other.days.is_yearly)
    return _Read(opening.start(), other.end, days, one.is_relative or other.is_relative)


def _replaced(day: date, year: int) -> date:
    return day.replace(year=year, day=min(day.day, monthrange(year, day.month)[1]))


# Each form that a date can have ------------------------------------------------------------------------------------


def _day(year: str | int | None, month: int, day: int) -> AskedDays | None:
    try:
        named = date(int(year or _ANY_YEAR), month, day)
    except ValueError:
        return None
    return AskedDays(named, named, is_yearly=not year)


def _month(year: str | int | None, month: int) -> AskedDays | None:
    if not 1 <= month <= 12:
        return None
    of = int(year or _ANY_YEAR)
    return AskedDays(date(of, month, 1), date(of, month, monthrange(of, month)[1]), is_yearly=not year)


def _year(year: str | int) -> AskedDays:
    return AskedDays(date(int(year), 1, 1), date(int(year), 12, 31))


def _is_name(match: re.Match[str]) -> bool:
    """Whether the month is written so that it is no verb."""
    month = match["month"]
    return month.lower() not in _ALSO_VERBS or month[0].isupper()


def _written_day(match: re.Match[str], _: date) -> AskedDays | None:
    is_sure = match["year"] or _is_name(match)
    return _day(match["year"], _MONTH_OF[match["month"].lower()], int(match["day"])) if is_sure else None


def _written_days(match: re.Match[str], _: date) -> AskedDays | None:
    month = _MONTH_OF[match["month"].lower()]
    first, last = _day(match["year"], month, int(match["from"])), _day(match["year"], month, int(match["day"]))
    if first is None or last is None or first.first > last.first:
        return None
    return AskedDays(first.first, last.last, first.is_yearly)


def _written_month(match: re.Match[str], _: date) -> AskedDays | None:
    return _month(match["year"], _MONTH_OF[match["month"].lower()])


def _written_months(match: re.Match[str], _: date) -> AskedDays | None:
    first = _month(match["year"], _MONTH_OF[match["from"].lower()])
    last = _month(match["year"], _MONTH_OF[match["month"].lower()])
    return AskedDays(first.first, last.last) if first and last and first.first < last.first else None


def _bare_month(match: re.Match[str], asked_on: date) -> AskedDays | None:
    """A month is also a name, so that a word must say that a time is meant."""
    if not _is_name(match):
        return None
    month, which = _MONTH_OF[match["month"].lower()], match["which"].lower()
    if which not in _RELATIVE:
        return _month(None, month)
    year = asked_on.year
    if which == "last":
        year -= month >= asked_on.month
    elif which == "next":
        year += month <= asked_on.month
    return _month(year, month)


def _numbered(match: re.Match[str], _: date) -> AskedDays | None:
    return _day(match["year"], int(match["month"]), int(match["day"]))


def _numbered_month(match: re.Match[str], _: date) -> AskedDays | None:
    return _month(match["year"], int(match["month"]))


def _either_way(match: re.Match[str], _: date) -> AskedDays | None:
    """3/4/2022 is one day here and another there."""
    one, other = int(match["one"]), int(match["other"])
    if one <= 12 and other <= 12 and one != other:
        return None
    month, day = (one, other) if other > 12 else (other, one)
    return _day(match["year"], month, day)


def _quarter(match: re.Match[str], _: date) -> AskedDays | None:
    first = _month(match["year"], int(match["quarter"]) * 3 - 2)
    last = _month(match["year"], int(match["quarter"]) * 3)
    return AskedDays(first.first, last.last) if first and last else None


def _years(match: re.Match[str], _: date) -> AskedDays | None:
    first, last = _year(match["from"]), _year(match["year"])
    return AskedDays(first.first, last.last) if first.first < last.first else None


def _bare_year(match: re.Match[str], _: date) -> AskedDays | None:
    return _year(match["year"])


def _near_day(match: re.Match[str], asked_on: date) -> AskedDays | None:
    shifts = {"yesterday": -1, "today": 0, "tomorrow": 1}
    return _whole("day", asked_on, shifts[match["word"].lower()])


def _near(match: re.Match[str], asked_on: date) -> AskedDays | None:
    shifts = {"last": -1, "previous": -1, "this": 0, "next": 1}
    return _whole(match["unit"].lower(), asked_on, shifts[match["which"].lower()])


def _ago(match: re.Match[str], asked_on: date) -> AskedDays | None:
    number = match["number"].lower()
    return _whole(match["unit"].lower(), asked_on, -(_NUMBERS.get(number) or int(number)))


def _last_weekday(match: re.Match[str], asked_on: date) -> AskedDays | None:
    back = (asked_on.weekday() - _WEEKDAYS.index(match["weekday"].lower()) - 1) % 7 + 1
    return _whole("day", asked_on, -back)


def _whole(unit: str, asked_on: date, shift: int) -> AskedDays | None:
    """The day, week, month or year so many of them away from that day; None before the first year there is."""
    try:
        match unit:
            case "day":
                day = asked_on + timedelta(days=shift)
                return AskedDays(day, day)
            case "week":
                monday = asked_on + timedelta(days=7 * shift - asked_on.weekday())
                return AskedDays(monday, monday + timedelta(days=6))
            case "month":
                months = asked_on.year * 12 + asked_on.month - 1 + shift
                return _month(months // 12, months % 12 + 1)
            case _:
                return _year(asked_on.year + shift)
    except (ValueError, OverflowError):
        return None


_LITERAL = re.compile(r'-?"[^"]*"?|(?<!\S)-\S+')
_LIKELY = re.compile(
    rf"(?:19|20)\d\d|day|week|month|year|tomorrow|{'|'.join(sorted({name[:3] for name in _MONTHS}))}", re.IGNORECASE
)
_RELATIVE = frozenset({"last", "this", "next"})
_OPENING = re.compile(r"\b(?:between|from)\s+(?:the\s+|in\s+)?$", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*(?:and|to|until|till|through|[-\u2013])\s*(?:the\s+|in\s+)?", re.IGNORECASE)

_ALONE = r"(?<![\d.,/:-])"
_NTH = r"(?:st|nd|rd|th)?"
_A_MONTH = "|".join(sorted(_MONTH_OF, key=len, reverse=True))
_MONTH = rf"\b(?P<month>{_A_MONTH})\b\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?![\w%])"
_OF_YEAR = rf"(?:,?\s+(?:of\s+)?{_YEAR})?"
_DAY = rf"(?P<day>\d{{1,2}}){_NTH}"
_TO = r"\s*(?:-|\u2013|to|until|through|and)\s*"
_TIME_OF = r"(?:in|during|since|until|till|year|of|before|after|from|between|by)\s+(?:the\s+year\s+)?"
_WRITTEN: tuple[tuple[_Reader, str], ...] = (
    (_numbered, r"(?<![\d-])(?P<year>(?:19|20)\d\d)[-/](?P<month>\d\d)[-/](?P<day>\d\d)(?![\d-])"),
    (_numbered_month, r"(?<![\d-])(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)(?![\d-])"),
    (_numbered, rf"(?<![\d.])(?P<day>\d\d?)\.\s?(?P<month>\d\d?)\.\s?{_YEAR}"),
    (_either_way, rf"(?<![\d/])(?P<one>\d\d?)/(?P<other>\d\d?)/{_YEAR}"),
    (_quarter, rf"\bQ(?P<quarter>[1-4])[\s/-]{_YEAR}"),
    (_written_days, rf"{_ALONE}(?P<from>\d{{1,2}}){_NTH}{_TO}{_DAY}\s+(?:of\s+)?{_MONTH}{_OF_YEAR}"),
    (_written_day, rf"{_ALONE}{_DAY}\s+(?:of\s+)?{_MONTH}{_OF_YEAR}"),
    (_written_day, rf"{_MONTH}\s+(?:the\s+)?{_DAY}(?![\w:.%]){_OF_YEAR}"),
    (_written_months, rf"\b(?P<from>{_A_MONTH})\b\.?{_TO}{_MONTH},?\s+{_YEAR}"),
    (_written_month, rf"{_MONTH},?\s+(?:of\s+)?{_YEAR}"),
    (_bare_month, rf"\b(?P<which>in|during|since|until|till|early|late|mid|last|this|next)[\s-]+{_MONTH}(?![\u2019'])"),
    (_years, rf"\b{_TIME_OF}(?P<from>(?:19|20)\d\d){_TO}{_YEAR}"),
    (_bare_year, rf"\b{_TIME_OF}{_YEAR}(?!\s*[:/-])"),
)  # fmt: skip
_COUNTED: tuple[tuple[_Reader, str], ...] = (
    (_near_day, r"\b(?P<word>today|yesterday|tomorrow)\b"),
    (_near, r"\b(?P<which>last|previous|this|next)\s+(?P<unit>week|month|year)\b"),
    (_ago, rf"\b(?P<number>\d{{1,3}}|{'|'.join(_NUMBERS)})\s+(?P<unit>day|week|month|year)s?\s+ago\b"),
    (_last_weekday, rf"\blast\s+(?P<weekday>{'|'.join(_WEEKDAYS)})\b"),
)


@cache
def _forms() -> tuple[tuple[_Reader, re.Pattern[str], bool], ...]:
    """Every form, in the order in which they are tried, and whether it counts from the day of the question. They are
    made for the first question that may need them."""
    written = [(reader, re.compile(form, re.IGNORECASE), False) for reader, form in _WRITTEN]
    return (*written, *[(reader, re.compile(form, re.IGNORECASE), True) for reader, form in _COUNTED])
