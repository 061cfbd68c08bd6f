"""A refusal in words: what is wrong, what could be meant, and what to do next."""

from collections.abc import Sequence

from pdpp_server.errors import CANDIDATES_MAX, Candidate, PdppError
from pdpp_server.evidence.budget import BudgetRow, fit
from pdpp_server.evidence.budgets import LABEL_CHARS, REFUSAL_BYTES, REFUSAL_MESSAGE_BYTES, REFUSAL_REMEDY_BYTES
from pdpp_server.evidence.text import byte_len, clip_bytes, clip_shown, compact_json, name_text, quoted


def message_text(error: PdppError) -> str:
    """A message may repeat what a caller sent; that is bounded and made visible."""
    return clip_bytes(error.message, REFUSAL_MESSAGE_BYTES)


def remedy_text(error: PdppError) -> str:
    return clip_bytes(error.remedy, REFUSAL_REMEDY_BYTES)


def message_and_remedy(error: PdppError) -> str:
    return f"{message_text(error)} {remedy_text(error)}".strip()


def refusal_text(error: PdppError) -> str:
    head = " ".join(part for part in (f"{error.code}:", message_text(error), remedy_text(error)) if part)
    if not error.candidates:
        return head
    candidates = error.candidates
    tail = f"next: the same call with {compact_json({'connection_id': candidates[0].connection_id})}"
    longest = _not_listed(candidates, ())
    room = REFUSAL_BYTES - byte_len(head) - byte_len(tail) - byte_len(longest) - 3
    shown = fit([_candidate_row(candidate) for candidate in candidates[:CANDIDATES_MAX]], room)
    if len(shown) == len(candidates):
        return "\n".join((head, *shown, tail))
    return "\n".join((head, *shown, _not_listed(candidates, shown), tail))


def _not_listed(candidates: Sequence[Candidate], shown: Sequence[str]) -> str:
    total = len(candidates)
    return f"{total} in all, {total - len(shown)} not listed; schema {{}} lists every connection"


def candidate_label(label: str) -> str:
    return clip_shown(label, LABEL_CHARS)


def _candidate_row(candidate: Candidate) -> BudgetRow:
    least = name_text(candidate.connection_id)
    ids = " ".join(name_text(id) for id in (candidate.connection_id, candidate.connector_key) if id)
    grant = f" grant {name_text(candidate.grant_id)}" if candidate.grant_id else ""
    plain = f"{ids}{grant}"
    if not candidate.label:
        return BudgetRow(least, (plain,))
    return BudgetRow(least, (f"{ids} {quoted(candidate_label(candidate.label))}{grant}", plain))
