"""Whose a secret is: by all of it, or by how a whole family of tokens begins."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from pdpp_server.store.consent.families import FAMILY_CHARS
from pdpp_server.store.digests import token_digest
from pdpp_server.store.engines.postgres.owners import PostgresOwners

REFRESH = "rt_" + 40 * "a"


class House:
    """Who has shown which digest, as the rows that the database then lets be seen."""

    def __init__(self, known: dict[str, list[tuple[int]]]) -> None:
        self._known = {token_digest(secret).hex(): owners for secret, owners in known.items()}
        self._shown = ""

    def one(self, statement: str, values: tuple[str]) -> None:
        (self._shown,) = values

    def rows(self, statement: str) -> list[tuple[int]]:
        return self._known.get(self._shown, [])


class Owners(PostgresOwners):
    def __init__(self, house: House) -> None:
        self._house = house

    @contextmanager
    def _naming(self, number: int) -> Generator[Any, None, None]:
        yield self._house


@pytest.mark.parametrize(
    ("known", "owner"),
    [
        ({REFRESH: [(7,)]}, 7),
        ({REFRESH[:FAMILY_CHARS]: [(7,)]}, 7),
        ({REFRESH: [(7,), (8,)], "second": [(9,)]}, 9),
        ({}, None),
    ],
    ids=["its own", "its family's", "two have the first", "nobody's"],
)
def test_the_first_secret_that_one_owner_has_names_them(known: dict[str, list[tuple[int]]], owner: int | None) -> None:
    assert Owners(House(known)).whose([REFRESH, "second"]) == owner
