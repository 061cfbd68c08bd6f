"""From the address of a server to a token of it: discovery, registration, and the owner's consent there."""

import hashlib
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from hmac import compare_digest
from typing import NamedTuple
from urllib.parse import urlsplit

from pdpp_server.errors import PermissionDenied, SourceUnavailable, Unauthenticated
from pdpp_server.evidence.text import clip_shown
from pdpp_server.port.callback import REDIRECT, CallbackQuery, waiting
from pdpp_server.port.exchange import AnyAnswer, Bounds, Exchange
from pdpp_server.wire import connect as wire
from pdpp_server.wire.address import is_same, server_address
from pdpp_server.wire.connect import Given, OAuthRefusal, ServerFound
from pdpp_server.wire.credentials import Renewal
from pdpp_server.wire.discovery import RESOURCE_METADATA, SERVER_METADATA
from pdpp_server.wire.envelope import Json

BOUNDS, RENEWAL_BOUNDS = Bounds(seconds=10, body_bytes=256 * 1024), Bounds(seconds=30, body_bytes=256 * 1024)
SLOWER_SECONDS = 5  # what a device adds when it is told to slow down (RFC 8628)
PENDING, SLOW_DOWN, UNKNOWN_CLIENT = "authorization_pending", "slow_down", "invalid_client"
ERROR_CHARS, DESCRIPTION_CHARS = 60, 300  # of another's refusal
DETAILS = "authorization_details"
NOBODY = "Run it again, open the address, and say yes or no there."

Tell = Callable[[str, str | None], None]  # the address that the owner opens, and the code to compare on a device


class Server(NamedTuple):
    """A server that was asked who it is: the address that tokens are for, and where they are given."""

    address: str
    resource: str
    found: ServerFound


def discover(address: str) -> Server:
    """`address` is one that `server_address` gave, and what is found must be about it.

    Raises SourceUnavailable: it cannot be asked, or speaks of another.
    """
    resource = wire.decode_resource(_document(_resource_documents(address), beside=address))
    if not is_same(address, resource.resource):
        raise _lie("says that its address is another one")
    issuer = resource.authorization_server
    found = wire.decode_server(_document([_inserted(issuer, SERVER_METADATA)], beside=address))
    if found.issuer != issuer:
        raise _lie("leads to an authorization server that calls itself otherwise")
    for endpoint in (found.token, found.authorize, found.device, found.register):
        _safe(endpoint or address, beside=address)
    return Server(address, resource.resource, found)


def register(server: Server, name: str, known: str | None = None) -> str:
    """The id of a client of that server: the known one while it is known there too, else a new one."""
    if known and _knows(server, known):
        return known
    if server.found.register is None:
        raise SourceUnavailable(
            "The server registers no clients.", remedy="Name an id that it knows with --client-id, if you have one."
        )
    answered = _ask(server, server.found.register, document=wire.encode_registration(name, REDIRECT))
    _require_given(answered)
    return wire.decode_registered(answered.body)


def by_browser(server: Server, client_id: str, tell: Tell, seconds: float, *, details: str | None = None) -> Given:
    """A code through a browser on this machine (RFC 8252), bound to this one request by PKCE and `state`."""
    if server.found.authorize is None:
        raise SourceUnavailable("The server has no page for that.", remedy="Try --device.")
    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
    with waiting() as callback:
        address = wire.authorization_address(
            server.found.authorize,
            client_id,
            server.resource,
            redirect_uri=callback.address,
            state=state,
            challenge=challenge_of(verifier),
            details=details,
        )
        tell(address, None)
        code = _code(server, callback.wait(seconds), state)
        sent = wire.encode_code(code, client_id, server.resource, redirect_uri=callback.address, verifier=verifier)
    return _given(_ask(server, server.found.token, form=sent))


def challenge_of(verifier: str) -> str:
    """S256 of PKCE (RFC 7636)."""
    return urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def by_device(
    server: Server,
    client_id: str,
    tell: Tell,
    seconds: float,
    *,
    details: str | None = None,
    sleep: Callable[[float], None] = time.sleep,
    monotonic: Callable[[], float] = time.monotonic,
) -> Given:
    """For a machine without a browser: the owner says yes on another (RFC 8628)."""
    if server.found.device is None:
        raise SourceUnavailable("The server has no device flow.", remedy="Connect without --device.")
    if DETAILS in server.found.device_needs and details is None:
        raise SourceUnavailable(
            "The server's device flow wants to know what will be read.",
            remedy="Name it with --selection FILE, or connect without --device and choose on its page.",
        )
    asked = wire.encode_device_request(client_id, server.resource, details)
    answered = _ask(server, server.found.device, form=asked)
    _require_given(answered)
    device = wire.decode_device(answered.body)
    tell(device.address, device.user_code)
    pause, ends = device.pause_seconds, monotonic() + min(seconds, device.expires_seconds)
    while monotonic() + pause < ends:
        sleep(pause)
        answered = _ask(server, server.found.token, form=wire.encode_poll(device.device_code, client_id))
        error = wire.decode_refused(answered.body).error
        if answered.status < 400 or error not in (PENDING, SLOW_DOWN):
            return _given(answered)
        pause += SLOWER_SECONDS if error == SLOW_DOWN else 0
    raise SourceUnavailable("Nobody decided in time.", remedy=NOBODY)


