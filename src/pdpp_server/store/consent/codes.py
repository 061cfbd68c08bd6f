"""Codes: what a client changes for its first tokens. Only digests are kept."""

from typing import NamedTuple

from pdpp_server.store.engine import Writing
from pdpp_server.store.session import Session

_NEW = """
insert into codes(digest, client_id, redirect_uri, code_challenge, audience, grant_id, package_id, expires_at)
values(:digest, :client_id, :redirect_uri, :code_challenge, :audience, :grant_id, :package_id, :expires_at)
"""
_CODE = """
select client_id, redirect_uri, code_challenge, audience, grant_id, package_id, expires_at, family
from codes where digest = ?
"""
_REDEEMED = "update codes set family = ? where digest = ?"


class Code(NamedTuple):
    client_id: str
    redirect_uri: str | None
    code_challenge: str | None
    audience: str | None
    grant_id: str | None
    package_id: str | None
    expires_at: str
    family: bytes | None = None  # what it gave; None while it was not redeemed


def keep_code(writer: Writing, digest: bytes, code: Code) -> None:
    writer.run(_NEW, {"digest": digest, **code._asdict()})


def find_code(reader: Session, digest: bytes) -> Code | None:
    row = reader.one(_CODE, (digest,))
    return None if row is None else Code(*row)


def note_redeemed(writer: Writing, digest: bytes, family: bytes) -> None:
    writer.run(_REDEEMED, (family, digest))
