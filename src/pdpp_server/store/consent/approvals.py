"""Approvals: what the owner agreed to last, for each client and each thing that it asks."""

import hashlib

import orjson

from pdpp_server.model.authorization import Ask, Decision
from pdpp_server.model.times import instant, iso_micros
from pdpp_server.store.engine import Writing
from pdpp_server.store.session import Session
from pdpp_server.wire.grants import decode_selection, encode_selection

_KEEP = """
insert into approvals(client_id, asked, approved_at, decision) values(?, ?, ?, ?)
on conflict(client_id, asked) do update set approved_at = excluded.approved_at, decision = excluded.decision
"""
_LAST = "select approved_at, decision from approvals where client_id = ? and asked = ?"


def keep_approval(writer: Writing, ask: Ask, decision: Decision, now: str) -> None:
    ends = [decision.ends.get(place) for place in range(len(decision.selections))]
    kept = [encode_selection(decision.selections), decision.expires_at, decision.ai_training, ends]
    writer.run(_KEEP, (ask.client.client_id, _asked(ask), now, orjson.dumps(kept).decode()))


def last_approval(reader: Session, ask: Ask, now: str) -> Decision | None:
    """What was decided then, for as long from now on as it was for then."""
    row = reader.one(_LAST, (ask.client.client_id, _asked(ask)))
    if row is None:
        return None
    selections, expires_at, ai_training, *others = orjson.loads(row[1])
    ends: list[str | None] = others[0] if others else []  # approvals of earlier versions have one end for all
    approved, here = instant(row[0]) or 0, instant(now) or 0

    def as_long(end: str | None) -> str | None:
        then = instant(end)
        return iso_micros(here + then - approved) if then else None

    own = {place: moved for place, end in enumerate(ends) if (moved := as_long(end))}
    return Decision(decode_selection(selections), as_long(expires_at), ai_training, own)


def _asked(ask: Ask) -> bytes:
    asked = [encode_selection(ask.selections), ask.resource]
    return hashlib.sha256(orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)).digest()
