"""Which addresses a token may be sent to."""

import pytest

from pdpp_server.wire.address import is_same, server_address
from tests.requirements import requirement


@requirement("port.network.address")
@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://me.example", "https://me.example"),
        ("https://Me.Example:443/", "https://me.example"),
        ("HTTPS://me.example:8443/data//", "https://me.example:8443/data"),
        ("http://127.0.0.1:8787", "http://127.0.0.1:8787"),
        ("http://127.9.9.9", "http://127.9.9.9"),
        ("http://localhost:80/pdpp", "http://localhost/pdpp"),
        ("http://[::1]:8787/", "http://[::1]:8787"),
    ],
)
def test_an_address_has_one_spelling(url: str, address: str) -> None:
    assert server_address(url) == address
    assert is_same(address, url)


@requirement("port.network.address")
@pytest.mark.parametrize(
    "url",
    [
        *("", "me.example", "//me.example", "ftp://me.example", "https://", "https://:8443", "https://me.example:x"),
        *(
            "https://user@me.example",
            "https://user:secret@me.example",
            "https://me.example?",
            "https://me.example/?a=b",
        ),
        *(
            "https://me.example#",
            "https://me.example/#a",
            "https://me.example/a b",
            "https://me.example\\@evil.example",
        ),
        *(
            "http://me.example",
            "http://10.0.0.1",
            "http://localhost.evil.example",
            "https://[::1",
            "https://a\n.example",
        ),
    ],
)
def test_what_a_token_may_not_be_sent_to_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="https://") as refused:
        server_address(url)

    assert "secret" not in str(refused.value)
    assert not is_same("https://me.example", url)


@requirement("port.network.address")
def test_without_tls_only_on_purpose() -> None:
    assert server_address("http://nas.local:8787", plain_http=True) == "http://nas.local:8787"
