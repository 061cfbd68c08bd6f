"""Routes and the OAuth exception handler. Every handler is the same few lines: parse, serve, encode."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import orjson
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from pdpp_server.authorization_server import authorize, device, introspect, revoke, tokens
from pdpp_server.authorization_server.clients import client_of, register
from pdpp_server.authorization_server.errors import (
    InvalidOAuthRequest,
    NotAResourceServer,
    OAuthError,
    TemporarilyUnavailable,
    TooManyTries,
    WrongMethod,
)
from pdpp_server.authorization_server.icon import SVG
from pdpp_server.authorization_server.way_out import Fetch, WayOut
from pdpp_server.errors import PdppError, RateLimited
from pdpp_server.http.bodies import body_of
from pdpp_server.http.headers import bearer_of
from pdpp_server.http.heard import HeardRequest
from pdpp_server.http.kernel import Kernel
from pdpp_server.http.limiter import InWindow, Limiter
from pdpp_server.http.people import Trouble
from pdpp_server.http.visitors import visitor
from pdpp_server.model.authorization import Client
from pdpp_server.reads.services import Services
from pdpp_server.store.consent.grants import was_given_anything
from pdpp_server.wire import discovery, oauth, oauth_requests, oauth_tokens
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.oauth_clients import encode_registered

# To register, and to ask the owner: of one address, and of all to whom nothing was ever given.
TRIES, TRIES_OF_STRANGERS = InWindow(120, 600), InWindow(1200, 600)
OWNER = "the owner's own browser"
NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}


class Sent(NamedTuple):
    """One request as its handler sees it."""

    origin: str
    address: str  # of whoever sent it
    parameters: Json
    headers: Headers
    path: dict[str, str]
    is_owner: Callable[[], bool]  # whether it comes from a browser in which the owner is signed in

    @property
    def payer(self) -> str:
        """Whose tries these are. A page in a browser is not one of the programs on the same machine."""
        return f"pages at {self.address}" if "sec-fetch-site" in self.headers else self.address


OAuthHandler = Callable[["AuthorizationServer", Sent], Response]


@dataclass(frozen=True, slots=True)
class OAuthEndpoint:
    method: str
    path: str
    operation: str
    handle: OAuthHandler
    is_oauth: bool = True  # or it is refused like the requests of the resource server


class AuthorizationServer:
    """`fetch` reads what clients say of themselves; `is_owner` knows the browser in which the owner is signed in."""

    def __init__(
        self, services: Services, kernel: Kernel, fetch: Fetch, is_owner: Callable[[HeardRequest], bool]
    ) -> None:
        self.services, self._kernel, self._is_owner = services, kernel, is_owner
        self.documents = WayOut(fetch, services.now, is_used=kernel.settings.client_documents)
        now, ledger = services.now, services.ledger
        self._registrations = Limiter(TRIES, now, strangers=TRIES_OF_STRANGERS, ledger=ledger("registrations"))
        self._asks = Limiter(TRIES, now, strangers=TRIES_OF_STRANGERS, ledger=ledger("asks"))
        self._asks_of_known = Limiter(TRIES, now, ledger=ledger("asks of known"))

    def routes(self) -> list[Route]:
        """From a client's request to its token. Where tokens are given elsewhere, only what our answers refer to."""
        is_elsewhere = self.services.introspect is not None
        served = [each for each in ENDPOINTS if not is_elsewhere or each.path == discovery.ICON]
        return [self._kernel.route(each.path, each.operation, partial(self._answer, each)) for each in served]

    def client_who_asks(self, sent: Sent, client_id: str | None) -> Client:
        """Whoever wants the owner's attention has it so often, and no more. What strangers ask takes nothing from a
        client that the owner let in before, nor from the owner."""
        if sent.is_owner():
            _take(self._asks_of_known, OWNER)
        elif client_id and self._was_let_in(client_id):
            _take(self._asks_of_known, f"{client_id} at {sent.payer}")
        else:
            _take(self._asks, sent.payer)
        return client_of(self.services, self.documents, client_id)

    def count_registration(self, sent: Sent) -> None:
        _take(self._registrations, sent.payer)

    def know(self, sent: Sent) -> None:
        """Somebody whom the owner let in asks from there: what strangers spend together does not concern them."""
        self._registrations.know(sent.payer)
        self._asks.know(sent.payer)

    def _was_let_in(self, client_id: str) -> bool:
        with self.services.database.reading() as reading:
            return was_given_anything(reading, client_id)

    async def _answer(self, endpoint: OAuthEndpoint, request: HeardRequest) -> Response:
        if request.method != endpoint.method and (request.method, endpoint.method) != ("HEAD", "GET"):
            if not endpoint.is_oauth:
                raise HTTPException(405, headers={"Allow": endpoint.method})
            return await self._refused(request, WrongMethod(endpoint.method))
        try:
            sent = await self._sent(request)
            return await self._kernel.threads.flow(partial(endpoint.handle, self, sent))
        except OAuthError as refusal:
            return await self._refused(request, refusal)
        except PdppError as refusal:
            if not endpoint.is_oauth:
                raise
            if refusal.status < 500:
                return await self._refused(request, InvalidOAuthRequest(refusal.message))
            return await self._refused(request, TemporarilyUnavailable(refusal.message), refusal.retry_after_seconds)

    async def _refused(self, request: HeardRequest, refusal: OAuthError, wait: int = 0) -> Response:
        request.course.code = refusal.error
        headers = dict(NO_STORE)
        if isinstance(refusal, NotAResourceServer):
            headers["WWW-Authenticate"] = 'Basic realm="introspection"'
        if isinstance(refusal, WrongMethod):
            headers["Allow"] = refusal.taken
        if seconds := refusal.seconds if isinstance(refusal, TooManyTries) else wait:
            headers["Retry-After"] = str(seconds)
        trouble = Trouble(refusal.says, refusal.remedy, refusal.error, refusal.status, headers)
        body = oauth.encode_error(refusal.error, refusal.told, refusal.extra)
        return await self._kernel.told(request, trouble, _json(body, refusal.status, headers))

    async def _sent(self, request: HeardRequest) -> Sent:
        return Sent(
            self._kernel.origin_of(request),
            visitor(request.client.host) if request.client else "",
            await self._parameters(request),
            request.headers,
            dict(request.path_params),
            partial(self._is_owner, request),
        )

    async def _parameters(self, request: HeardRequest) -> Json:
        try:
            if request.method != "POST":
                return oauth_requests.decode_form(request.scope["query_string"])
            body = await body_of(request, oauth_requests.BODY_BYTES)
            return oauth_requests.decode_body(body, request.headers.get("content-type", ""))
        except (ValueError, RecursionError) as trouble:
            raise InvalidOAuthRequest("The request is no form, or names a parameter twice.") from trouble


