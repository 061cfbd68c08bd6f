"""What a server says of itself, as others read it."""

import pytest

from pdpp_server.wire.discovery import encode_health, is_health


@pytest.mark.parametrize(("database", "log"), [(True, True), (False, True), (True, False)])
def test_a_server_of_ours_is_known_by_what_it_says_of_its_health(database: bool, log: bool) -> None:
    assert is_health(encode_health(database=database, log=log))


@pytest.mark.parametrize("body", [{}, {"object": "live"}, {"other": True}, [], "health", None])
def test_anything_else_is_another_program(body: object) -> None:
    assert not is_health(body)
