"""What a client sends to another server's authorization, and reads of its answers: discovery, registration, tokens."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

import orjson

from pdpp_server.wire.envelope import Json, needed, objects_of, present, text_of, texts_of, whole_of
from pdpp_server.wire.oauth import OFFLINE_SCOPE, READ_SCOPE
from pdpp_server.wire.oauth_clients import CODE, DEVICE, GRANT_TYPES, REFRESH

SCOPE = f"{READ_SCOPE} {OFFLINE_SCOPE}"
PAUSE_SECONDS, CODE_SECONDS = 5, 600  # of a device, where the server says nothing (RFC 8628)


class ResourceFound(NamedTuple):
    """RFC 9728: who gives tokens for that address; only the first is asked."""

    resource: str
    authorization_server: str


class ServerFound(NamedTuple):
    """RFC 8414: where what is asked; None where a server lacks it."""

    issuer: str
    token: str
    authorize: str | None
    device: str | None
    register: str | None
    names_itself: bool  # in every redirect (RFC 9207)
    device_needs: frozenset[str] = frozenset()  # of a device that wants a client's token


class Given(NamedTuple):
    """What a token endpoint gave."""

    access_token: str
    expires_seconds: int | None
    refresh_token: str | None
    grant_id: str | None


class DeviceFound(NamedTuple):
    """RFC 8628: the code with which we poll, and what the owner is shown."""

    device_code: str
    user_code: str
    address: str
    expires_seconds: int
    pause_seconds: int


class TokenService(NamedTuple):
    """A service that gives tokens for something else than data of ours, such as a mailbox of its own."""

    token: str
    scope: str
    device: str | None = None  # where a device begins (RFC 8628)
    page: str | None = None  # where a browser on this machine does (RFC 8252)
    gives_secret: bool = False  # to programs too, which can keep none from whoever has them


class Renewing(NamedTuple):
    """What is kept of a consent: with it the next access token is asked for."""

    refresh_token: str
    client_secret: str = ""


class Returned(NamedTuple):
    """What a browser brought back."""

    code: str | None
    refused: "OAuthRefusal"
    state: str | None
    issuer: str | None


class OAuthRefusal(NamedTuple):
    """What OAuth says of a refusal; either may be missing."""

    error: str
    description: str


def decode_resource(body: Mapping[str, Any]) -> ResourceFound:
    servers = texts_of(body, "authorization_servers")
    server = needed(servers[0] if servers else None, "authorization server")
    return ResourceFound(needed(text_of(body, "resource"), "resource"), server)


def decode_server(body: Mapping[str, Any]) -> ServerFound:
    return ServerFound(
        needed(text_of(body, "issuer"), "issuer"),
        needed(text_of(body, "token_endpoint"), "token endpoint"),
        text_of(body, "authorization_endpoint"),
        text_of(body, "device_authorization_endpoint"),
        text_of(body, "registration_endpoint"),
        body.get("authorization_response_iss_parameter_supported") is True,
        frozenset(name for profile in _client_profiles(body) for name in texts_of(profile, "required_parameters")),
    )


def _client_profiles(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    profiles = objects_of(body, "pdpp_device_authorization_profiles_supported")
    return [profile for profile in profiles if text_of(profile, "pdpp_token_kind") == "client"]


def encode_registration(name: str, redirect_uri: str) -> Json:
    return {
        "client_name": name,
        "redirect_uris": [redirect_uri],
        "grant_types": [*GRANT_TYPES],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    }


def decode_registered(body: Mapping[str, Any]) -> str:
    return needed(text_of(body, "client_id"), "client_id")


def authorization_address(
    endpoint: str, client_id: str, resource: str, *, redirect_uri: str, state: str, challenge: str, details: str | None
) -> str:
    asked = _asking_for_a_code(client_id, redirect_uri, state, challenge)
    asked |= {"resource": resource, "scope": SCOPE, **present(authorization_details=details)}
    return f"{endpoint}?{urlencode(asked)}"


def _asking_for_a_code(client_id: str, redirect_uri: str, state: str, challenge: str) -> dict[str, str]:
    """With PKCE (RFC 7636)."""
    return {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        "state": state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }


def decode_returned(query: Mapping[str, str]) -> Returned:
    return Returned(query.get("code"), decode_refused(query), query.get("state"), query.get("iss"))


def encode_code(code: str, client_id: str, resource: str | None, *, redirect_uri: str, verifier: str) -> dict[str, str]:
    return {
        "grant_type": CODE,
        "code": code,
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        "code_verifier": verifier,
        **present(resource=resource),
    }


def encode_device_request(client_id: str, resource: str, details: str | None) -> dict[str, str]:
    asked = {"client_id": client_id, "resource": resource, "scope": SCOPE}
    return {**asked, **present(authorization_details=details)}


def encode_mail_device_request(client_id: str, scope: str) -> dict[str, str]:
    return {"client_id": client_id, "scope": scope}


def mail_authorization_address(
    page: str, client_id: str, scope: str, *, redirect_uri: str, state: str, challenge: str
) -> str:
    """With what Google wants to be asked for a refresh token; others pass over it (RFC 6749 section 3.1)."""
    asked = _asking_for_a_code(client_id, redirect_uri, state, challenge)
    asked |= {"scope": scope, "access_type": "offline", "prompt": "consent"}
    return f"{page}?{urlencode(asked)}"


def encode_client_secret(secret: str) -> dict[str, str]:
    return {"client_secret": secret} if secret else {}


def encode_renewing(renewing: Renewing) -> str:
    return orjson.dumps(renewing._asdict()).decode() if renewing.client_secret else renewing.refresh_token


def decode_renewing(kept: str) -> Renewing:
    return Renewing(**orjson.loads(kept)) if kept.startswith("{") else Renewing(kept)


def encode_token_service(service: TokenService) -> Json:
    return {
        **present(device_endpoint=service.device, authorization_endpoint=service.page),
        "token_endpoint": service.token,
        "scope": service.scope,
        **({"client_secret_given": True} if service.gives_secret else {}),
    }


def decode_token_service(body: Mapping[str, Any]) -> TokenService:
    device, page = text_of(body, "device_endpoint"), text_of(body, "authorization_endpoint")
    needed(device or page, "device or authorization endpoint")
    return TokenService(
        needed(text_of(body, "token_endpoint"), "token endpoint"),
        needed(text_of(body, "scope"), "scope"),
        device,
        page,
        body.get("client_secret_given") is True,
    )


def encode_mail_service(service: TokenService, client_id: str) -> Json:
    """Where a token for mail is renewed and by which client, as the settings of its source keep it."""
    return {**encode_token_service(service), "client_id": client_id}


def decode_mail_service(body: Mapping[str, Any]) -> tuple[TokenService, str]:
    return decode_token_service(body), needed(text_of(body, "client_id"), "client id")


def encode_poll(device_code: str, client_id: str) -> dict[str, str]:
    return {"grant_type": DEVICE, "device_code": device_code, "client_id": client_id}


def encode_refresh(refresh_token: str, client_id: str, resource: str | None) -> dict[str, str]:
    sent = {"grant_type": REFRESH, "refresh_token": refresh_token, "client_id": client_id}
    return {**sent, **present(resource=resource)}


def decode_device(body: Mapping[str, Any]) -> DeviceFound:
    address = text_of(body, "verification_uri_complete") or text_of(body, "verification_uri")
    return DeviceFound(
        needed(text_of(body, "device_code"), "device_code"),
        needed(text_of(body, "user_code"), "user_code"),
        needed(address, "address for the owner"),
        whole_of(body, "expires_in") or CODE_SECONDS,
        max(1, whole_of(body, "interval") or PAUSE_SECONDS),
    )


def decode_given(body: Mapping[str, Any]) -> Given:
    return Given(
        needed(text_of(body, "access_token"), "access_token"),
        whole_of(body, "expires_in"),
        text_of(body, "refresh_token"),
        text_of(body, "grant_id") or text_of(body, "grant_package_id"),
    )


def decode_refused(body: Mapping[str, Any]) -> OAuthRefusal:
    """Of anything else than an OAuth refusal, nothing."""
    return OAuthRefusal(text_of(body, "error") or "", text_of(body, "error_description") or "")
