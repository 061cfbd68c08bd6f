"""Device authorization (RFC 8628): for clients that no browser comes back to."""

import secrets
from datetime import timedelta

from pdpp_server.authorization_server.asking import ask_for, keep
from pdpp_server.authorization_server.consent import waiting
from pdpp_server.authorization_server.errors import UnauthorizedClient
from pdpp_server.errors import NotFound
from pdpp_server.model.authorization import Ask, Client, DeviceCode
from pdpp_server.reads.services import Services
from pdpp_server.store.consent.asks import ask_of_user_code
from pdpp_server.wire.oauth_clients import DEVICE
from pdpp_server.wire.oauth_requests import AuthorizationRequest

CODE_SECONDS, PAUSE_SECONDS = 600, 2
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"  # no vowels, so no words; and nothing that looks like something else
HALF = 4


def begin(services: Services, origin: str, client: Client, asked: AuthorizationRequest) -> DeviceCode:
    if DEVICE not in client.grant_types:
        raise UnauthorizedClient("This client did not register for the device flow.")
    user_code = "-".join("".join(secrets.choice(LETTERS) for _ in range(HALF)) for _ in range(2))
    device_code = secrets.token_urlsafe(32)
    ask = ask_for(
        services, origin, client, asked, lives=timedelta(seconds=CODE_SECONDS), user_code=user_code.replace("-", "")
    )
    keep(services, ask, device_code=device_code, pause_seconds=PAUSE_SECONDS)
    return DeviceCode(device_code, user_code, CODE_SECONDS, PAUSE_SECONDS)


def ask_of(services: Services, user_code: str) -> Ask:
    """Raises NotFound: no device shows that code, or no longer."""
    typed = "".join(letter for letter in user_code.upper() if letter in LETTERS)
    with services.database.reading() as reading:
        ask_id = ask_of_user_code(reading, typed)
    if ask_id is None:
        raise NotFound("No device waits with that code.", remedy="Compare it with the one that the device shows.")
    return waiting(services, ask_id)
