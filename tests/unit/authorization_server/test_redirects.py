"""Where a browser may be sent."""

import pytest

from pdpp_server.authorization_server.redirects import is_acceptable, is_registered
from pdpp_server.model.authorization import Client


@pytest.mark.parametrize(
    "address",
    [
        "https://app.example/back?x=1",
        "http://127.0.0.1:4711/callback",
        "http://[::1]/callback",
        "http://localhost/callback",
        "cursor://anysphere.cursor-retrieval/oauth",
        "com.example.app:/back",
    ],
)
def test_a_safe_address_is_acceptable(address: str) -> None:
    assert is_acceptable(address)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "https:",
        "https:///back",
        "http://app.example/back",
        "http://127.0.0.1.evil.example/",
        "https://user@app.example/",
        "https://app.example/#",
        "https://app.example/#part",
        "https://app.example\\@evil.example/",
        "https://app.example:port/",
        "https://app.example/a b",
        "https://app.example/\n",
        "https://äpp.example/",
        "http://evil[::1]/",
        "http://[::1]evil/",
        "javascript:alert(1)",
        "data:text/html,x",
        "ms-settings:x",
    ],
)
def test_anything_else_is_not(address: str) -> None:
    assert not is_acceptable(address)


def registered(*known: str) -> Client:
    return Client("c", None, known, (), False, {})


def test_on_loopback_only_the_port_may_differ() -> None:
    client = registered("http://127.0.0.1/callback")
    assert is_registered(client, "http://127.0.0.1:50000/callback")
    assert not is_registered(client, "http://localhost:50000/callback")
    assert not is_registered(client, "http://127.0.0.1:50000/other")
    assert not is_registered(client, "http://127.0.0.1:50000/callback?x=1")
    assert not is_registered(client, "http://127.0.0.1:50000/callback#x")


def test_elsewhere_the_address_is_the_same_text() -> None:
    client = registered("https://app.example/back")
    assert is_registered(client, "https://app.example/back")
    assert not is_registered(client, "https://app.example:8443/back")
    assert not is_registered(client, "https://app.example/back/")


def test_what_could_not_be_registered_today_is_not_good_because_it_once_was() -> None:
    assert not is_registered(registered("http://app.example/back"), "http://app.example/back")
