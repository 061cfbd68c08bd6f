"""Active, expired, revoked, consumed: which, and what may follow."""

from typing import NamedTuple

from pdpp_server.errors import GrantExpired, GrantRevoked, PackageRevoked, PdppError, Unauthenticated
from pdpp_server.model.grants import TokenKind

NEVER = "9999-12-31T23:59:59.999Z"


class TokenState(NamedTuple):
    """What is stored of a token. Times are ISO 8601 in UTC, so they compare as text."""

    kind: TokenKind
    client_id: str | None
    expires_at: str | None
    revoked_at: str | None
    package_id: str | None = None
    audience: str | None = None  # the door that it is for


class GrantState(NamedTuple):
    grant_id: str
    expires_at: str | None
    revoked_at: str | None
    consumed_at: str | None = None

    def word(self, now: str) -> str:
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if _over(self.expires_at, now) else "active"


def _over(expires_at: str | None, now: str) -> bool:
    return expires_at is not None and expires_at <= now


def require_live_token(token: TokenState, now: str) -> None:
    if token.revoked_at is not None:
        raise Unauthenticated("The token was revoked.")
    if _over(token.expires_at, now):
        raise Unauthenticated("The token has expired.")


def live_grants(token: TokenState, grants: list[GrantState], now: str) -> list[GrantState]:
    """The grants that still hold. A package lives while one of its grants does."""
    if token.package_id is not None:
        live = [grant for grant in grants if grant.word(now) == "active"]
        if not live:
            raise PackageRevoked("No grant of this package is alive.")
        return live
    for grant in grants:
        require_live_grant(grant, now)
    return grants


def require_live_grant(grant: GrantState, now: str) -> None:
    if refusal := _ended(grant, now):
        raise refusal


def ends_at(token: TokenState, grants: list[GrantState]) -> str:
    """When the first of them ends; a time that never comes where none does."""
    ends = [token.expires_at, *(grant.expires_at for grant in grants)]
    return min((end for end in ends if end is not None), default=NEVER)


def _ended(grant: GrantState, now: str) -> PdppError | None:
    match grant.word(now):
        case "revoked":
            return GrantRevoked(f"The owner revoked grant {grant.grant_id} at {grant.revoked_at}.")
        case "expired":
            return GrantExpired(f"Grant {grant.grant_id} ended at {grant.expires_at}.")
        case _:
            return None
