"""Resource servers elsewhere that may ask about tokens. Only digests of their secrets are kept."""

from hmac import compare_digest
from typing import NamedTuple

from pdpp_server.store.digests import token_digest
from pdpp_server.store.engine import Writing
from pdpp_server.store.session import Session

_KEEP = """
insert into resource_servers(name, digest, address, created_at) values(:name, :digest, :address, :now)
on conflict(name) do update
set digest = excluded.digest, created_at = excluded.created_at,
    address = coalesce(excluded.address, resource_servers.address)
"""
_ONE = "select digest, address from resource_servers where name = ?"
_ELSEWHERE = "select name, address from resource_servers where address is not null order by name"


class KnownResourceServer(NamedTuple):
    name: str
    address: str | None  # None where it stands behind ours


def keep_resource_server(writer: Writing, server: KnownResourceServer, secret: str, now: str) -> None:
    """One of the same name gets the new secret, and loses the old one; its address stays, unless there is a new one."""
    named = {"name": server.name, "address": server.address}
    writer.run(_KEEP, {**named, "digest": token_digest(secret), "now": now})


def find_resource_server(reader: Session, name: str, secret: str) -> KnownResourceServer | None:
    """None where there is none of that name and secret."""
    digest, address = reader.one(_ONE, (name,)) or (b"", None)
    return KnownResourceServer(name, address) if compare_digest(digest, token_digest(secret)) else None


def addresses_elsewhere(reader: Session) -> dict[str, str]:
    """By name, of those that have one of their own."""
    return dict(reader.rows(_ELSEWHERE))
