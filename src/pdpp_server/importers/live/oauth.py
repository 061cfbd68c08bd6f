"""Tokens for a mailbox whose service takes no passwords: agreed to once on any device (RFC 8628), renewed ever after.

The client id is the owner's own: services give them to whoever asks, and we have none to give away.
"""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pdpp_server.errors import SourceUnavailable
from pdpp_server.importers.live.trouble import SourceTrouble
from pdpp_server.model.live import LiveSource
from pdpp_server.owner.live import LiveSources
from pdpp_server.port.exchange import AnyAnswer, Exchange
from pdpp_server.wire import connect as wire
from pdpp_server.wire.connect import Given, TokenService

PENDING, SLOW_DOWN = "authorization_pending", "slow_down"
SLOWER_SECONDS = 5
SERVICES = {
    "microsoft": TokenService(
        device="https://login.microsoftonline.com/common/oauth2/v2.0/devicecode",
        token="https://login.microsoftonline.com/common/oauth2/v2.0/token",
        scope="https://outlook.office.com/IMAP.AccessAsUser.All offline_access",
    )
}

ShowCode = Callable[[str, str], None]  # the address that the owner opens, and the code to type there


def agreed(
    service: TokenService,
    client_id: str,
    show: ShowCode,
    sleep: Callable[[float], None] = time.sleep,
    monotonic: Callable[[], float] = time.monotonic,
) -> Given:
    """The owner says yes on a page of the service. Raises: SourceTrouble."""
    asked = _asked(service.device, wire.encode_mail_device_request(client_id, service.scope))
    _require_given(asked)
    device = wire.decode_device(asked.body)
    show(device.address, device.user_code)
    pause, ends = device.pause_seconds, monotonic() + device.expires_seconds
    while monotonic() + pause < ends:
        sleep(pause)
        answered = _asked(service.token, wire.encode_poll(device.device_code, client_id))
        error = wire.decode_refused(answered.body).error
        if answered.status < 400 or error not in (PENDING, SLOW_DOWN):
            _require_given(answered)
            return _renewable(wire.decode_given(answered.body))
        pause += SLOWER_SECONDS if error == SLOW_DOWN else 0
    raise SourceTrouble("Nobody agreed on the page of the service in time.", remedy="Run it again.")


def secret_of(live: LiveSources, source: LiveSource) -> Callable[[], str]:
    """What opens that source: its password, or a token of this hour."""
    oauth: Mapping[str, Any] = source.settings.get("oauth") or {}
    if not oauth:
        return partial(live.secret, source.name)
    service = wire.decode_token_service(oauth)
    return partial(_renewed, live, source.name, service, str(oauth["client_id"]))


def _renewed(live: LiveSources, name: str, service: TokenService, client_id: str) -> str:
    """A service may give another refresh token each time, and the newest is kept. Raises: SourceTrouble."""
    refresh_token = live.secret(name)
    answered = _asked(service.token, wire.encode_refresh(refresh_token, client_id, None))
    _require_given(answered)
    given = wire.decode_given(answered.body)
    if given.refresh_token and given.refresh_token != refresh_token:
        live.keep_secret(name, given.refresh_token)
    return given.access_token


def _asked(url: str, form: Mapping[str, str]) -> AnyAnswer:
    try:
        exchange = Exchange(url, "")
    except ValueError as error:
        raise SourceTrouble(f"Tokens cannot be asked for at {url}.", remedy="Give an https address.") from error
    try:
        return exchange.answer(form=form)
    except SourceUnavailable as trouble:
        raise SourceTrouble(trouble.message, remedy="It is tried again by itself.") from trouble
    finally:
        exchange.close()


def _require_given(answered: AnyAnswer) -> None:
    if answered.status >= 400:
        error = wire.decode_refused(answered.body).error or str(answered.status)
        raise SourceTrouble(
            f"The service gives no token ({error[:60]}).",
            remedy="Check the client id; if you took the consent back there, stop the source and add it again.",
        )


def _renewable(given: Given) -> Given:
    if not given.refresh_token:
        raise SourceTrouble(
            "The service gives no refresh token, so it would have to be asked again every hour.",
            remedy="Add the scope by which it gives one (offline_access).",
        )
    return given