# Handlers ---------------------------------------------------------------------------------------------------------


def handle_metadata(server: AuthorizationServer, sent: Sent) -> Response:
    return _json(discovery.encode_authorization_server(sent.origin, documents=server.documents.is_advertised))


def handle_icon(_: AuthorizationServer, __: Sent) -> Response:
    return Response(SVG, media_type="image/svg+xml", headers={"Cache-Control": "public, max-age=86400"})


def handle_registration(server: AuthorizationServer, sent: Sent) -> Response:
    server.count_registration(sent)
    client = register(server.services, sent.parameters)
    issued_at = int(server.services.now().timestamp())
    return _json(encode_registered(client, sent.parameters, issued_at), 201, NO_STORE)


def handle_push(server: AuthorizationServer, sent: Sent) -> Response:
    asked = oauth_requests.decode_authorization(sent.parameters)
    client = server.client_who_asks(sent, asked.client_id)
    pushed = authorize.push(server.services, sent.origin, client, asked)
    return _json(oauth_tokens.encode_pushed(pushed, authorize.PUSHED_SECONDS), 201, NO_STORE)


def handle_authorization(server: AuthorizationServer, sent: Sent) -> Response:
    if sent.headers.get("sec-fetch-dest", "document") != "document":
        raise InvalidOAuthRequest("This address is opened in a window of a browser, and not from inside a page.")
    asked = oauth_requests.decode_authorization(sent.parameters)
    client = server.client_who_asks(sent, asked.client_id)
    leads_to = authorize.authorize(server.services, sent.origin, client, asked, is_owner=sent.is_owner())
    return RedirectResponse(leads_to, 302, NO_STORE)


def handle_device(server: AuthorizationServer, sent: Sent) -> Response:
    asked = oauth_requests.decode_authorization(sent.parameters)
    client = server.client_who_asks(sent, asked.client_id)
    begun = device.begin(server.services, sent.origin, client, asked)
    return _json(oauth_tokens.encode_device_code(begun, sent.origin), 200, NO_STORE)


def handle_token(server: AuthorizationServer, sent: Sent) -> Response:
    asked = oauth_requests.decode_token_request(sent.parameters)
    issued = tokens.give(server.services, sent.origin, asked)
    server.know(sent)
    return _json(oauth_tokens.encode_issued(issued), 200, NO_STORE)


def handle_revocation(server: AuthorizationServer, sent: Sent) -> Response:
    revoke.revoke_known(server.services, oauth_requests.decode_about(sent.parameters))
    return Response(status_code=200, headers=NO_STORE)


def handle_grant_revocation(server: AuthorizationServer, sent: Sent) -> Response:
    revoke.revoke_grant(server.services, bearer_of(sent.headers), sent.path["grant_id"])
    return _json(oauth_tokens.REVOKED, 200, NO_STORE)


def handle_introspection(server: AuthorizationServer, sent: Sent) -> Response:
    asker = introspect.require_resource_server(server.services, sent.headers.get("authorization", ""))
    asked = oauth_requests.decode_about(sent.parameters)
    return _json(introspect.introspect(server.services, sent.origin, asked, asker), 200, NO_STORE)


ENDPOINTS = (
    OAuthEndpoint("GET", discovery.SERVER_METADATA, "authorization_server_metadata", handle_metadata),
    OAuthEndpoint(
        "GET", f"{discovery.SERVER_METADATA}{discovery.MCP}", "authorization_server_metadata", handle_metadata
    ),
    OAuthEndpoint("GET", discovery.ICON, "icon", handle_icon),
    OAuthEndpoint("POST", discovery.REGISTER, "register", handle_registration),
    OAuthEndpoint("POST", discovery.PUSH, "push", handle_push),
    OAuthEndpoint("GET", discovery.AUTHORIZE, "authorize", handle_authorization),
    OAuthEndpoint("POST", discovery.DEVICE, "device_authorization", handle_device),
    OAuthEndpoint("POST", discovery.TOKEN, "token", handle_token),
    OAuthEndpoint("POST", discovery.REVOKE, "revoke", handle_revocation),
    OAuthEndpoint("POST", "/grants/{grant_id}/revoke", "revoke_grant", handle_grant_revocation, is_oauth=False),
    OAuthEndpoint("POST", discovery.INTROSPECT, "introspect", handle_introspection),
)


# Answers ----------------------------------------------------------------------------------------------------------


def _take(limiter: Limiter, whose: str) -> None:
    try:
        limiter.take(whose)
    except RateLimited as refusal:
        raise TooManyTries(refusal.retry_after_seconds) from refusal


def _json(body: Json, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(orjson.dumps(body), status, headers, "application/json")
