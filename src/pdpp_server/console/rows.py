"""A record as a line of a page: when, who, what it is called, what it says; by declared roles and nothing else."""

from collections.abc import Collection, Iterable, Mapping
from datetime import MAXYEAR, date, tzinfo
from typing import Any, NamedTuple

from pdpp_server.evidence.binary import binary_text
from pdpp_server.evidence.budgets import CURRENCY_CHARS
from pdpp_server.evidence.handles import mint, parse
from pdpp_server.evidence.shown import shown_of
from pdpp_server.evidence.text import clip_shown
from pdpp_server.evidence.titles import declared_title, title
from pdpp_server.evidence.words import local_day
from pdpp_server.model.activity import Shown
from pdpp_server.model.records import Record, Tombstone
from pdpp_server.model.streams import END_ROLE, Stream
from pdpp_server.model.times import DAY_MICROS, instant, iso_micros

LINE_CHARS, TALK_CHARS = 240, 4000
FOREVER = (date(MAXYEAR, 1, 1) - date(1970, 1, 1)).days * DAY_MICROS  # later than that some zone has no day
_PARTS = {"primary-title": "title", "actor": "who", "primary-body": "text", "amount": "amount"}  # by role
SHOWN_ROLES = ("primary-title", "actor", "primary-body", "amount", "event-day", "event-time", END_ROLE, "thread")


class RecordRow(NamedTuple):
    handle: str
    day: str  # of a date without a time; empty where `at` tells more
    at: str | None
    until: str  # the last day; empty where it is the first one, or nobody says
    title: str
    who: str
    text: str
    amount: float | int | None
    currency: str  # of the amount, where it is known
    talk: str  # the value that names its talk
    fields: Mapping[str, str]  # which field of the record each part above was taken from
    is_here: bool = False  # the one that was asked for


def shown_fields(stream: Stream) -> tuple[str, ...]:
    """Those that a line shows."""
    by_role = [name for name, role in stream.roles.items() if role in SHOWN_ROLES]
    currency = [stream.currency_field] if stream.currency_field else []
    return tuple(dict.fromkeys([*stream.primary_key, *by_role, *currency, *stream.time_fields[:1]]))


def rows_of(
    records: Iterable[Record | Tombstone], stream: Stream, zone: tzinfo, chars: int = LINE_CHARS
) -> list[RecordRow]:
    return [row_of(record, stream, zone, chars) for record in records if isinstance(record, Record)]


def row_of(record: Record, stream: Stream, zone: tzinfo, chars: int) -> RecordRow:
    at = record.authored_at
    is_day = at is not None and len(at) <= len("2026-11-15")
    until = _until(record, stream, zone, at, is_whole=is_day) if at else ""
    amount = _value(record, "amount")
    is_money = isinstance(amount, int | float)
    currency = str(record.data.get(stream.currency_field) or "") if is_money and stream.currency_field else ""
    who = clip_shown(str(_value(record, "actor") or ""), LINE_CHARS)
    declared = declared_title(record.roles, record.data)
    called = declared[1] if declared else title(record.roles, record.data, record.origin, record.id.stream, None)
    text = _text(_value(record, "primary-body"), called, chars)
    talk = record.data.get(stream.talk_fields[0]) if stream.talk_fields else None
    has = {
        "title": declared is not None,
        "who": who,
        "text": text,
        "amount": is_money,
        "currency": currency,
        "at": at,
        "until": until,
        "talk": talk is not None,
    }
    taken = _taken_from(record, stream)
    return RecordRow(
        mint(record.id),
        at if at and is_day else "",
        None if is_day else at,
        until,
        called,
        who,
        text,
        amount if is_money else None,
        clip_shown(currency, CURRENCY_CHARS),
        str(talk) if talk is not None else "",
        {part: taken[part] for part, is_there in has.items() if is_there},
    )


def rows_shown(rows: Iterable[RecordRow], parts: Collection[str]) -> Shown:
    """What leaves with these parts of these rows."""
    drawn = [*rows]
    fields = [row.fields[part] for row in drawn for part in parts if part in row.fields]
    return shown_of([parse(row.handle) for row in drawn], fields)


def _taken_from(record: Record, stream: Stream) -> dict[str, str]:
    """By part of a row, the field that it shows: the first of each role."""
    taken: dict[str, str] = {}
    for name, role in (record.roles or {}).items():
        if role in _PARTS:
            taken.setdefault(_PARTS[role], name)
    if stream.currency_field:
        taken["currency"] = stream.currency_field
    if record.time_field:
        taken["at"] = record.time_field
    if stream.end_field:
        taken["until"] = stream.end_field
    if stream.talk_fields:
        taken["talk"] = stream.talk_fields[0]
    return taken


def _until(record: Record, stream: Stream, zone: tzinfo, at: str, *, is_whole: bool) -> str:
    """The day on which it ends, by the owner's clock; of whole days by that of its calendar, which nobody tells: it is
    as many days after the first as it takes."""
    if stream.end_field is None or not stream.time_fields:
        return ""
    first, begins, ends = map(instant, (at, record.data.get(stream.time_fields[0]), record.data.get(stream.end_field)))
    if first is None or begins is None or ends is None or ends <= begins:
        return ""
    if is_whole:
        days = round((ends - begins) / DAY_MICROS)
        last = iso_micros(min(first + (days - 1) * DAY_MICROS, FOREVER))[: len(at)]
        return last if last > at else ""
    last = local_day(iso_micros(min(ends - 1, FOREVER)), zone)
    return last if last > local_day(at, zone) else ""


def _text(value: object, called: str, chars: int) -> str:
    """Without a first heading that only repeats what it is called."""
    if not isinstance(value, str) or binary_text(value):
        return ""
    first, _, rest = value.partition("\n")
    text = rest.lstrip() if first.startswith("#") and first.lstrip("# ").rstrip() == called else value
    return text if len(text) <= chars else f"{text[:chars].rstrip()} …"


def _value(record: Record, role: str) -> Any:
    return next((record.data.get(name) for name, each in (record.roles or {}).items() if each == role), None)
