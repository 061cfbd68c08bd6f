"""What another authorization server says of a token (RFC 7662), believed only where every part of it fits."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pdpp_server.errors import GrantExpired, GrantInvalid, GrantRevoked, PdppError, Unauthenticated
from pdpp_server.wire.envelope import Json, object_of, objects_of, present, text_of, texts_of
from pdpp_server.wire.grants import DETAIL_TYPE, GRANT_VERSION

CONTEXT_KIND = "oauth_rar_0_1"
_SAID_ONCE = ("type", "source")  # of a detail: what stands elsewhere in a grant, or nowhere


class Expected(NamedTuple):
    """What must stand in an answer: who gives it, for which address, and that its time is not over."""

    issuer: str
    audience: str
    now_seconds: float


class Rights(NamedTuple):
    """A grant as it would be stored, and the declaration that it was given by."""

    document: Json
    source_id: str
    declaration_version: str


def encode_introspection(token: str) -> dict[str, str]:
    """The form that asks about a token (RFC 7662)."""
    return {"token": token}


def decode_introspection(body: Mapping[str, Any], expected: Expected) -> Rights:
    """The rights of one client, all of them from this one answer.

    Raises:
        Unauthenticated: the token is not good, or the answer is not about a client's token at this address.
        GrantRevoked, GrantExpired, GrantInvalid: the token is a client's, and its grant has ended.
    """
    if not is_active(body):
        raise _inactive(text_of(body, "inactive_reason"))
    _require_standing(body, expected)
    detail, context = _detail(body), object_of(body, "pdpp")
    _require_context(body, detail, context)
    granted = {name: value for name, value in detail.items() if name not in _SAID_ONCE}
    source, declared = object_of(context, "source"), object_of(context, "source_declaration")
    document = {
        "version": GRANT_VERSION,
        **present(grant_id=text_of(body, "grant_id"), issued_at=text_of(context, "issued_at")),
        "subject": present(id=text_of(body, "subject_id")),
        "client": present(client_id=text_of(body, "client_id")),
        "source": dict(source),
        "source_declaration": dict(declared),
        **granted,
        "expires_at": None,
    }
    return Rights(document, text_of(source, "id") or "", text_of(declared, "version") or "")


def is_active(body: Mapping[str, Any]) -> bool:
    return body.get("active") is True


def mismatch(reason: str) -> Unauthenticated:
    return Unauthenticated(f"What the authorization server says of this token does not hold here (context.{reason}).")


def _require_standing(body: Mapping[str, Any], expected: Expected) -> None:
    if body.get("pdpp_token_kind") != "client":
        raise mismatch("kind_mismatch")
    if text_of(body, "iss") != expected.issuer:
        raise mismatch("issuer_mismatch")
    if expected.audience not in (text_of(body, "aud"), *texts_of(body, "aud")):
        raise mismatch("audience_mismatch")
    ends = body.get("exp", float("inf"))
    if not isinstance(ends, int | float) or ends <= expected.now_seconds:
        raise mismatch("expired")


def _detail(body: Mapping[str, Any]) -> Mapping[str, Any]:
    details = objects_of(body, "authorization_details")
    if "grant" in body or len(details) > 1:
        raise mismatch("rights_duplicated")
    if not details or text_of(details[0], "type") != DETAIL_TYPE:
        raise mismatch("rights_missing")
    return details[0]


def _require_context(body: Mapping[str, Any], detail: Mapping[str, Any], context: Mapping[str, Any]) -> None:
    """What is said twice must be said alike."""
    if text_of(context, "context_kind") != CONTEXT_KIND:
        raise mismatch("kind_mismatch")
    if any(context.get(name) != body.get(name) for name in ("client_id", "subject_id")):
        raise mismatch("identity_mismatch")
    if context.get("grant_id") != body.get("grant_id"):
        raise mismatch("grant_mismatch")
    if object_of(context, "source") != object_of(detail, "source"):
        raise mismatch("source_mismatch")


def _inactive(reason: str | None) -> PdppError:
    match reason:
        case "grant_revoked":
            return GrantRevoked("The owner revoked the grant of this token.")
        case "grant_expired":
            return GrantExpired("The grant of this token has ended.")
        case "grant_invalid":
            return GrantInvalid("The grant of this token can no longer be used.")
        case _:
            return Unauthenticated("The token is not good any more, or never was.")
