"""A grant that the owner changes: a successor takes its place, and everything that its client holds leads there."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pdpp_server.errors import ApprovalConflict, InvalidRequest
from pdpp_server.grants.succeed import selection_of as selection_of
from pdpp_server.grants.succeed import successor
from pdpp_server.model.grants import Grant
from pdpp_server.model.selections import Selection
from pdpp_server.model.times import iso
from pdpp_server.reads.services import Services
from pdpp_server.store.consent import grants
from pdpp_server.store.consent.grants import GrantRow, kept_declaration
from pdpp_server.store.engine import Reading

WORDS_MAX, NAME_MAX = 2000, 80


def successors(
    services: Services, rows: Sequence[GrantRow], kept: Mapping[str, Selection] | None, ends: Mapping[str, str | None]
) -> dict[str, Grant]:
    """By grant, what would take its place; one that is not in `kept` would end. Without `kept` only the ends change.

    Raises:
        ApprovalConflict: one of them has ended, or was changed meanwhile.
        InvalidAuthorizationDetails: it is more than the grant gives.
        InvalidRequest: the end is over, or a single use would last longer.
    """
    now = iso(services.now())
    held = [row.grant for row in rows]
    for row in rows:
        _require_alive(row, now)
    for grant in held:
        _require_end(grant, ends[grant.grant_id], now)
    with services.database.reading() as reading:
        return {
            grant.grant_id: _successor(
                reading, grant, kept[grant.grant_id] if kept else None, ends[grant.grant_id], now
            )
            for grant in held
            if kept is None or grant.grant_id in kept
        }


def change(
    services: Services, rows: Sequence[GrantRow], kept: Mapping[str, Selection] | None, ends: Mapping[str, str | None]
) -> str | None:
    """In one transaction, so that a read is under the old grants or under the new ones. Raises as `successors` does.

    Gives the end of what stands for all of them: of a package the last of its grants that are alive.
    """
    made = successors(services, rows, kept, ends)
    now = iso(services.now())
    with services.database.writing() as writer:
        for row in rows:
            old = row.grant.grant_id
            if old not in made:
                grants.revoke(writer, old, now)
            elif not grants.replace_grant(writer, old, made[old], row.package_id, now):
                raise changed_meanwhile()
        first = rows[0]
        stands = made[first.grant.grant_id].grant_id if first.grant.grant_id in made else None
        end = grants.last_end(writer, stands, first.package_id)
        grants.prolong_tokens(writer, first.grant.client_id, stands, first.package_id, end)
        return end


def note(services: Services, rows: Iterable[GrantRow], called: str, words: str) -> None:
    """What the owner calls it and says about it; nobody else is told."""
    name, text = " ".join(called.split()), words.replace("\r\n", "\n").strip()
    if len(name) > NAME_MAX or len(text) > WORDS_MAX:
        raise InvalidRequest(f"A name has at most {NAME_MAX} characters, and a note {WORDS_MAX:,}.", param="name")
    with services.database.writing() as writer:
        for row in rows:
            grants.note_grant(writer, row.grant.grant_id, name or None, text or None)


def changed_meanwhile() -> ApprovalConflict:
    return ApprovalConflict("This was changed or ended meanwhile.", remedy="Look again at what holds now.")


def _require_alive(row: GrantRow, now: str) -> None:
    if row.word(now) != "active":
        raise ApprovalConflict(
            f"This grant is {row.word(now)}, and what has ended is not changed.",
            remedy="The client has to ask you again.",
        )


def _require_end(grant: Grant, expires_at: str | None, now: str) -> None:
    if expires_at is not None and expires_at <= now:
        raise InvalidRequest("An end is a time that is still to come.", param="expires_at")
    once = grant.expires_at if grant.access_mode == "single_use" else None
    if once and (expires_at is None or expires_at > once):
        raise InvalidRequest("What was given for a single use is not prolonged.", param="expires_at")


def _successor(reading: Reading, grant: Grant, kept: Selection | None, expires_at: str | None, now: str) -> Grant:
    new_id = f"grt_{secrets.token_hex(8)}"
    if kept is None:
        return replace(grant, grant_id=new_id, issued_at=now, expires_at=expires_at)
    declaration = kept_declaration(reading, grant.source.id, grant.declaration_version)
    assert declaration is not None, "the declaration of a grant is kept as long as the grant"
    return successor(grant, kept, declaration, grant_id=new_id, issued_at=now, expires_at=expires_at)
