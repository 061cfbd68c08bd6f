"""Asks: what clients want of the owner, until it is decided or too late."""

from typing import NamedTuple

import orjson

from pdpp_server.model.authorization import Ask
from pdpp_server.store.consent.clients import find_client
from pdpp_server.store.digests import token_digest
from pdpp_server.store.engine import Writing
from pdpp_server.store.session import Session
from pdpp_server.wire.grants import decode_selection, encode_selection

_NEW = """
insert into asks(ask_id, client_id, issuer, redirect_uri, state, code_challenge, resource, request_uri, user_code,
    device_code, pause_seconds, expires_at, selections)
values(:ask_id, :client_id, :issuer, :redirect_uri, :state, :code_challenge, :resource, :request_uri, :user_code,
    :device_code, :pause_seconds, :expires_at, :selections)
"""
_ASK = """
select client_id, selections, resource, expires_at, redirect_uri, state, code_challenge, user_code, issuer, decided
from asks where ask_id = ? and expires_at > ? and request_uri is null
"""
_BY_USER_CODE = "select ask_id from asks where user_code = ?"
_OPEN = """
update asks set request_uri = null, expires_at = :until
where request_uri = :request_uri and client_id = :client_id and expires_at > :now returning ask_id
"""
_DECIDE = """
update asks set decided = :decided where ask_id = :ask_id and decided is null and expires_at > :now returning 1
"""
_WAITING_OF_ONE = "select count(*) from asks where client_id = :client_id and decided is null and expires_at > :now"
_WAITING_OF_STRANGERS = """
select count(*) from asks
where decided is null and expires_at > :now and client_id not in (select client_id from grants)
"""
_POLL = "select ask_id, client_id, decided, expires_at, polled_at, pause_seconds from asks where device_code = ?"
_POLLED = "update asks set polled_at = ?, pause_seconds = ? where ask_id = ?"
_DEVICE_CODE = "select device_code from asks where ask_id = ?"


class StoredAsk(NamedTuple):
    ask: Ask
    decided: str | None  # "approved" | "denied"


class Polled(NamedTuple):
    """What is known of a device that asks whether the owner has decided."""

    ask_id: str
    client_id: str
    decided: str | None
    expires_at: str
    polled_at: str | None
    pause_seconds: int


def keep_ask(
    writer: Writing,
    ask: Ask,
    *,
    request_uri: str | None = None,
    device_code: str | None = None,
    pause_seconds: int = 0,
) -> None:
    row = {
        "ask_id": ask.ask_id, "client_id": ask.client.client_id, "issuer": ask.issuer, "state": _kept(ask.state),
        "redirect_uri": ask.redirect_uri, "code_challenge": ask.code_challenge, "resource": ask.resource,
        "request_uri": request_uri and token_digest(request_uri), "user_code": ask.user_code,
        "device_code": device_code and token_digest(device_code), "pause_seconds": pause_seconds,
        "expires_at": ask.expires_at, "selections": orjson.dumps(encode_selection(ask.selections)).decode(),
    }  # fmt: skip
    writer.run(_NEW, row)


def find_ask(reader: Session, ask_id: str, now: str) -> StoredAsk | None:
    """None where there is none, it has expired, or a pushed one was not opened yet."""
    row = reader.one(_ASK, (ask_id, now))
    stored = row and find_client(reader, row[0])
    if not stored:
        return None
    asked = orjson.loads(row[1])
    selections = decode_selection(asked) if asked else ()
    resource, expires_at, redirect_uri, state, *others = row[2:9]
    return StoredAsk(
        Ask(ask_id, stored.client, selections, resource, expires_at, redirect_uri, _given(state), *others), row[9]
    )


def _kept(state: str | None) -> str | None:
    """A state comes back as it was, whatever it holds: as JSON every engine keeps it."""
    return None if state is None else orjson.dumps(state).decode()


def _given(kept: str | None) -> str | None:
    return orjson.loads(kept) if kept and kept.startswith('"') else kept  # else of a version before


def ask_of_user_code(reader: Session, user_code: str) -> str | None:
    return reader.one(_BY_USER_CODE, (user_code,))


def open_pushed(writer: Writing, request_uri: str, client_id: str, *, now: str, until: str) -> str | None:
    """The ask that was pushed, once; None where it is another client's, was opened, or has expired."""
    row = {"request_uri": token_digest(request_uri), "client_id": client_id, "now": now, "until": until}
    return writer.one(_OPEN, row)


def decide(writer: Writing, ask_id: str, decided: str, now: str) -> bool:
    """Whether this is the decision: there is one at most."""
    return writer.one(_DECIDE, {"ask_id": ask_id, "decided": decided, "now": now}) is not None


def count_of_one(reader: Session, client_id: str, now: str) -> int:
    """How many asks of that client can still be decided."""
    return reader.one(_WAITING_OF_ONE, {"client_id": client_id, "now": now})


def count_of_strangers(reader: Session, now: str) -> int:
    """How many asks can still be decided of all clients to whom nothing was ever granted."""
    return reader.one(_WAITING_OF_STRANGERS, {"now": now})


def polled(reader: Session, device_code: str) -> Polled | None:
    row = reader.one(_POLL, (token_digest(device_code),))
    return None if row is None else Polled(*row)


def note_poll(writer: Writing, ask_id: str, now: str, pause_seconds: int) -> None:
    writer.run(_POLLED, (now, pause_seconds, ask_id))


def device_code_of(reader: Session, ask_id: str) -> bytes | None:
    """The digest of the code with which a device polls for this ask."""
    return reader.one(_DEVICE_CODE, (ask_id,))
