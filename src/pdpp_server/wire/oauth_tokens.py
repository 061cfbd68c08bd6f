"""What the token, device and introspection endpoints answer."""

from collections.abc import Sequence
from typing import NamedTuple

from pdpp_server.model.authorization import DeviceCode, IssuedTokens
from pdpp_server.model.grants import Grant
from pdpp_server.model.times import instant
from pdpp_server.wire.envelope import Json, present
from pdpp_server.wire.grants import GRANT_VERSION, encode_granted
from pdpp_server.wire.oauth import OFFLINE_SCOPE, READ_SCOPE, device_address

INACTIVE: Json = {"active": False}
REVOKED: Json = {"revoked": True}


def encode_issued(issued: IssuedTokens) -> Json:
    """RFC 6749 section 5.1, with the details that were granted (RFC 9396 section 7)."""
    whole = f"{READ_SCOPE} {OFFLINE_SCOPE}" if issued.refresh_token else READ_SCOPE
    return {
        "access_token": issued.access_token,
        "token_type": "Bearer",
        "expires_in": issued.expires_seconds,
        **present(refresh_token=issued.refresh_token),
        "scope": issued.scope or whole,
        "authorization_details": [encode_granted(grant) for grant in issued.grants],
        **({"grant_package_id": issued.package_id} if issued.package_id else {"grant_id": issued.grants[0].grant_id}),
    }


def encode_device_code(code: DeviceCode, origin: str) -> Json:
    """RFC 8628 section 3.2."""
    return {
        "device_code": code.device_code,
        "user_code": code.user_code,
        "verification_uri": device_address(origin),
        "verification_uri_complete": device_address(origin, code.user_code),
        "expires_in": code.expires_seconds,
        "interval": code.pause_seconds,
    }


def encode_pushed(request_uri: str, expires_seconds: int) -> Json:
    """RFC 9126 section 2.2."""
    return {"request_uri": request_uri, "expires_in": expires_seconds}


def encode_inactive(reason: str) -> Json:
    return {**INACTIVE, "inactive_reason": reason}


def encode_owner_token(subject: str, expires_at: str | None) -> Json:
    return {"active": True, "pdpp_token_kind": "owner", "subject_id": subject, **present(exp=_seconds(expires_at))}


class TokenStanding(NamedTuple):
    """What is told of every token that is good: until when, by whom, for which addresses."""

    expires_at: str | None
    issuer: str
    audience: tuple[str, ...]


def encode_client_token(grant: Grant, standing: TokenStanding) -> Json:
    """RFC 7662. The rights are said once, in `authorization_details`."""
    return {
        **_encode_standing("client", grant, standing),
        "grant_id": grant.grant_id,
        "authorization_details": [encode_granted(grant)],
        "pdpp": {
            "context_kind": "oauth_rar_0_1",
            "client_id": grant.client_id,
            "subject_id": grant.subject,
            "grant_id": grant.grant_id,
            "issued_at": grant.issued_at,
            "source": {"kind": grant.source.kind, "id": grant.source.id},
            "source_declaration": {"version": grant.declaration_version},
        },
    }


def encode_package_token(package_id: str, grants: Sequence[Grant], standing: TokenStanding) -> Json:
    first = grants[0]
    return {
        **_encode_standing("mcp_package", first, standing),
        "grant_package_id": package_id,
        "package": {
            "package_id": package_id,
            "version": GRANT_VERSION,
            "subject": {"id": first.subject},
            "client": {"client_id": first.client_id},
            "approved_source_count": len(grants),
            "source_bounded_child_grants": True,
        },
    }


def _encode_standing(kind: str, grant: Grant, standing: TokenStanding) -> Json:
    audience = standing.audience
    return {
        "active": True,
        "pdpp_token_kind": kind,
        "token_type": "Bearer",
        "scope": READ_SCOPE,
        "subject_id": grant.subject,
        "client_id": grant.client_id,
        **present(exp=_seconds(standing.expires_at)),
        "iss": standing.issuer,
        "aud": audience[0] if len(audience) == 1 else audience,
    }


def _seconds(expires_at: str | None) -> int | None:
    moment = instant(expires_at)
    return None if moment is None else moment // 1_000_000
