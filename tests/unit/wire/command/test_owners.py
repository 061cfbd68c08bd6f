"""Owners as the command prints them."""

from pdpp_server.evidence.text import compact_json
from pdpp_server.model.owners import OwnerRow, OwnerSummary
from pdpp_server.wire.command.owners import (
    encode_erased,
    encode_handed_over,
    encode_invited,
    encode_owners,
    encode_password,
    encode_resource_server,
    encode_rotated,
    encode_token,
)

ADA = OwnerRow(1, "ada", "2026-01-01T00:00:00Z")


def test_secrets_are_told_once() -> None:
    assert compact_json(encode_token("t", "e")) == '{"token":"t","expires_at":"e"}'
    assert compact_json(encode_password("p")) == '{"password":"p"}'
    assert compact_json(encode_rotated("cursors")) == '{"rotated":["cursors"]}'


def test_a_resource_server_has_an_address_where_it_was_given_one() -> None:
    assert compact_json(encode_resource_server("a", None, "s")) == '{"name":"a","secret":"s"}'
    assert compact_json(encode_resource_server("a", "u", "s")) == '{"name":"a","address":"u","secret":"s"}'


def test_who_there_is_and_who_is_still_being_moved() -> None:
    arriving = OwnerRow(2, "bob", "2026-01-02T00:00:00Z")
    assert compact_json(encode_owners([OwnerSummary(ADA, False, 3, 4, 5)], [arriving])) == (
        '{"owners":[{"name":"ada","number":1,"since":"2026-01-01T00:00:00Z","has_password":false,"connections":3,'
        '"records":4,"grants":5}],"arriving":["bob"]}'
    )


def test_what_is_done_with_one_of_them() -> None:
    assert compact_json(encode_invited("ada", "l", "e")) == '{"name":"ada","link":"l","expires_at":"e"}'
    assert compact_json(encode_erased("ada", {"records": 1})) == '{"removed":"ada","rows":{"records":1}}'
    assert compact_json(encode_handed_over("ada", 1, 2)) == '{"owner":"ada","connections":1,"records":2}'
