"""What a client sends to the authorization server, as a form or as JSON; nothing is taken twice."""

import pytest

from pdpp_server.wire.oauth_requests import decode_body, decode_form, decode_introduced

FORM, JSON = "application/x-www-form-urlencoded", "application/json; charset=utf-8"


def test_a_form_is_read_without_its_empty_fields() -> None:
    assert decode_form(b"a=1&b=&c=%C3%A9") == {"a": "1", "c": "é"}


@pytest.mark.parametrize("raw", [b"a=1&a=2", b"a=1&a=1", b"a=%FF", b"a=\xc3\xa9", b"&".join([b"a=1"] * 1000)])
def test_what_is_no_plain_form_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        decode_form(raw)


def test_a_body_is_read_as_its_type_says() -> None:
    assert decode_body(b'{"a": [1]}', JSON) == {"a": [1]}
    assert decode_body(b"a=1", FORM) == {"a": "1"}


@pytest.mark.parametrize("raw", [b"[]", b"a=1", b'{"a": 1, "a": 2}', b'{"b": {"a": 1, "a": 1}}'])
def test_json_that_is_no_object_or_says_something_twice_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        decode_body(raw, JSON)


def test_whoever_comes_is_known_by_any_secret_and_by_a_code_as_it_was_typed() -> None:
    came = decode_introduced({"code": "c", "token": "t", "user_code": "bc-df 12gh", "client_id": "cli_1"})
    assert came.user_code == "BCDFGH"
    assert came.client_id == "cli_1"
    assert came[0] == ("c", "t")
