"""The mark of a running server, both directions."""

import pytest

from pdpp_server.wire.serving import Served, decode_mark, encode_mark


@pytest.mark.parametrize("served", [Served("127.0.0.1", 8787, None), Served("::1", 80, "https://data.example.org")])
def test_a_mark_comes_back_as_it_was(served: Served) -> None:
    assert decode_mark(encode_mark(served, 42)) == served


def test_a_mark_names_the_process_that_serves() -> None:
    written = encode_mark(Served("127.0.0.1", 8787, None), 42)
    assert written == b'{"host":"127.0.0.1","port":8787,"public_url":null,"pid":42}'


@pytest.mark.parametrize(
    "text", [b"", b'{"host":"127.0', b"[]", b'{"host":"127.0.0.1","port":"8787","public_url":null}', b'{"port":8787}']
)
def test_what_is_no_whole_mark_is_none(text: bytes) -> None:
    assert decode_mark(text) is None
