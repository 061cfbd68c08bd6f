"""Tokens: who holds what. Only digests are kept."""

from typing import Any

from pdpp_server.grants.lifecycle import GrantState, TokenState
from pdpp_server.model.grants import TokenKind
from pdpp_server.store.digests import token_digest
from pdpp_server.store.engine import Writing
from pdpp_server.store.session import Session, Statement

_TOKEN = """
select t.kind, t.client_id, t.expires_at, t.revoked_at, t.package_id, t.audience,
       g.grant_id, g.expires_at, g.revoked_at, g.consumed_at
from tokens t left join grants g on g.grant_id = t.grant_id
where t.digest = ?
"""
_PACKAGE = "select grant_id, expires_at, revoked_at, consumed_at from grants where package_id = ? order by rowid"
_GRANT = "select grant_id, expires_at, revoked_at, consumed_at from grants where grant_id = ?"
_REVOKE = "update tokens set revoked_at = ? where digest = ? and revoked_at is null"
_FORGET = "delete from tokens where client_id = ? and expires_at <= ?"
_NEW = """
insert into tokens(digest, kind, grant_id, package_id, client_id, issued_at, expires_at, audience, family)
values(:digest, :kind, :grant_id, :package_id, :client_id, :now, :expires_at, :audience, :family)
"""
KIND, AUDIENCE = 0, 5  # their places in a row
_STATE = AUDIENCE + 1


def asking_for_token(digest: bytes) -> Statement:
    """What `token_row` asks, for whoever can ask it sooner."""
    return _TOKEN, (digest,)


def token_row(reader: Session, digest: bytes) -> tuple[Any, ...] | None:
    """What is stored of a token and its one grant; two equal rows mean the same."""
    return reader.one(_TOKEN, (digest,))


def states_of(reader: Session, row: tuple[Any, ...]) -> tuple[TokenState, list[GrantState]]:
    """The token's own state, and that of every grant it stands for."""
    state = TokenState(*row[:_STATE])
    if state.package_id is not None:
        return state, grant_states(reader, None, state.package_id)
    return state, [GrantState(*row[_STATE:])] if row[_STATE] is not None else []


def grant_states(reader: Session, grant_id: str | None, package_id: str | None) -> list[GrantState]:
    """Of the one grant, or of every grant of the package."""
    found = reader.rows(_GRANT, (grant_id,)) if package_id is None else reader.rows(_PACKAGE, (package_id,))
    return [GrantState(*row) for row in found]


def revoke_token(writer: Writing, digest: bytes, now: str) -> None:
    writer.run(_REVOKE, (now, digest))


def keep_token(
    writer: Writing,
    token: str,
    *,
    kind: TokenKind,
    now: str,
    expires_at: str | None,
    client_id: str | None = None,
    grant_id: str | None = None,
    package_id: str | None = None,
    audience: str | None = None,
    family: bytes | None = None,
) -> None:
    row = {
        "digest": token_digest(token), "kind": kind, "grant_id": grant_id, "package_id": package_id,
        "client_id": client_id, "now": now, "expires_at": expires_at, "audience": audience, "family": family,
    }  # fmt: skip
    writer.run(_NEW, row)


def forget_ended(writer: Writing, client_id: str, now: str) -> None:
    """Tokens of that client that nobody can use any more."""
    writer.run(_FORGET, (client_id, now))
