"""A record in one short line: what it is called, whose it is and how much, where its source and stream stand beside."""

from typing import NamedTuple

from pdpp_server.evidence.budgets import LABEL_CHARS
from pdpp_server.evidence.text import clip_shown
from pdpp_server.evidence.titles import declared_actor, declared_amount, declared_title, title
from pdpp_server.evidence.words import moment
from pdpp_server.model.records import Record

_DAY_CHARS = len("2026-11-15")


class RecordSample(NamedTuple):
    text: str
    fields: tuple[str, ...]  # which it was taken from


def sample_of(record: Record) -> RecordSample:
    """A title alone often tells nothing: `Card` three times. With who and how much, it does."""
    declared, actor = declared_title(record.roles, record.data), declared_actor(record.roles, record.data)
    amount = declared_amount(record.roles, record.data)
    title_field = declared[0] if declared else record.time_field
    fields = [title_field] if title_field else []
    parts = [declared[1] if declared else _untitled(record)]
    if actor:
        parts.append(clip_shown(actor[1], LABEL_CHARS))
        fields.append(actor[0])
    if amount:
        parts.append(clip_shown(f"{amount.value} {amount.currency or ''}".rstrip(), LABEL_CHARS))
        fields += amount.fields
    return RecordSample(" · ".join(dict.fromkeys(filter(None, parts))), tuple(fields))


def _untitled(record: Record) -> str:
    """When it was; where nobody says, whose it is and of which stream."""
    time = record.authored_at
    if time is None:
        return title(record.roles, record.data, record.origin, record.id.stream, time)
    return time if len(time) <= _DAY_CHARS else moment(time)
