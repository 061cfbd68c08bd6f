"""The names that this server answers to."""

from pathlib import Path

import pytest

from pdpp_server.http.hosts import LOOPBACK, known_hosts
from pdpp_server.settings import Settings


@pytest.mark.parametrize(
    ("public", "trusted", "further"),
    [
        (None, (), set[str]()),
        ("https://Data.Example:8443", (), {"data.example"}),
        (None, ("a.example",), {"a.example"}),
        ("https://data.example", ("a.example",), {"data.example", "a.example"}),
    ],
)
def test_this_machine_is_always_known_and_what_the_owner_named(
    public: str | None, trusted: tuple[str, ...], further: set[str]
) -> None:
    assert known_hosts(Settings(home=Path("/x"), public_url=public, trusted_hosts=trusted)) == LOOPBACK | further
