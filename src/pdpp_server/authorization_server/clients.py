"""Clients: registered here (RFC 7591), or described by a document at the address that is their id."""

import hashlib
import secrets
from datetime import timedelta
from urllib.parse import urlsplit

import orjson

from pdpp_server.authorization_server.documents import Away, NoWayOut
from pdpp_server.authorization_server.errors import (
    InvalidClient,
    InvalidClientMetadata,
    InvalidOAuthRequest,
    InvalidRedirectUri,
    UnknownClient,
)
from pdpp_server.authorization_server.redirects import is_acceptable
from pdpp_server.authorization_server.way_out import Fetch, WayOut
from pdpp_server.errors import PdppError
from pdpp_server.model.authorization import Client
from pdpp_server.model.times import iso
from pdpp_server.reads.services import Services
from pdpp_server.store.consent.clients import StoredClient, find_client, keep_client
from pdpp_server.store.consent.forget import forget
from pdpp_server.store.consent.grants import revoke_client
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.oauth_clients import (
    CODE,
    REFRESH,
    claimed_id,
    decode_client,
    document_fault,
    pinned,
    registration_fault,
)

LATER_REMEDY = "Wait a minute, then connect the app again."
AWAY_REMEDY = (
    "For ten minutes from now apps are asked to register here instead, which needs no internet: sign the app out of "
    "this server (Claude Code: `claude mcp logout NAME`), for it keeps what it tried, and connect it again. "
    "Should this machine never reach it, start the server with PDPP_CLIENT_DOCUMENTS=off; should the way lead through "
    "a proxy, name it in HTTPS_PROXY."
)
FRESH_SECONDS, FRESH_SECONDS_MIN, FRESH_SECONDS_MAX = 3600, 60, 24 * 3600
CLIENT_ID_CHARS, HOST_CHARS = 2000, 80


def register(services: Services, asked: Json) -> Client:
    if fault := registration_fault(asked):
        raise InvalidClientMetadata(f"{fault.path or '/'}: {fault.reference} {fault.says}.")
    client = decode_client(f"cli_{secrets.token_hex(8)}", asked, is_verified=False)
    _require_usable(client)
    with services.database.writing() as writer:
        forget(writer, services.now())
        keep_client(writer, client, iso(services.now()))
    return client


def client_of(services: Services, documents: WayOut, client_id: str | None) -> Client:
    """Whoever starts a flow; one that describes itself is read again when what is known of it is old.

    What was read before stands while its host is away.
    """
    stored = _stored(services, client_id)
    now = iso(services.now())
    if stored and (stored.fresh_until is None or now < stored.fresh_until or not documents.is_advertised):
        return stored.client
    if not (client_id and _is_document(client_id)):
        raise UnknownClient("No such client is known here.")
    if not documents.is_used:
        raise UnknownClient("This server reads no documents of clients, and knows this one by no other way.")
    try:
        return _read(services, documents.fetch, client_id, stored)
    except Away as trouble:
        if stored:
            return stored.client
        host = (urlsplit(client_id).hostname or "")[:HOST_CHARS]
        says = f"The client's document cannot be read. {trouble.message} The app describes itself at {host}."
        raise UnknownClient(says, remedy=AWAY_REMEDY if isinstance(trouble, NoWayOut) else LATER_REMEDY) from trouble


def known_client(services: Services, client_id: str | None) -> Client:
    """Whoever goes on with a flow. Raises InvalidClient: it may register, and start again."""
    stored = _stored(services, client_id)
    if stored is None:
        raise InvalidClient("No such client is known here.")
    return stored.client


def _stored(services: Services, client_id: str | None) -> StoredClient | None:
    if not client_id:
        raise InvalidOAuthRequest("client_id is missing.")
    with services.database.reading() as reading:
        return find_client(reading, client_id)


def _require_usable(client: Client) -> None:
    if REFRESH in client.grant_types and CODE not in client.grant_types:
        raise InvalidClientMetadata("refresh_token goes with authorization_code only.")
    if CODE in client.grant_types and not client.redirect_uris:
        raise InvalidRedirectUri("A client that uses codes names its redirect_uris.")
    for address in client.redirect_uris:
        if not is_acceptable(address):
            raise InvalidRedirectUri(
                "A redirect address is https, http on loopback, or of an application's own scheme with its domain in "
                "it, such as com.example.app:/callback; without user and fragment."
            )


def _is_document(client_id: str) -> bool:
    """An https address with a path, and nothing in it that two readers could read in two ways."""
    try:
        parts = urlsplit(client_id)
        _ = parts.port
    except ValueError:
        return False
    steps = parts.path.split("/")
    return (
        parts.scheme == "https"
        and bool(parts.hostname)
        and len(parts.path) > 1
        and not {".", ".."} & {*steps}
        and "@" not in parts.netloc
        and "#" not in client_id
        and len(client_id) <= CLIENT_ID_CHARS
        and client_id.isascii()
        and client_id.isprintable()
        and not {" ", "\\", '"', "<", ">"} & {*client_id}
    )


def _read(services: Services, fetch: Fetch, client_id: str, stored: StoredClient | None) -> Client:
    document, fresh_seconds = _fetched(fetch, client_id)
    if fault := document_fault(document):
        raise UnknownClient(f"The client's document is refused: {fault.path or '/'} {fault.says}.")
    if claimed_id(document) != client_id:
        raise UnknownClient("The client's document names another client_id than its own address.")
    client = decode_client(client_id, document, is_verified=True)
    try:
        _require_usable(client)
    except (InvalidClientMetadata, InvalidRedirectUri) as refusal:
        raise UnknownClient(f"The client's document is refused: {refusal.says}") from refusal
    told = orjson.dumps(pinned(document), option=orjson.OPT_SORT_KEYS)
    digest = hashlib.sha256(told).digest()
    now = services.now()
    fresh_until = iso(now + timedelta(seconds=fresh_seconds))
    with services.database.writing() as writer:
        forget(writer, now)
        if stored and stored.pinned != digest:  # whoever answers there now may be somebody else
            revoke_client(writer, client_id, iso(now))
        keep_client(writer, client, iso(now), fresh_until=fresh_until, pinned=digest)
    return client


def _fetched(fetch: Fetch, client_id: str) -> tuple[Json, int]:
    try:
        body, fresh_seconds = fetch(client_id)
        document = orjson.loads(body)
    except Away:
        raise
    except PdppError as trouble:
        raise UnknownClient(f"The client's document cannot be read. {trouble.message}") from trouble
    except orjson.JSONDecodeError as trouble:
        raise UnknownClient("The client's document is not JSON.") from trouble
    told = FRESH_SECONDS if fresh_seconds is None else fresh_seconds
    return document, min(max(told, FRESH_SECONDS_MIN), FRESH_SECONDS_MAX)
