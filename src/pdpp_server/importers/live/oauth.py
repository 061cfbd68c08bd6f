"""Tokens for a mailbox whose service takes no passwords: agreed to once on a page of its own, renewed ever after.

On any device with a code to type (RFC 8628), or in a browser on this machine (RFC 8252, PKCE). The client id is the
owner's own: services give them to whoever asks, and we have none to give away.
"""

import secrets
import time
from collections.abc import Callable, Mapping
from functools import partial
from hmac import compare_digest
from typing import Any, NamedTuple

from pdpp_server.errors import SourceUnavailable
from pdpp_server.importers.live.trouble import AGAIN, SourceTrouble
from pdpp_server.model.live import LiveSource
from pdpp_server.owner.live import LiveSources
from pdpp_server.port.callback import CallbackQuery, waiting
from pdpp_server.port.connect import challenge_of
from pdpp_server.port.exchange import AnyAnswer, Exchange
from pdpp_server.wire import connect as wire
from pdpp_server.wire.address import server_address
from pdpp_server.wire.connect import Renewing, TokenService

PENDING, SLOW_DOWN = "authorization_pending", "slow_down"
SLOWER_SECONDS = 5
WAIT_SECONDS = 600.0  # for the owner in front of a browser
SERVICES = {
    "microsoft": TokenService(
        token="https://login.microsoftonline.com/common/oauth2/v2.0/token",
        scope="https://outlook.office.com/IMAP.AccessAsUser.All offline_access",
        device="https://login.microsoftonline.com/common/oauth2/v2.0/devicecode",
        page="https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
    ),
    "google": TokenService(
        token="https://oauth2.googleapis.com/token",
        scope="https://mail.google.com/",
        page="https://accounts.google.com/o/oauth2/v2/auth",
        gives_secret=True,
    ),
}

ShowCode = Callable[[str, str], None]  # the address that the owner opens, and the code to type there; empty: none


class MailClient(NamedTuple):
    """The owner's own registration at a service."""

    client_id: str
    secret: str = ""


class Agreed(NamedTuple):
    """What the owner's consent gave."""

    access_token: str
    renewing: Renewing


def agreed(
    service: TokenService,
    client: MailClient,
    show: ShowCode,
    sleep: Callable[[float], None] = time.sleep,
    monotonic: Callable[[], float] = time.monotonic,
) -> Agreed:
    """The owner says yes on a page of the service, opened on any device. Raises: SourceTrouble."""
    if service.device is None:
        raise SourceTrouble("The service lets nobody agree on another device.", remedy="Use --browser.")
    asked = _asked(service.device, wire.encode_mail_device_request(client.client_id, service.scope))
    _require_given(asked)
    device = wire.decode_device(asked.body)
    show(device.address, device.user_code)
    pause, ends = device.pause_seconds, monotonic() + device.expires_seconds
    while monotonic() + pause < ends:
        sleep(pause)
        polled = wire.encode_poll(device.device_code, client.client_id)
        answered = _asked(service.token, {**polled, **wire.encode_client_secret(client.secret)})
        error = wire.decode_refused(answered.body).error
        if answered.status < 400 or error not in (PENDING, SLOW_DOWN):
            return _renewable(answered, client)
        pause += SLOWER_SECONDS if error == SLOW_DOWN else 0
    raise SourceTrouble("Nobody agreed on the page of the service in time.", remedy="Run it again.")


def agreed_in_browser(
    service: TokenService, client: MailClient, show: ShowCode, seconds: float = WAIT_SECONDS
) -> Agreed:
    """The same in a browser on this machine; the code is bound to this request by PKCE. Raises: SourceTrouble."""
    if service.page is None:
        raise SourceTrouble("The service has no page for a browser.", remedy="Leave --browser out.")
    _require_address(service.page)
    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
    with waiting() as callback:
        address = wire.mail_authorization_address(
            service.page,
            client.client_id,
            service.scope,
            redirect_uri=callback.address,
            state=state,
            challenge=challenge_of(verifier),
        )
        show(address, "")
        code = _code(callback.wait(seconds), state)
        sent = wire.encode_code(code, client.client_id, None, redirect_uri=callback.address, verifier=verifier)
    return _renewable(_asked(service.token, {**sent, **wire.encode_client_secret(client.secret)}), client)


def _code(came: CallbackQuery | None, state: str) -> str:
    if came is None:
        raise SourceTrouble("Nobody agreed on the page of the service in time.", remedy="Run it again.")
    returned = wire.decode_returned(came)
    if not compare_digest((returned.state or "").encode(), state.encode()):
        raise SourceTrouble("The browser brought an answer to another question.", remedy="Run it again.")
    if returned.code is None:
        raise _no_token(returned.refused.error or "no reason given")
    return returned.code


def secret_of(live: LiveSources, source: LiveSource) -> Callable[[], str]:
    """What opens that source: its password, or a token of this hour."""
    oauth: Mapping[str, Any] = source.settings.get("oauth") or {}
    if not oauth:
        return partial(live.secret, source.name)
    service, client_id = wire.decode_mail_service(oauth)
    return partial(_renewed, live, source.name, service, client_id)


def _renewed(live: LiveSources, name: str, service: TokenService, client_id: str) -> str:
    """A service may give another refresh token each time, and the newest is kept. Raises: SourceTrouble."""
    with live.renewing_secrets():
        renewing = wire.decode_renewing(live.secret(name))
        sent = wire.encode_refresh(renewing.refresh_token, client_id, None)
        answered = _asked(service.token, {**sent, **wire.encode_client_secret(renewing.client_secret)})
        _require_given(answered)
        given = wire.decode_given(answered.body)
        if given.refresh_token and given.refresh_token != renewing.refresh_token:
            live.keep_secret(name, wire.encode_renewing(renewing._replace(refresh_token=given.refresh_token)))
    return given.access_token


def _asked(url: str, form: Mapping[str, str]) -> AnyAnswer:
    _require_address(url)
    exchange = Exchange(url, "")
    try:
        return exchange.answer(form=form)
    except SourceUnavailable as trouble:
        raise SourceTrouble(trouble.message, remedy=AGAIN) from trouble
    finally:
        exchange.close()


def _require_address(url: str) -> None:
    try:
        server_address(url)
    except ValueError as error:
        raise SourceTrouble(f"Tokens cannot be asked for at {url}.", remedy="Give an https address.") from error


def _require_given(answered: AnyAnswer) -> None:
    if answered.status >= 400:
        raise _no_token(wire.decode_refused(answered.body).error or str(answered.status))


def _no_token(why: str) -> SourceTrouble:
    return SourceTrouble(
        f"The service gives no token ({why[:60]}).",
        remedy="Check the client id; if you took the consent back there, stop the source and add it again.",
    )


def _renewable(answered: AnyAnswer, client: MailClient) -> Agreed:
    _require_given(answered)
    given = wire.decode_given(answered.body)
    if not given.refresh_token:
        raise SourceTrouble(
            "The service gives no refresh token, so it would have to be asked again every hour.",
            remedy="Add the scope by which it gives one (offline_access).",
        )
    return Agreed(given.access_token, Renewing(given.refresh_token, client.secret))
