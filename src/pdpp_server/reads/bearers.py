"""A bearer's token: known, alive, and of a kind that is heard at that door."""

from typing import Any

from pdpp_server.errors import PermissionDenied, Unauthenticated
from pdpp_server.grants.lifecycle import GrantState, TokenState, require_live_token
from pdpp_server.model.grants import TokenKind
from pdpp_server.store.consent.tokens import states_of, token_row
from pdpp_server.store.digests import token_digest
from pdpp_server.store.engine import Reading
from pdpp_server.wire.discovery import MCP

PACKAGE_KIND: TokenKind = "mcp_package"
REST_KINDS: frozenset[TokenKind] = frozenset({"owner", "client"})
MCP_KINDS: frozenset[TokenKind] = frozenset({"client", PACKAGE_KIND})
OWNER_KINDS: frozenset[TokenKind] = frozenset({"owner"})
REST_AUDIENCE, MCP_AUDIENCE = "rest", "mcp"  # the doors that a token can be for


def resource_of(origin: str, audience: str) -> str:
    """The address of that door, at a server that stands at `origin`."""
    return f"{origin}{MCP}" if audience == MCP_AUDIENCE else origin


def digest_of(bearer: str | None) -> bytes | None:
    """What is known here of a token, for whoever asks more than once with it; None where none was sent."""
    return token_digest(bearer) if bearer else None


def row_of(reading: Reading, bearer: str | None, digest: bytes | None = None) -> tuple[bytes, tuple[Any, ...]]:
    """The digest of a token, which may be at hand, and what is stored of it."""
    if not bearer:
        raise Unauthenticated("No bearer token was sent.")
    digest = digest or token_digest(bearer)
    row = token_row(reading, digest)
    if row is None:
        raise Unauthenticated("The token is not known here.")
    return digest, row


def require_live(
    reading: Reading, row: tuple[Any, ...], kinds: frozenset[TokenKind], now: str
) -> tuple[TokenState, list[GrantState]]:
    """What the row of a token stands for; whether its grants are alive is asked elsewhere."""
    token, grants = states_of(reading, row)
    require_live_token(token, now)
    require_kind(token.kind, kinds)
    return token, grants


def require_audience(audience: str | None, door: str) -> None:
    """RFC 8707: a token that was issued for one address is no good at another."""
    if audience is not None and audience != door:
        raise Unauthenticated("The token was issued for another address.")


def require_kind(kind: TokenKind, kinds: frozenset[TokenKind]) -> None:
    if kind in kinds:
        return
    if kind == "owner":
        raise PermissionDenied(
            "An owner token is not accepted here.", remedy="Use a client's token: `pdpp grants create`."
        )
    if kinds == OWNER_KINDS and kind in REST_KINDS:
        raise PermissionDenied("Owner token required.", remedy="Only the owner may do this: `pdpp owner token`.")
    remedy = f"A package's token is for {MCP}: use it there." if kind == PACKAGE_KIND else None
    raise Unauthenticated("This kind of token is not accepted here.", remedy=remedy)
