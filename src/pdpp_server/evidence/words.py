"""Numbers, sizes and times as people read them, in the terminal and on pages alike."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta, tzinfo

from pdpp_server.evidence.said import Said, say

_MONTHS = (
    *(say("January"), say("February"), say("March"), say("April"), say("May"), say("June")),
    *(say("July"), say("August"), say("September"), say("October"), say("November"), say("December")),
)


def moment(time: str | None) -> str:
    """A stored time, to the minute."""
    return f"{time[:10]} {time[11:16]} UTC" if time else "never"


def counted(number: int, noun: str) -> Said:
    one, several = counted_patterns(noun)
    return say(one if number == 1 else several, number=number)


def counted_patterns(noun: str) -> tuple[str, str]:
    """Of one and of several."""
    return f"{{number}} {noun}", f"{{number}} {noun}s"


def size_text(size: int) -> str:
    if size < 1000:
        return counted(size, "byte")
    if size >= 1_000_000_000:
        return f"{size / 1_000_000_000:.1f} GB"
    return f"{size / 1000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def listed(parts: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def many(number: int, plural: str) -> Said:
    """A number of what a publisher calls by its plural: `3 messages`, `1 message`."""
    one, several = many_patterns(plural)
    return say(one if number == 1 else several, number=f"{number:,}")


def many_patterns(plural: str) -> tuple[str, str]:
    """Of one and of several; braces in a stranger's word are no place for a value."""
    word = plural.replace("{", "{{").replace("}", "}}")
    singular = f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")
    return f"{{number}} {singular}", f"{{number}} {word}"


def local_day(time: str, zone: tzinfo) -> str:
    return datetime.fromisoformat(time).astimezone(zone).date().isoformat()


def day_words(day: str, now: datetime) -> str:
    """`Today`, `Yesterday`, or the day by its name; `now` is in the zone of the day."""
    found, today = datetime.fromisoformat(day).date(), now.date()
    near = {today: say("Today"), today - timedelta(days=1): say("Yesterday")}
    return near.get(found) or _day(found)


def date_words(day: str) -> str:
    """The day by its name, however near; what names no day stays as it is written."""
    try:
        return _day(date.fromisoformat(day))
    except ValueError:
        return day


def month_words(month: str) -> str:
    """`2026-03` as `March 2026`."""
    return say("{month} {year}", month=_MONTHS[int(month[5:7]) - 1], year=month[:4])


def _day(day: date) -> str:
    return say("{day} {month} {year}", day=day.day, month=_MONTHS[day.month - 1], year=day.year)


def local_moment(time: str, zone: tzinfo, now: datetime) -> Said:
    """By the owner's clock and with its zone: `today at 14:02 CET`, `3 May 2026 at 09:30 CEST`."""
    local, today = datetime.fromisoformat(time).astimezone(zone), now.astimezone(zone).date()
    clock = f"{local:%H:%M %Z}"
    if local.date() == today:
        return say("today at {clock}", clock=clock)
    if local.date() == today - timedelta(days=1):
        return say("yesterday at {clock}", clock=clock)
    return say("{day} at {clock}", day=_day(local.date()), clock=clock)
