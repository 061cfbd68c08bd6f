"""The authorization endpoint (RFC 6749 section 4.1, PKCE), and requests that were pushed to it before (RFC 9126)."""

import re
import secrets
from datetime import timedelta

from pdpp_server.authorization_server.asking import ask_for, keep
from pdpp_server.authorization_server.consent import with_query
from pdpp_server.authorization_server.errors import (
    InvalidOAuthRequest,
    InvalidRequestUri,
    OAuthError,
    UnauthorizedClient,
    UnregisteredRedirectUri,
    UnsupportedResponseType,
)
from pdpp_server.authorization_server.redirects import is_registered
from pdpp_server.model.authorization import Ask, Client
from pdpp_server.model.times import iso
from pdpp_server.reads.services import Services
from pdpp_server.store.consent.asks import open_pushed
from pdpp_server.wire.oauth import REQUEST_URI, consent_address, encode_denial
from pdpp_server.wire.oauth_clients import CODE
from pdpp_server.wire.oauth_requests import AuthorizationRequest

ASK_SECONDS, PUSHED_SECONDS = 600, 300
_CHALLENGE = re.compile(r"[A-Za-z0-9._~-]{43,128}")


def authorize(services: Services, origin: str, client: Client, asked: AuthorizationRequest, *, is_owner: bool) -> str:
    """Where the browser goes next: to the owner, or back with what is wrong.

    Anybody can register an address and lead a browser here, so only the owner's own browser is sent there at once; for
    others the consent page comes first, or the refusal.

    Raises:
        OAuthError: it is not known yet that the client may be told, or that it is the owner who would be sent there.
    """
    if asked.request_uri is not None:
        return consent_address(origin, _opened(services, client, asked.request_uri))
    redirect_uri = _redirect(client, asked.redirect_uri)
    try:
        ask = _checked(services, origin, client, asked, redirect_uri, ASK_SECONDS)
        keep(services, ask)
    except OAuthError as refusal:
        if not is_owner:
            raise
        return with_query(redirect_uri, encode_denial(refusal.error, refusal.told, asked.state, origin))
    return consent_address(origin, ask.ask_id)


def push(services: Services, origin: str, client: Client, asked: AuthorizationRequest) -> str:
    """The address of the request, good once."""
    if asked.request_uri is not None:
        raise InvalidOAuthRequest("A pushed request cannot stand for another.")
    ask = _checked(services, origin, client, asked, _redirect(client, asked.redirect_uri), PUSHED_SECONDS)
    request_uri = f"{REQUEST_URI}{secrets.token_urlsafe(32)}"
    keep(services, ask, request_uri=request_uri)
    return request_uri


def _opened(services: Services, client: Client, request_uri: str) -> str:
    now = services.now()
    until = iso(now + timedelta(seconds=ASK_SECONDS))
    with services.database.writing() as writer:
        ask_id = open_pushed(writer, request_uri, client.client_id, now=iso(now), until=until)
    if ask_id is None:
        raise InvalidRequestUri("No request of this client waits there; each is good once, and not for long.")
    return ask_id


def _redirect(client: Client, redirect_uri: str | None) -> str:
    if redirect_uri is None or not is_registered(client, redirect_uri):
        raise UnregisteredRedirectUri("redirect_uri is none that this client registered.")
    return redirect_uri


def _checked(
    services: Services, origin: str, client: Client, asked: AuthorizationRequest, redirect_uri: str, seconds: int
) -> Ask:
    if CODE not in client.grant_types:
        raise UnauthorizedClient("This client did not register for codes.")
    if asked.response_type is None:
        raise InvalidOAuthRequest("response_type is missing.")
    if asked.response_type != "code":
        raise UnsupportedResponseType("response_type is code.")
    if asked.code_challenge_method != "S256" or not _CHALLENGE.fullmatch(asked.code_challenge or ""):
        raise InvalidOAuthRequest("PKCE is needed: a code_challenge, with code_challenge_method S256.")
    return ask_for(services, origin, client, asked, lives=timedelta(seconds=seconds), redirect_uri=redirect_uri)
