"""The names that this server answers to."""

from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message

from pdpp_server.errors import PdppError
from pdpp_server.http.headers import Front
from pdpp_server.http.hosts import LOOPBACK, TrustedHosts, known_hosts
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


class Refusing:
    """What of the kernel is asked."""

    settings = Settings(home=Path("/x"), trusted_hosts=("a.example",))

    async def refuse(self, _request: Request, error: PdppError) -> Response:
        return Response(status_code=error.status)


async def status(path: str, *headers: tuple[bytes, bytes]) -> tuple[int, bool]:
    """The status of the answer, and whether a page of the origin may read it."""
    sent = list[Message]()

    async def send(message: Message) -> None:
        sent.append(message)

    kernel: Any = Refusing()
    scope: Any = {"type": "http", "method": "POST", "raw_path": path.encode(), "headers": headers, "query_string": b""}
    await Front(TrustedHosts(Response(status_code=200), kernel))(scope, lambda: None, send)  # pyright: ignore
    return sent[0]["status"], b"access-control-allow-origin" in dict(sent[0]["headers"])


@pytest.mark.anyio
@pytest.mark.parametrize("host", [b"localhost", b"127.0.0.1:7000", b"[::1]:7000", b"A.example:443"])
async def test_a_host_that_is_known_is_answered(host: bytes) -> None:
    assert await status("/v1/schema", (b"host", host)) == (200, False)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "hosts", [(), (b"evil.example",), (b"localhost", b"localhost"), (b"localhost:x",), (b"a.example@evil",)]
)
async def test_no_other_host_and_no_host_at_all_is_answered(hosts: tuple[bytes, ...]) -> None:
    assert await status("/v1/schema", *((b"host", host) for host in hosts)) == (421, False)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("path", "origin", "answer"),
    [
        ("/mcp", b"https://a.example", (200, True)),
        ("/mcp", b"https://evil.example", (403, False)),
        ("/mcp", b"null", (403, False)),
        ("/token", b"https://evil.example", (200, False)),
        ("/grants", b"https://a.example", (200, False)),  # the owner's pages stay closed to all others
    ],
)
async def test_only_a_page_of_a_known_host_may_ask_and_read_what_clients_do(
    path: str, origin: bytes, answer: tuple[int, bool]
) -> None:
    assert await status(path, (b"host", b"localhost"), (b"origin", origin)) == answer
