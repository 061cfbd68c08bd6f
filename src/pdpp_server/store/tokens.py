"""Tokens: who holds what. Only digests are kept."""

from typing import Any

import apsw

from pdpp_server.grants.lifecycle import GrantState, TokenState
from pdpp_server.store.peek import token_digest
from pdpp_server.store.rows import one, rows

_TOKEN = """
select t.kind, t.client_id, t.expires_at, t.revoked_at, t.package_id,
       g.grant_id, g.expires_at, g.revoked_at, g.consumed_at
from tokens t left join grants g on g.grant_id = t.grant_id
where t.digest = ?
"""
_PACKAGE = "select grant_id, expires_at, revoked_at, consumed_at from grants where package_id = ? order by rowid"
_FORGET = "delete from tokens where client_id = ? and expires_at <= ?"
_NEW = """
insert into tokens(digest, kind, grant_id, package_id, client_id, issued_at, expires_at)
values(:digest, :kind, :grant_id, :package_id, :client_id, :now, :expires_at)
"""


def token_row(reader: apsw.Connection, digest: bytes) -> tuple[Any, ...] | None:
    """What is stored of a token and its one grant; two equal rows mean the same."""
    return one(reader, _TOKEN, (digest,))


def states_of(reader: apsw.Connection, row: tuple[Any, ...]) -> tuple[TokenState, list[GrantState]]:
    """The token's own state, and that of every grant it stands for."""
    state = TokenState(*row[:5])
    if state.package_id is not None:
        return state, [GrantState(*grant) for grant in rows(reader, _PACKAGE, (state.package_id,))]
    return state, [GrantState(*row[5:])] if row[5] is not None else []


def keep_token(
    writer: apsw.Connection,
    token: str,
    *,
    kind: str,
    now: str,
    expires_at: str | None,
    client_id: str | None = None,
    grant_id: str | None = None,
    package_id: str | None = None,
) -> None:
    row = {
        "digest": token_digest(token), "kind": kind, "grant_id": grant_id, "package_id": package_id,
        "client_id": client_id, "now": now, "expires_at": expires_at,
    }  # fmt: skip
    writer.execute(_NEW, row)


def forget_ended(writer: apsw.Connection, client_id: str, now: str) -> None:
    """Tokens of that client that nobody can use any more."""
    writer.execute(_FORGET, (client_id, now))
