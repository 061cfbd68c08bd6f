"""Which kind of token is heard at which door."""

from typing import Any

import pytest

from pdpp_server.errors import PdppError, PermissionDenied, Unauthenticated
from pdpp_server.model.grants import TokenKind
from pdpp_server.reads.bearers import (
    MCP_AUDIENCE,
    MCP_KINDS,
    OWNER_KINDS,
    REST_AUDIENCE,
    REST_KINDS,
    require_audience,
    require_kind,
    resource_of,
    row_of,
)


@pytest.mark.parametrize(
    ("kind", "kinds"),
    [
        ("owner", REST_KINDS),
        ("client", REST_KINDS),
        ("client", MCP_KINDS),
        ("mcp_package", MCP_KINDS),
        ("owner", OWNER_KINDS),
    ],
)
def test_a_token_is_heard_where_its_kind_is(kind: TokenKind, kinds: frozenset[TokenKind]) -> None:
    require_kind(kind, kinds)


@pytest.mark.parametrize(
    ("kind", "kinds", "refusal", "remedy"),
    [
        ("owner", MCP_KINDS, PermissionDenied, "pdpp grants create"),
        ("client", OWNER_KINDS, PermissionDenied, "pdpp owner token"),
        ("mcp_package", REST_KINDS, Unauthenticated, "/mcp"),
        ("mcp_package", OWNER_KINDS, Unauthenticated, "/mcp"),
    ],
)
def test_at_another_door_it_is_refused_with_what_to_do(
    kind: TokenKind, kinds: frozenset[TokenKind], refusal: type[PdppError], remedy: str
) -> None:
    with pytest.raises(refusal) as told:
        require_kind(kind, kinds)
    assert remedy in told.value.remedy


def test_a_token_for_one_address_is_no_good_at_another() -> None:
    require_audience(None, REST_AUDIENCE)
    require_audience(MCP_AUDIENCE, MCP_AUDIENCE)
    with pytest.raises(Unauthenticated, match="another address"):
        require_audience(MCP_AUDIENCE, REST_AUDIENCE)


def test_the_doors_of_a_server_have_their_own_addresses() -> None:
    assert resource_of("https://x.example", MCP_AUDIENCE) == "https://x.example/mcp"
    assert resource_of("https://x.example", REST_AUDIENCE) == "https://x.example"


@pytest.mark.parametrize("bearer", [None, ""])
def test_without_a_token_nothing_is_even_looked_for(bearer: str | None) -> None:
    nowhere: Any = None
    with pytest.raises(Unauthenticated, match="No bearer token was sent"):
        row_of(nowhere, bearer)
