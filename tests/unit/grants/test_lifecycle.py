"""Active, expired, revoked: which, and what may follow."""

import pytest

from pdpp_server.errors import GrantExpired, GrantRevoked, PackageRevoked, Unauthenticated
from pdpp_server.grants.lifecycle import NEVER, GrantState, TokenState, ends_at, live_grants, require_live_token
from tests.requirements import requirement

BEFORE, NOW, AFTER = "2026-11-15T11:59:59.999Z", "2026-11-15T12:00:00.000Z", "2026-11-15T12:00:00.001Z"
TOKEN = TokenState("client", "cli", None, None)
PACKAGE = TokenState("mcp_package", "cli", None, None, "gpkg")


@pytest.mark.parametrize(
    ("state", "word"),
    [
        (GrantState("g", None, None), "active"),
        (GrantState("g", AFTER, None), "active"),
        (GrantState("g", NOW, None), "expired"),
        (GrantState("g", BEFORE, None), "expired"),
        (GrantState("g", None, BEFORE), "revoked"),
        (GrantState("g", BEFORE, BEFORE), "revoked"),
    ],
)
def test_a_grant_is_one_of_three(state: GrantState, word: str) -> None:
    assert state.word(NOW) == word


@requirement("grants.lifecycle.expired")
def test_a_grant_past_its_end_refuses() -> None:
    with pytest.raises(GrantExpired) as refused:
        live_grants(TOKEN, [GrantState("g", NOW, None)], NOW)

    assert refused.value.code == "grant_expired"
    assert live_grants(TOKEN, [GrantState("g", AFTER, None)], NOW)


@requirement("grants.lifecycle.revoked")
def test_a_revoked_grant_refuses_whether_it_ended_or_not() -> None:
    for ends in (None, BEFORE, AFTER):
        with pytest.raises(GrantRevoked) as refused:
            live_grants(TOKEN, [GrantState("g", ends, BEFORE)], NOW)
        assert refused.value.code == "grant_revoked"


def test_a_package_lives_while_one_of_its_grants_does() -> None:
    live, ended, revoked = GrantState("a", None, None), GrantState("b", BEFORE, None), GrantState("c", None, BEFORE)

    assert live_grants(PACKAGE, [live, ended, revoked], NOW) == [live]
    with pytest.raises(PackageRevoked):
        live_grants(PACKAGE, [ended, revoked], NOW)
    with pytest.raises(PackageRevoked):
        live_grants(PACKAGE, [], NOW)


@pytest.mark.parametrize(
    "token",
    [
        TokenState("client", "cli", NOW, None),
        TokenState("client", "cli", BEFORE, None),
        TokenState("client", "cli", None, BEFORE),
    ],
)
def test_a_token_that_is_over_or_revoked_is_nobody(token: TokenState) -> None:
    with pytest.raises(Unauthenticated):
        require_live_token(token, NOW)


def test_a_live_token_passes() -> None:
    require_live_token(TOKEN, NOW)
    require_live_token(TokenState("client", "cli", AFTER, None), NOW)


@pytest.mark.parametrize(
    ("token_ends", "grants_end", "first"),
    [
        (None, (), NEVER),
        (None, (None, None), NEVER),
        (AFTER, (None,), AFTER),
        (None, (AFTER, NOW), NOW),
        (BEFORE, (NOW, AFTER), BEFORE),
    ],
)
def test_access_ends_with_the_first_of_its_token_and_grants(
    token_ends: str | None, grants_end: tuple[str | None, ...], first: str
) -> None:
    token = TOKEN._replace(expires_at=token_ends)

    assert ends_at(token, [GrantState("g", end, None) for end in grants_end]) == first
