"""When a repeating event happens: its rule, laid out until a day and no further."""

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, time, tzinfo
from itertools import islice

from dateutil.rrule import rrulestr

OCCURRENCES_MAX = 3000  # of one event: eight years of every day
LAID_OUT_MAX = 50_000  # looked at for them: every day of a century, every hour of five years
RULE_CHARS = 2000  # a list of all days of a year is shorter

_RULE = re.compile(r"[A-Z]+=[A-Z0-9,+-]+(?:;[A-Z]+=[A-Z0-9,+-]+)*")
_WEEKDAY = re.compile(r"(?:[+-]?[0-9]{1,2})?(?:MO|TU|WE|TH|FR|SA|SU)")
_UNTIL = re.compile(r"([0-9]{8})(?:T([0-9]{6})(Z)?)?")
_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_LEAP_YEAR = 2024

# What only leaves days out of such a rule (RFC 5545 section 3.3.10). That is done here: a library that looks for a day
# that never comes looks until the year 9999.
_LIMITS: Mapping[str, frozenset[str]] = {
    "YEARLY": frozenset(),
    "MONTHLY": frozenset(),
    "WEEKLY": frozenset({"BYMONTH"}),
    "DAILY": frozenset({"BYMONTH", "BYMONTHDAY", "BYDAY"}),
    "HOURLY": frozenset({"BYMONTH", "BYMONTHDAY", "BYDAY", "BYHOUR"}),
}
_RARE = frozenset({"BYYEARDAY", "BYWEEKNO", "BYSETPOS", "BYEASTER"})  # with a rule of days or hours: nobody writes it


class UnreadableRule(ValueError):
    """A rule of repetition that is none, or that repeats without measure."""


def repeated(rule: str, start: datetime, zone: tzinfo, horizon: datetime) -> list[datetime]:
    """The times on the wall at which the rule falls, from the start to the horizon.

    Raises: UnreadableRule.
    """
    try:
        return list(_times(rule, start, zone, horizon))
    except (ValueError, TypeError, ArithmeticError, LookupError) as error:
        raise UnreadableRule(rule) from error


def _times(rule: str, start: datetime, zone: tzinfo, horizon: datetime) -> Iterator[datetime]:
    """Laid out on the wall, not in UTC: a meeting at nine stays at nine when the clocks change."""
    terms = _terms(rule)
    count = terms.pop("COUNT", None)
    until = terms.pop("UNTIL", None)
    limits = {name: _allowed(name, terms.pop(name)) for name in _LIMITS[terms["FREQ"]] & terms.keys()}
    last = horizon if until is None else min(horizon, _last(until, zone))
    terms["UNTIL"] = last.strftime("%Y%m%dT%H%M%S").zfill(15)
    text = ";".join(f"{name}={value}" for name, value in terms.items())
    laid_out = _laid_out(rrulestr(text, dtstart=start))
    times = (when for when in laid_out if _is_within(when, limits))
    return times if count is None else islice(times, int(count))


def _laid_out(times: Iterable[datetime]) -> Iterator[datetime]:
    """A few letters can ask for every second since the year 1."""
    for number, when in enumerate(times):
        if number >= LAID_OUT_MAX:
            raise UnreadableRule
        yield when


def _terms(rule: str) -> dict[str, str]:
    upper = rule.strip().strip(";").upper()
    if len(upper) > RULE_CHARS or not _RULE.fullmatch(upper):
        raise UnreadableRule(rule)
    terms = dict(term.split("=") for term in upper.split(";"))
    if terms.get("FREQ") not in _LIMITS or _is_odd(terms) or not _has_a_day(terms):
        raise UnreadableRule(rule)
    return terms


def _is_odd(terms: Mapping[str, str]) -> bool:
    """What nobody means, and what would repeat without moving on."""
    if terms["FREQ"] in ("DAILY", "HOURLY") and not _RARE.isdisjoint(terms):
        return True
    weekdays = terms.get("BYDAY", "MO").split(",")
    return not all(map(_WEEKDAY.fullmatch, weekdays)) or int(terms.get("INTERVAL", "1")) < 1


def _numbers(text: str) -> list[int]:
    return [int(one) for one in text.split(",")]


def _has_a_day(terms: Mapping[str, str]) -> bool:
    """Whether there is such a day in any year: 30 February is none."""
    if not {"BYMONTH", "BYMONTHDAY"} <= terms.keys():
        return True
    first = min(abs(day) for day in _numbers(terms["BYMONTHDAY"]))
    return any(first <= monthrange(_LEAP_YEAR, month)[1] for month in _numbers(terms["BYMONTH"]))


def _allowed(name: str, values: str) -> frozenset[int | str]:
    return frozenset(values.split(",") if name == "BYDAY" else _numbers(values))


def _is_within(when: datetime, limits: Mapping[str, frozenset[int | str]]) -> bool:
    return all(_fits(when, name, allowed) for name, allowed in limits.items())


def _fits(when: datetime, name: str, allowed: frozenset[int | str]) -> bool:
    match name:
        case "BYDAY":
            return _DAYS[when.weekday()] in allowed
        case "BYMONTH":
            return when.month in allowed
        case "BYHOUR":
            return when.hour in allowed
        case _:
            from_end = when.day - monthrange(when.year, when.month)[1] - 1
            return not {when.day, from_end}.isdisjoint(allowed)


def _last(until: str, zone: tzinfo) -> datetime:
    found = _UNTIL.fullmatch(until)
    if not found:
        raise UnreadableRule(until)
    day = datetime.strptime(found[1], "%Y%m%d")  # noqa: DTZ007  a time on the wall
    if not found[2]:
        return datetime.combine(day, time(23, 59, 59))
    wall = datetime.strptime(found[1] + found[2], "%Y%m%d%H%M%S")  # noqa: DTZ007
    if not found[3]:
        return wall
    return wall.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None)
