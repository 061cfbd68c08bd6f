"""The file in which a client's credential is kept, with what is needed to renew it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pdpp_server.wire.connect import Given
from pdpp_server.wire.envelope import Json, object_of, present, text_of
from pdpp_server.wire.oauth import READ_SCOPE


class Saved(NamedTuple):
    """Whose token it is. Without a token endpoint it is one of this home, which renews it by itself."""

    provider_url: str
    authorization_server: str
    client_id: str
    client_name: str
    resource: str | None = None
    token_endpoint: str | None = None


class Renewal(NamedTuple):
    """What renewing takes."""

    saved: Saved
    refresh_token: str
    grant_id: str | None


def encode_credential(saved: Saved, given: Given, *, expires_at: str | None, now: str) -> Json:
    return {
        "provider_url": saved.provider_url,
        "authorization_server": saved.authorization_server,
        **present(resource=saved.resource, token_endpoint=saved.token_endpoint),
        "scope": READ_SCOPE,
        "client": {
            "client_id": saved.client_id,
            "client_name": saved.client_name,
            "token_endpoint_auth_method": "none",
        },
        "credential": {
            "access_token": given.access_token,
            "token_type": "Bearer",
            "expires_at": expires_at,
            **present(refresh_token=given.refresh_token, grant_id=given.grant_id),
            "scope": READ_SCOPE,
        },
        "created_at": now,
    }


def decode_saved(document: Any) -> Saved | None:
    """None where the file has another shape."""
    body = _object(document)
    client = object_of(body, "client")
    provider, client_id = text_of(body, "provider_url"), text_of(client, "client_id")
    if provider is None or client_id is None:
        return None
    return Saved(
        provider,
        text_of(body, "authorization_server") or provider,
        client_id,
        text_of(client, "client_name") or client_id,
        text_of(body, "resource"),
        text_of(body, "token_endpoint"),
    )


def decode_renewal(document: Any) -> Renewal | None:
    saved = decode_saved(document)
    refresh_token = text_of(object_of(_object(document), "credential"), "refresh_token")
    return Renewal(saved, refresh_token, granted_id(document)) if saved and refresh_token else None


def granted_id(document: Any) -> str | None:
    """The grant or package that the credential reads by."""
    return text_of(object_of(_object(document), "credential"), "grant_id")


def _object(document: Any) -> Mapping[str, Any]:
    return object_of({"document": document}, "document")
