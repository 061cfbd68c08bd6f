"""Families: all tokens that came of one approval, and the one refresh token that is good now."""

from typing import NamedTuple

from pdpp_server.store.digests import token_digest
from pdpp_server.store.engine import Writing
from pdpp_server.store.session import Session

FAMILY_CHARS = 24  # of a refresh token: what it shares with its whole family

_NEW = """
insert into families(family, client_id, audience, grant_id, package_id, refresh, expires_at)
values(:family, :client_id, :audience, :grant_id, :package_id, :refresh, :expires_at)
"""
_FAMILY = """
select client_id, audience, grant_id, package_id, refresh, expires_at, ended_at from families where family = ?
"""
_ROTATE = "update families set refresh = ?, expires_at = ? where family = ?"
_END = "update families set ended_at = :now where family = :family and ended_at is null"
_END_TOKENS = "update tokens set revoked_at = :now where family = :family and revoked_at is null"
_IS_ENDED = "select ended_at is not null from families join tokens using(family) where digest = ?"


class Family(NamedTuple):
    client_id: str
    audience: str | None
    grant_id: str | None
    package_id: str | None
    refresh: bytes | None  # a digest; None where no refresh token is given
    expires_at: str
    ended_at: str | None = None


def family_of(refresh_token: str) -> bytes:
    return token_digest(refresh_token[:FAMILY_CHARS])


def keep_family(writer: Writing, digest: bytes, family: Family) -> None:
    row = family._asdict()
    row.pop("ended_at")
    writer.run(_NEW, {"family": digest, **row})


def find_family(reader: Session, digest: bytes) -> Family | None:
    row = reader.one(_FAMILY, (digest,))
    return None if row is None else Family(*row)


def rotate(writer: Writing, digest: bytes, refresh_token: str, expires_at: str) -> None:
    writer.run(_ROTATE, (token_digest(refresh_token), expires_at, digest))


def end_family(writer: Writing, digest: bytes, now: str) -> None:
    """Neither its refresh token nor any access token of it is good from now on."""
    for statement in (_END, _END_TOKENS):
        writer.run(statement, {"family": digest, "now": now})


def is_of_ended_family(reader: Session, token: bytes) -> bool:
    return bool(reader.one(_IS_ENDED, (token,)))
