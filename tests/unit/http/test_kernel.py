"""The address under which a server is known, and what is found there at once."""

from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.requests import Request

from pdpp_server.http.kernel import AtOnce, Kernel
from pdpp_server.http.rate import Rates
from pdpp_server.http.threads import Threads
from pdpp_server.settings import Settings


def now() -> datetime:
    return datetime.now(UTC)


def kernel(public_url: str | None = None) -> Kernel:
    settings = Settings(public_url=public_url)
    return Kernel(settings, Rates(0, 0, now), Threads(), now)


def asked(host: str | None, **more: Any) -> Request:
    headers = [] if host is None else [(b"host", host.encode("latin-1"))]
    scope = {"type": "http", "scheme": "http", "server": ("10.0.0.1", 8787), "path": "/mcp", "headers": headers}
    return Request({**scope, **more})


@pytest.mark.parametrize("host", ["localhost", "localhost:8787", "[::1]:80", "not a host:x", None])
@pytest.mark.parametrize("more", [{}, {"scheme": "https"}, {"server": ["::1", 80]}, {"root_path": "/under"}])
def test_it_is_the_one_that_was_asked(host: str | None, more: dict[str, Any]) -> None:
    request = asked(host, **more)
    assert kernel().origin_of(request) == str(request.base_url).rstrip("/")


def test_a_public_one_is_always_it() -> None:
    assert kernel("https://me.example").origin_of(asked("localhost")) == "https://me.example"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("scope", "answering"),
    [
        ({"type": "http", "path": "/mcp"}, "mcp"),
        ({"type": "http", "path": "/mcp/x"}, "router"),
        ({"type": "lifespan"}, "router"),
    ],
)
async def test_only_a_whole_path_is_found_before_the_router_looks(scope: dict[str, Any], answering: str) -> None:
    asked = list[str]()

    def answer(name: str) -> Any:
        async def app(*_: object) -> None:
            asked.append(name)

        return app

    nobody: Any = None
    await AtOnce(answer("router"), {"/mcp": answer("mcp")})(scope, nobody, nobody)
    assert asked == [answering]
