"""A human name for a record, its body and its time, from what its stream declares and from nothing else."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from pdpp_server.evidence.budgets import LABEL_CHARS, TITLE_CHARS
from pdpp_server.evidence.text import clip_shown
from pdpp_server.model.records import Amount, Hit, Record
from pdpp_server.model.sources import Origin
from pdpp_server.model.streams import AMOUNT_ROLE, CURRENCY_ROLE

TITLE_ROLE, BODY_ROLE, ACTOR_ROLE, TIME_ROLE = "primary-title", "primary-body", "actor", "event-time"
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DATE_CHARS = len("2026-11-15")
_MINUTES = slice(1, len('"2026-11-15T08:00'))  # in what orjson writes, which is a string of JSON


def title(
    roles: Mapping[str, str] | None,
    data: Mapping[str, Any],
    origin: Origin,
    stream: str,
    authored_at: str | None,
) -> str:
    """The declared title, else label / stream / its own time; never a piece of the text."""
    declared = declared_title(roles, data)
    return declared[1] if declared else identity(origin, stream, authored_at)


def declared_title(roles: Mapping[str, str] | None, data: Mapping[str, Any]) -> tuple[str, str] | None:
    """The field that holds the title, and the title as it is shown."""
    declared = _declared(roles, data, TITLE_ROLE)
    shown = clip_shown(declared[1], TITLE_CHARS) if declared else ""
    return (declared[0], shown) if declared and shown else None


def declared_actor(roles: Mapping[str, str] | None, data: Mapping[str, Any]) -> tuple[str, str] | None:
    """The field that says whose words these are, and that name."""
    return _declared(roles, data, ACTOR_ROLE)


def declared_amount(roles: Mapping[str, str] | None, data: Mapping[str, Any]) -> Amount | None:
    """How much the record is about, in the currency that it names."""
    if not roles or AMOUNT_ROLE not in roles.values():  # as of nearly every record
        return None
    for name, role in roles.items():
        value = data.get(name) if role == AMOUNT_ROLE else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            currency_field, currency = _declared(roles, data, CURRENCY_ROLE) or (None, None)
            return Amount(value, name, currency, currency_field)
    return None


class Naming(NamedTuple):
    """What a record is called, who speaks in it, how much it is about, each with the field that says so if any."""

    title: str
    title_field: str | None
    actor: str | None
    actor_field: str | None
    amount: Amount | None


def namings(records: Iterable[Record]) -> Iterator[Naming]:
    roles: Mapping[str, str] | None = None
    titles, actors = _with_role(roles, TITLE_ROLE), _with_role(roles, ACTOR_ROLE)
    for record in records:
        if record.roles is not roles:  # which the records of a stream share
            roles = record.roles
            titles, actors = _with_role(roles, TITLE_ROLE), _with_role(roles, ACTOR_ROLE)
        title_field, title = _first_text(titles, record.data) or (None, "")
        actor_field, actor = _first_text(actors, record.data) or (None, None)
        shown, amount = clip_shown(title, TITLE_CHARS), declared_amount(roles, record.data)
        if shown:
            yield Naming(shown, title_field, actor, actor_field, amount)
        else:
            made_up = identity(record.origin, record.id.stream, record.authored_at)
            yield Naming(made_up, None, actor, actor_field, amount)


@lru_cache(maxsize=1000)  # an answer asks for each of its hits several times
def identity(origin: Origin, stream: str, authored_at: str | None) -> str:
    """What can be said of any record: whose, what and, if that is known, when; never when it was stored."""
    parts = (label(origin) or clip_shown(origin.connector_key, LABEL_CHARS), clip_shown(stream, LABEL_CHARS))
    return " / ".join([part for part in (*parts, moment(authored_at)) if part])


def hit_identity(hit: Hit) -> str:
    return identity(hit.origin, hit.id.stream, hit.authored_at)


def is_made_up(hit: Hit) -> bool:
    """Whether its title is none, or only repeats label, stream and time; what stands in a field is not made up."""
    return not hit.title or (hit.title_field is None and hit.title == hit_identity(hit))


def short_title(hit: Hit, limit: int) -> str:
    """The same where its time stands beside it: then a title that is made up of label, stream and time ends at the
    day."""
    if not is_made_up(hit):
        return hit_title(hit, limit)
    day = moment(hit.authored_at)[:_DATE_CHARS]
    return identity(hit.origin, hit.id.stream, day)


def hit_title(hit: Hit, limit: int = TITLE_CHARS) -> str:
    """A hit's title as shown; a foreign server may send none, or one that does not fit on a line."""
    return clip_shown(hit.title, limit) or hit_identity(hit)


def body(roles: Mapping[str, str] | None, data: Mapping[str, Any]) -> tuple[str, str] | None:
    """The field that holds the text of the record, and that text."""
    return _declared(roles, data, BODY_ROLE)


@lru_cache(maxsize=1000)  # of each record the same few
def label(origin: Origin, limit: int = LABEL_CHARS) -> str:
    """The owner's name for the connection; empty where there is none."""
    return clip_shown(origin.label or "", limit)


def moment(value: str | None) -> str:
    """A time in UTC to the minute, a date as it is, and nothing where the text names no time."""
    try:
        when = datetime.fromisoformat(value or "")
        if len(value or "") <= _DATE_CHARS:
            return when.date().isoformat()
        utc = when.astimezone(UTC) if when.tzinfo else when
    except (ValueError, OverflowError):
        return ""
    return f"{orjson.dumps(utc)[_MINUTES].decode()}Z"  # `isoformat` takes ten times as long


def dated(value: str | None) -> str:
    """The same with the day of the week beside it."""
    shown = moment(value)
    if not shown:
        return ""
    return f"{shown} {_weekday(shown[:_DATE_CHARS])}"


@lru_cache(maxsize=1000)  # what is found was often said on one day
def _weekday(day: str) -> str:
    return _WEEKDAYS[date.fromisoformat(day).weekday()]


def _declared(roles: Mapping[str, str] | None, data: Mapping[str, Any], wanted: str) -> tuple[str, str] | None:
    """Of one record: what many share of their roles need not be listed first."""
    for name, role in (roles or {}).items():
        if role == wanted and isinstance(value := data.get(name), str) and value.strip():
            return name, value
    return None


def _with_role(roles: Mapping[str, str] | None, wanted: str) -> list[str]:
    return [name for name, role in (roles or {}).items() if role == wanted]


def _first_text(names: Iterable[str], data: Mapping[str, Any]) -> tuple[str, str] | None:
    for name in names:
        if isinstance(value := data.get(name), str) and value.strip():
            return name, value
    return None
