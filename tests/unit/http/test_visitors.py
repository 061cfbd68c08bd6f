"""Who asks, through proxies that are trusted and past what others claim."""

from ipaddress import ip_network

import pytest
from starlette.types import Receive, Scope, Send

from pdpp_server.http.visitors import Visitors, visitor
from tests.requirements import requirement

PROXIES = (ip_network("127.0.0.1"), ip_network("10.1.0.0/16"), ip_network("fd00::/8"))


async def seen(peer: str | None, *forwarded: str) -> str | None:
    """The client of a request that came from that peer, with those headers."""
    found: list[str | None] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        found.append(scope["client"] and scope["client"][0])

    async def nothing(*_: object) -> None:
        raise AssertionError

    headers = [(b"x-forwarded-for", line.encode("latin-1")) for line in forwarded]
    client = (peer, 1) if peer else None
    await Visitors(app, PROXIES)({"type": "http", "client": client, "headers": headers}, nothing, nothing)  # type: ignore[arg-type]
    return found[0]


@requirement("rs.connections.visitor")
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("peer", "forwarded", "asking"),
    [
        ("127.0.0.1", [], "127.0.0.1"),
        ("127.0.0.1", ["203.0.113.7"], "203.0.113.7"),
        ("127.0.0.1", ["6.6.6.6, 203.0.113.7"], "203.0.113.7"),
        ("127.0.0.1", ["6.6.6.6", "203.0.113.7"], "203.0.113.7"),
        ("127.0.0.1", ["6.6.6.6, 203.0.113.7, 10.1.2.3"], "203.0.113.7"),
        ("127.0.0.1", ["203.0.113.7:4711"], "203.0.113.7"),
        ("127.0.0.1", ["[2606:4700::1]:4711"], "2606:4700::1"),
        ("127.0.0.1", ["::ffff:203.0.113.7"], "203.0.113.7"),
        ("::ffff:127.0.0.1", ["203.0.113.7"], "203.0.113.7"),
        ("fd12::1", ["203.0.113.7"], "203.0.113.7"),
        ("127.0.0.1", ["unknown"], "127.0.0.1"),
        ("127.0.0.1", ["203.0.113.7, unknown"], "127.0.0.1"),
        ("127.0.0.1", [""], "127.0.0.1"),
        ("127.0.0.1", ["10.1.0.1, 10.1.0.2"], "10.1.0.1"),
        ("203.0.113.9", ["127.0.0.1"], "203.0.113.9"),
        ("203.0.113.9", ["6.6.6.6"], "203.0.113.9"),
        ("127.0.0.2", ["6.6.6.6"], "127.0.0.2"),
        ("testclient", ["6.6.6.6"], "testclient"),
        (None, ["6.6.6.6"], None),
    ],
)
async def test_the_first_from_the_end_that_is_no_proxy(peer: str | None, forwarded: list[str], asking: str) -> None:
    assert await seen(peer, *forwarded) == asking


@requirement("as.flows.bounded")
@pytest.mark.parametrize(
    ("address", "counts_as"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("2606:4700::1", "2606:4700::/64"),
        ("2606:4700::ffff:1", "2606:4700::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
    ],
)
def test_a_network_counts_as_one(address: str, counts_as: str) -> None:
    assert visitor(address) == counts_as
