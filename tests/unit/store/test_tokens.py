"""Tokens are found by their digest, and stand nowhere in clear."""

import pytest

from pdpp_server.grants.lifecycle import GrantState, TokenState
from pdpp_server.model.queries import FetchQuery, SchemaQuery, SearchQuery
from pdpp_server.store.consent.tokens import states_of, token_row
from pdpp_server.store.digests import token_digest
from pdpp_server.store.engines.sqlite.peek import token_kind
from tests.engine.beneath import bytes_of
from tests.requirements import requirement
from tests.worlds.world import World


@requirement("grants.tokens.hashed")
def test_no_token_stands_in_any_byte_of_the_home(world: World) -> None:
    world.reader.search(SearchQuery("lease"))
    world.reader.schema(SchemaQuery())
    world.reader.fetch(FetchQuery("messages", "m1", world.work))
    preview = world.owner.preview_token(world.grant_id)

    kept = bytes_of(world.home)

    assert b"walrus" in kept  # it is the right place
    for token in (world.token, world.owner_token, preview):
        assert token.encode() not in kept
        assert bytes.fromhex(token) not in kept


def states(world: World, token: str) -> tuple[TokenState, list[GrantState]] | None:
    with world.services.database.reading() as reading:
        row = token_row(reading, token_digest(token))
        return states_of(reading, row) if row else None


def test_a_token_is_found_with_the_grant_it_stands_for(world: World) -> None:
    client = world.owner.grant(world.grant_id)[0].grant.client_id

    assert states(world, world.token) == (
        TokenState("client", client, None, None),
        [GrantState(world.grant_id, None, None)],
    )
    assert states(world, world.owner_token) == (TokenState("owner", None, "2026-12-15T12:00:00.000Z", None), [])


@pytest.mark.parametrize("odd", ["", "a", "f" * 64, "\ud800", "x" * 10_000, "'; drop table tokens; --"])
def test_an_odd_token_is_an_unknown_one(odd: str, world: World) -> None:
    assert states(world, odd) is None


@pytest.mark.sqlite("looks into the files of a home")
def test_the_kind_of_a_token_is_known_before_anything_else_is_loaded(world: World) -> None:
    home = str(world.home)

    assert token_kind(home, world.token) == "client"
    assert token_kind(home, world.owner_token) == "owner"
    assert token_kind(home, "f" * 64) is None
    assert token_kind(home + "/nowhere", world.token) is None
