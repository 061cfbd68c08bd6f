"""Servers on a loopback socket: a world's own, or any other app; and the world as it is read through one."""

import asyncio
import socket
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from threading import Thread

import uvicorn
from starlette.types import ASGIApp

from pdpp_server.app import create_app
from pdpp_server.cli.serve import server_of
from pdpp_server.port.exchange import Exchange
from pdpp_server.port.network import NetworkReader
from pdpp_server.settings import Settings
from tests.worlds.world import World


class _Prompt(uvicorn.Server):
    """Ends as soon as it is told to: uvicorn looks ten times a second, and then waits a tenth for nobody."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._told: Future[None] = Future()

    def end(self) -> None:
        self.should_exit = True
        self._told.set_result(None)

    async def main_loop(self) -> None:
        told = asyncio.wrap_future(self._told)
        while not await self.on_tick(0):  # which writes the date of the answers
            await asyncio.wait([told], timeout=1)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listening in self.servers:
            listening.close()
        for connection in [*self.server_state.connections]:
            connection.shutdown()
        await asyncio.sleep(0)  # those that were idle are closed now
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)
        else:
            await self.lifespan.shutdown()


@contextmanager
def served(app: ASGIApp) -> Generator[str]:
    """The address at which that app answers; whoever connects waits in the socket until it does."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = _Prompt(server_of(app).config)
        server.config.timeout_graceful_shutdown = 1
        thread = Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.end()
            thread.join()


@contextmanager
def network(address: str) -> Generator[Callable[[str], NetworkReader]]:
    """A token becomes a reader of that server."""
    with ExitStack() as opened:

        def reader_of(token: str) -> NetworkReader:
            reader = NetworkReader(Exchange(address, token))
            opened.callback(reader.close)
            return reader

        yield reader_of


@contextmanager
def over_network(world: World) -> Generator[World]:
    """The same world, whose readers ask its server instead of its store."""
    with served(create_app(Settings(home=world.home), world.services)) as address, network(address) as reader_of:
        yield replace(world, open_reader=reader_of)
