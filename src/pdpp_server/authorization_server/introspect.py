"""Introspection (RFC 7662) for a resource server elsewhere: one answer says everything that a token may do."""

import re
import secrets
from base64 import b64decode
from binascii import Error as NoBase64

from pdpp_server.authorization_server.errors import InvalidOAuthRequest, NotAResourceServer
from pdpp_server.authorization_server.resources import addresses_of
from pdpp_server.errors import InvalidRequest
from pdpp_server.grants.lifecycle import GrantState, TokenState
from pdpp_server.model.grants import SUBJECT
from pdpp_server.model.times import iso
from pdpp_server.reads.services import Services
from pdpp_server.store.consent.families import is_of_ended_family
from pdpp_server.store.consent.resource_servers import (
    KnownResourceServer,
    addresses_elsewhere,
    find_resource_server,
    keep_resource_server,
)
from pdpp_server.store.consent.tokens import states_of, token_row
from pdpp_server.store.digests import token_digest
from pdpp_server.store.engine import Reading
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.oauth_requests import AboutToken
from pdpp_server.wire.oauth_tokens import (
    INACTIVE,
    TokenStanding,
    encode_client_token,
    encode_inactive,
    encode_owner_token,
    encode_package_token,
)

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def name_resource_server(services: Services, server: KnownResourceServer) -> str:
    """Its secret, which is shown here and never again.

    Raises InvalidRequest: the name cannot stand before a colon, or the address is somebody else's.
    """
    name, address = server
    if not _NAME.fullmatch(name):
        raise InvalidRequest("A name has up to 64 of a-z, 0-9, `.`, `_` and `-`, and begins with one of the first two.")
    secret = secrets.token_urlsafe(32)
    with services.database.writing() as writer:
        if any(taken == address and other != name for other, taken in addresses_elsewhere(writer).items()):
            raise InvalidRequest("Another resource server has that address.", param="address")
        keep_resource_server(writer, server, secret, iso(services.now()))
    return secret


def require_resource_server(services: Services, authorization: str) -> KnownResourceServer:
    """HTTP Basic, of a server that the owner named."""
    scheme, _, credentials = authorization.partition(" ")
    try:
        name, _, secret = b64decode(credentials.strip(), validate=True).decode().partition(":")
    except (NoBase64, UnicodeDecodeError):
        name = secret = ""
    with services.database.reading() as reading:
        server = find_resource_server(reading, name, secret)
    if scheme.lower() != "basic" or server is None:
        raise NotAResourceServer("Only resource servers that the owner named may ask about tokens.")
    return server


def introspect(services: Services, origin: str, asked: AboutToken, server: KnownResourceServer) -> Json:
    """Of a client's token that is not for the server that asks, nothing is told; not even why."""
    if not asked.token:
        raise InvalidOAuthRequest("token is missing.")
    digest, now = token_digest(asked.token), iso(services.now())
    with services.database.reading() as reading:
        row = token_row(reading, digest)
        if row is None:
            return INACTIVE
        token, grants = states_of(reading, row)
        addresses = addresses_of(token.audience, origin, server)
        if token.kind != "owner" and not addresses:
            return INACTIVE
        ended = is_of_ended_family(reading, digest)
        reason = _inactive(token, grants, now, family_ended=ended)
        if reason:
            return encode_inactive(reason)
        return _told(services, reading, TokenStanding(token.expires_at, origin, addresses), token, grants, now)


def _inactive(token: TokenState, grants: list[GrantState], now: str, *, family_ended: bool) -> str | None:
    if token.revoked_at is not None:
        return "refresh_family_revoked" if family_ended else "token_revoked"
    if token.expires_at is not None and token.expires_at <= now:
        return "token_expired"
    words = {grant.word(now) for grant in grants}
    if token.kind == "owner" or "active" in words:
        return None
    return "package_revoked" if token.package_id else f"grant_{words.pop()}"


def _told(
    services: Services, reading: Reading, standing: TokenStanding, token: TokenState, states: list[GrantState], now: str
) -> Json:
    if token.kind == "owner":
        return encode_owner_token(SUBJECT, token.expires_at)
    alive = [services.shelf.get(reading, state.grant_id) for state in states if state.word(now) == "active"]
    if token.package_id:
        return encode_package_token(token.package_id, alive, standing)
    return encode_client_token(alive[0], standing)
