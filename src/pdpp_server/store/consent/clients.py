"""Clients: who asked, and what is known of them."""

from dataclasses import dataclass

import orjson

from pdpp_server.model.authorization import Client
from pdpp_server.store.engine import Writing
from pdpp_server.store.session import Session
from pdpp_server.wire.oauth_clients import decode_client, encode_client

_CLIENT = "select document, is_verified, fresh_until, pinned from clients where client_id = ?"
_KEEP = """
insert into clients(client_id, document, is_verified, created_at, fresh_until, pinned)
values(:client_id, :document, :is_verified, :now, :fresh_until, :pinned)
on conflict(client_id) do update set document = :document, fresh_until = :fresh_until, pinned = :pinned
"""


@dataclass(frozen=True, slots=True)
class StoredClient:
    client: Client
    fresh_until: str | None  # None: it registered here, and stays as it is
    pinned: bytes | None


def find_client(reader: Session, client_id: str) -> StoredClient | None:
    row = reader.one(_CLIENT, (client_id,))
    if row is None:
        return None
    document, is_verified, fresh_until, pinned = row
    client = decode_client(client_id, orjson.loads(document), is_verified=bool(is_verified))
    return StoredClient(client, fresh_until, pinned)


def keep_client(
    writer: Writing, client: Client, now: str, *, fresh_until: str | None = None, pinned: bytes | None = None
) -> None:
    row = {
        "client_id": client.client_id, "document": orjson.dumps(encode_client(client)).decode(),
        "is_verified": client.is_verified, "now": now, "fresh_until": fresh_until, "pinned": pinned,
    }  # fmt: skip
    writer.run(_KEEP, row)
