"""The address under which a server is known."""

from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.requests import Request

from pdpp_server.http.kernel import Kernel
from pdpp_server.http.rate import Rates
from pdpp_server.http.threads import Threads
from pdpp_server.settings import Settings


def kernel(public_url: str | None = None) -> Kernel:
    settings = Settings(public_url=public_url)
    return Kernel(settings, Rates(0, 0, lambda: datetime.now(UTC)), Threads())


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
