"""The hosted endpoint under load: eight connections at once, and each server in a process of its own.

`python -m bench.hosted ours|unlogged|bare HOME` is such a server; it prints the port that it listens on.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import cast

import apsw
import orjson
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from bench.world import World, now
from pdpp_server.app import create_app
from pdpp_server.cli.serve import listen, server_of
from pdpp_server.model.activity import Disclosure
from pdpp_server.reads.services import open_services
from pdpp_server.settings import Settings

Numbers = dict[str, float]

CONNECTIONS = 8
ROUNDS, EACH = 12, 800
_POINT = "select data from records where sid = 1 and key = ?"


class Unlogged:
    """Writes nothing, so that what the log costs can be seen."""

    def append(self, disclosure: Disclosure) -> None: ...
    def can_append(self) -> bool:
        return True

    def close(self) -> None: ...


def bare(home: Path) -> ASGIApp:
    """One route, the same read, and nothing else."""
    db = apsw.Connection(str(home / "pdpp.sqlite"))
    db.execute("pragma cache_size = -32000")

    async def fetch(request: Request) -> Response:
        return Response(db.execute(_POINT, (request.path_params["key"],)).get, media_type="application/json")

    return Starlette(routes=[Route("/records/{key}", fetch)])


def app_of(kind: str, home: Path) -> ASGIApp:
    if kind == "bare":
        return bare(home)
    services = open_services(home, now=now)
    if kind == "unlogged":
        services.log.close()
        services.log = Unlogged()
    # Nobody is held up while the endpoint is measured.
    return create_app(Settings(home=home, rate_per_second=0), services)


@contextmanager
def serving(kind: str, home: Path) -> Generator[int]:
    command = [sys.executable, "-m", "bench.hosted", kind, str(home)]
    environ = {**os.environ, "PYTHONUNBUFFERED": "1"}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ)
    try:
        assert server.stdout
        yield int(server.stdout.readline())
    finally:
        server.terminate()
        server.communicate(timeout=10)


class Asking(asyncio.Protocol):
    """One connection: the next request leaves when the answer to the last one is whole."""

    def __init__(self, requests: Iterator[bytes], taken: list[float], done: asyncio.Future[None]) -> None:
        self._requests, self._taken, self._done = requests, taken, done
        self._held = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)
        self._ask()

    def data_received(self, data: bytes) -> None:
        self._held += data
        head, blank, body = self._held.partition(b"\r\n\r\n")
        if not blank or len(body) < int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]):
            return
        if not head.startswith(b"HTTP/1.1 200") or b'"isError":true' in body:
            self._done.set_exception(RuntimeError(self._held.decode()))
            return
        self._taken.append(perf_counter() - self._asked)
        self._held = b""
        self._ask()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._done.done():
            self._done.set_exception(exc or ConnectionError("The server hung up."))

    def _ask(self) -> None:
        request = next(self._requests, None)
        if request is None:
            self._done.set_result(None)
            self._transport.close()
            return
        self._asked = perf_counter()
        self._transport.write(request)


async def rush(port: int, requests: list[bytes]) -> tuple[float, list[float]]:
    """Answers in a second, and how long each took, with all connections asking at once."""
    loop, taken, left = asyncio.get_running_loop(), list[float](), iter(requests)
    waiting = [loop.create_future() for _ in range(CONNECTIONS)]
    begin = perf_counter()
    for done in waiting:
        await loop.create_connection(lambda done=done: Asking(left, taken, done), "127.0.0.1", port)
    await asyncio.gather(*waiting)
    return len(requests) / (perf_counter() - begin), taken


def fetching(world: World, key: str) -> bytes:
    params = {"name": "fetch", "arguments": {"id": f"{world.connection_id}/messages:{key}"}}
    body = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    head = (
        "POST /mcp HTTP/1.1",
        "Host: 127.0.0.1",
        f"Authorization: Bearer {world.token}",
        f"Content-Length: {len(body)}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "MCP-Protocol-Version: 2025-11-25",
    )
    return "\r\n".join((*head, "", "")).encode() + body


def hosted_fetch(world: World) -> Numbers:
    """`fetch` at /mcp, beside the same without the log, and beside a bare route; they take turns."""
    keys = [f"m{i * 7919 % world.count}" for i in range(EACH)]
    calls = [fetching(world, key) for key in keys]
    asked = {
        "ours": calls,
        "unlogged": calls,
        "bare": [f"GET /records/{key} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode() for key in keys],
    }
    rates: dict[str, list[float]] = {kind: [] for kind in asked}
    times: dict[str, list[float]] = {kind: [] for kind in asked}
    with ExitStack() as started:
        ports = {kind: started.enter_context(serving(kind, world.home)) for kind in asked}
        for turn in range(ROUNDS + 1):
            for kind, port in ports.items():
                rate, taken = uvloop.run(rush(port, asked[kind]))
                if turn:  # the first round warms
                    rates[kind].append(rate)
                    times[kind] += taken
    per_second = {kind: median(of) for kind, of in rates.items()}
    p50 = {kind: quantiles(of, n=2)[0] for kind, of in times.items()}
    return {
        "hosted_fetch_share": per_second["ours"] / per_second["bare"],
        "disclosure_log_cost": p50["ours"] / p50["unlogged"],
        "hosted_fetch_per_second": per_second["ours"],
        "bare_route_per_second": per_second["bare"],
    }


def main(kind: str, home: str) -> None:
    listening = listen("127.0.0.1", 0)
    print(listening.getsockname()[1])
    server_of(app_of(kind, Path(home))).run(sockets=[listening])


if __name__ == "__main__":
    main(*sys.argv[1:])
