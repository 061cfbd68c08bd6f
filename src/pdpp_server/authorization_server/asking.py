"""From a client's request to an ask that waits for the owner: what every way of asking checks alike."""

import secrets
from datetime import timedelta

from pdpp_server.authorization_server.errors import InvalidDetails, InvalidTarget, TemporarilyUnavailable
from pdpp_server.authorization_server.resources import audience_of, reads_one_source
from pdpp_server.errors import InvalidAuthorizationDetails, InvalidRequest
from pdpp_server.grants.issue import ceiling
from pdpp_server.model.authorization import Ask, Client
from pdpp_server.model.selections import Selection
from pdpp_server.model.times import iso
from pdpp_server.reads.services import Services
from pdpp_server.store.consent.asks import count_of_one, count_of_strangers, keep_ask
from pdpp_server.store.consent.forget import forget
from pdpp_server.store.consent.grants import was_given_anything
from pdpp_server.store.consent.offers import declaration_of, eligible
from pdpp_server.store.consent.resource_servers import addresses_elsewhere
from pdpp_server.wire.oauth_requests import AuthorizationRequest, decode_details

# What waits for the owner. Strangers share their room, and take none from a client that the owner let in before.
ASKS_OF_STRANGERS, ASKS_OF_ONE = 2000, 200


def ask_for(
    services: Services,
    origin: str,
    client: Client,
    asked: AuthorizationRequest,
    *,
    lives: timedelta,
    redirect_uri: str | None = None,
    user_code: str | None = None,
) -> Ask:
    audience = _audience(services, origin, asked.resource)
    return Ask(
        ask_id=secrets.token_urlsafe(24),
        client=client,
        selections=_selections(services, asked.details, one_source=reads_one_source(audience)),
        resource=asked.resource,
        expires_at=iso(services.now() + lives),
        redirect_uri=redirect_uri,
        state=asked.state,
        code_challenge=asked.code_challenge if redirect_uri else None,
        user_code=user_code,
        issuer=origin,
    )


def keep(
    services: Services,
    ask: Ask,
    *,
    request_uri: str | None = None,
    device_code: str | None = None,
    pause_seconds: int = 0,
) -> None:
    """Raises TemporarilyUnavailable: so much waits already that no owner will ever read it."""
    client_id, now = ask.client.client_id, iso(services.now())
    with services.database.writing() as writer:
        forget(writer, services.now())
        if was_given_anything(writer, client_id):
            is_full = count_of_one(writer, client_id, now) >= ASKS_OF_ONE
        else:
            is_full = count_of_strangers(writer, now) >= ASKS_OF_STRANGERS
        if is_full:
            raise TemporarilyUnavailable("Too many requests wait for the owner.")
        keep_ask(writer, ask, request_uri=request_uri, device_code=device_code, pause_seconds=pause_seconds)


def _audience(services: Services, origin: str, resource: str | None) -> str | None:
    try:
        with services.database.reading() as reading:
            return audience_of(origin, addresses_elsewhere(reading), resource)
    except KeyError:
        raise InvalidTarget("The resource is no address of this server, nor of another that it knows.") from None


def _selections(services: Services, details: object, *, one_source: bool) -> tuple[Selection, ...]:
    """Each is held against the declaration of now, so that the owner is asked for nothing that cannot be granted."""
    try:
        selections = decode_details(details)
        with services.database.reading() as reading:
            for selection in selections:
                declaration = declaration_of(reading, selection.source_id)
                ceiling(selection, declaration, eligible(reading, declaration))
    except (InvalidAuthorizationDetails, InvalidRequest) as refusal:
        raise InvalidDetails(refusal.message) from refusal
    if len(selections) > 1 and one_source:
        raise InvalidDetails("At this resource a token reads one source; ask for several at our own MCP endpoint.")
    if len({selection.access_mode for selection in selections}) > 1:
        raise InvalidDetails("All sources of one request have the same access_mode.")
    return selections
