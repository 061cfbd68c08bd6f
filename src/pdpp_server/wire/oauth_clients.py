"""Clients: what they register (RFC 7591), what a document of theirs says, and how they are kept."""

from collections.abc import Mapping
from typing import Any

from pdpp_server.model.authorization import Client
from pdpp_server.wire.envelope import Json, object_of, present, text_of, texts_of
from pdpp_server.wire.shapes import Shape, ShapeFault, list_of, members

CODE, REFRESH, DEVICE = "authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"
GRANT_TYPES = (CODE, REFRESH, DEVICE)
URIS = ("client_uri", "logo_uri", "policy_uri", "tos_uri")
REDIRECTS_MAX, CONTACTS_MAX, URI_CHARS, NAME_CHARS = 32, 10, 2000, 200

_URI: Json = {"type": "string", "format": "uri", "pattern": "^https?://", "maxLength": URI_CHARS}
_TEXT: Json = {"type": "string", "maxLength": NAME_CHARS}
_REDIRECT: Json = {"type": "string", "minLength": 1, "maxLength": URI_CHARS}
_MEMBERS: Json = {
    "client_name": {"type": "string", "pattern": r"\S", "maxLength": NAME_CHARS},
    "redirect_uris": list_of(_REDIRECT, minItems=1, maxItems=REDIRECTS_MAX),
    "grant_types": list_of({"enum": [*GRANT_TYPES]}, minItems=1, maxItems=len(GRANT_TYPES)),
    "response_types": list_of({"enum": ["code"]}, maxItems=1),
    "token_endpoint_auth_method": {"const": "none"},
    "application_type": {"enum": ["web", "native"]},
    "scope": {"type": "string", "maxLength": URI_CHARS},  # what the official client sends; a request says it again
    **dict.fromkeys(URIS, _URI),
}
# What widely used clients also say of themselves; it changes nothing.
_ASIDES: Json = {"contacts": list_of(_TEXT, maxItems=CONTACTS_MAX), "software_id": _TEXT, "software_version": _TEXT}
_REGISTRATION = Shape(members({}, {**_MEMBERS, **_ASIDES}))
# A document may say more than concerns us, and lists what else the client can do.
_DOCUMENT = Shape(
    {
        "type": "object",
        "required": ["client_id", "redirect_uris"],
        "properties": {
            **_MEMBERS,
            "client_id": {"type": "string"},
            "grant_types": list_of({"type": "string"}),
            "response_types": list_of({"type": "string"}),
            "client_secret": False,
        },
    }
)
_PINNED = ("redirect_uris", "token_endpoint_auth_method", "jwks", "jwks_uri")


def registration_fault(asked: object) -> ShapeFault | None:
    return next(_REGISTRATION.faults(asked), None)


def document_fault(document: object) -> ShapeFault | None:
    return next(_DOCUMENT.faults(document), None)


def decode_client(client_id: str, document: Mapping[str, Any], *, is_verified: bool) -> Client:
    """Where nothing is said of grant types it is the redirect that tells. A document always names redirects, so the
    device flow, whose answer goes to whoever asked, is open under its name only if it says so itself."""
    redirects = texts_of(document, "redirect_uris")
    told = (CODE, REFRESH) if redirects else (DEVICE,)
    return Client(
        client_id,
        text_of(document, "client_name"),
        redirects,
        texts_of(document, "grant_types") or told,
        is_verified,
        {name: value for name in URIS if (value := text_of(document, name)) is not None},
    )


def encode_client(client: Client) -> Json:
    return {
        **present(client_name=client.name),
        "redirect_uris": client.redirect_uris,
        "grant_types": client.grant_types,
        **client.uris,
    }


def encode_registered(client: Client, asked: Json, issued_at: int) -> Json:
    return {
        **asked,
        "client_id": client.client_id,
        "client_id_issued_at": issued_at,
        "client_name": client.name,
        "grant_types": client.grant_types,
        "response_types": ["code"] if CODE in client.grant_types else [],
        "token_endpoint_auth_method": "none",
    }


def pinned(document: Json) -> Json:
    """What may not change without the owner being asked again."""
    return {name: document.get(name) for name in _PINNED} | {"id": text_of(document, "client_id")}


def claimed_id(document: Json) -> str | None:
    return text_of(object_of({"document": document}, "document"), "client_id")
