"""Servers on a loopback socket: a world's own, or any other app; and the world as it is read through one."""

import socket
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from threading import Thread

from starlette.types import ASGIApp

from pdpp_server.app import create_app
from pdpp_server.cli.serve import server_of
from pdpp_server.port.exchange import Exchange
from pdpp_server.port.network import NetworkReader
from pdpp_server.settings import Settings
from tests.worlds.world import World


@contextmanager
def served(app: ASGIApp) -> Generator[str]:
    """The address at which that app answers; whoever connects waits in the socket until it does."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = server_of(app)
        server.config.timeout_graceful_shutdown = 1
        thread = Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
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