def renew(renewal: Renewal) -> Given:
    """The next tokens of a credential. Raises Unauthenticated: there are none, the owner has to be asked again."""
    saved = renewal.saved
    assert saved.token_endpoint is not None
    sent = wire.encode_refresh(renewal.refresh_token, saved.client_id, saved.resource)
    answered = _asked(saved.token_endpoint, RENEWAL_BOUNDS, beside=saved.provider_url, form=sent)
    refused = wire.decode_refused(answered.body)
    if 400 <= answered.status < 500 and refused.error:
        raise Unauthenticated(f"The server renews this token no more: {_said(refused)}.")
    return _given(answered)


# Checks -----------------------------------------------------------------------------------------------------------


def _code(server: Server, came: CallbackQuery | None, state: str) -> str:
    """What came back is believed only if it answers our request, and comes from whom we asked (RFC 9207)."""
    if came is None:
        raise SourceUnavailable("Nobody came back from the browser in time.", remedy=NOBODY)
    returned = wire.decode_returned(came)
    if not compare_digest((returned.state or "").encode(), state.encode()):
        raise _lie("sent back an answer to a question that was not asked")
    if returned.issuer != server.found.issuer and (returned.issuer is not None or server.found.names_itself):
        raise _lie("sent back an answer in another server's name")
    if returned.code is None:
        raise _denied(returned.refused)
    return returned.code


def _knows(server: Server, client_id: str) -> bool:
    """Asked with a token that nobody has: what matters is which of the two is called wrong."""
    answered = _ask(server, server.found.token, form=wire.encode_refresh("none", client_id, None))
    return wire.decode_refused(answered.body).error != UNKNOWN_CLIENT


def _given(answered: AnyAnswer) -> Given:
    _require_given(answered)
    return wire.decode_given(answered.body)


def _require_given(answered: AnyAnswer) -> None:
    if answered.status >= 400:
        raise _denied(wire.decode_refused(answered.body))


def _denied(refused: OAuthRefusal) -> PermissionDenied:
    if refused.error == "access_denied":
        return PermissionDenied("The owner said no.", remedy="Nothing was saved.")
    return PermissionDenied(f"The server refused: {_said(refused)}.", remedy="Nothing was saved.")


def _said(refused: OAuthRefusal) -> str:
    """In the other side's words, on one visible line."""
    parts = (clip_shown(refused.error, ERROR_CHARS), clip_shown(refused.description, DESCRIPTION_CHARS).rstrip("."))
    return ": ".join(part for part in parts if part) or "it did not say why"


def _lie(what: str) -> SourceUnavailable:
    return SourceUnavailable(f"The server {what}.", remedy="Nothing was saved. Check the address that you typed.")


# Questions --------------------------------------------------------------------------------------------------------


def _resource_documents(address: str) -> list[str]:
    """Where RFC 9728 puts it, then where servers under a path put it that do not follow that."""
    return list(dict.fromkeys([_inserted(address, RESOURCE_METADATA), f"{address}{RESOURCE_METADATA}"]))


def _inserted(address: str, well_known: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}{well_known}{parts.path.rstrip('/')}"


def _document(places: list[str], *, beside: str) -> Json:
    for place in places:
        answered = _asked(place, BOUNDS, beside=beside)
        if answered.status == 200:
            return answered.body
    raise SourceUnavailable("The server does not say who gives its tokens.", remedy="Is that a PDPP server's address?")


def _ask(server: Server, url: str, **sent: Json) -> AnyAnswer:
    return _asked(url, BOUNDS, beside=server.address, **sent)


def _asked(url: str, bounds: Bounds, *, beside: str, **sent: Json) -> AnyAnswer:
    exchange = Exchange(_safe(url, beside=beside), "", bounds, plain_http=True)
    try:
        return exchange.answer(**sent)
    finally:
        exchange.close()


def _safe(url: str, *, beside: str) -> str:
    """Without TLS only the very host is asked that was named so; others cannot lead there, nor to this machine."""
    try:
        address = server_address(url, plain_http=True)
    except ValueError:
        raise _lie("leads to something that is no address") from None
    named, typed = urlsplit(address), urlsplit(beside)
    if named.scheme == "http" and (typed.scheme, typed.hostname) != ("http", named.hostname):
        raise _lie("leads to an address without TLS")
    return address
