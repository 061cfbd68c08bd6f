"""Connections that keep the server waiting: whose turn it is to go, and that nobody else waits for them."""

import asyncio
import socket
from collections.abc import Callable, Collection, Generator
from contextlib import ExitStack, contextmanager
from threading import Event, Thread

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from pdpp_server.http.protocol import CONNECTIONS_MAX, CONNECTIONS_MIN, Patience, guarded, room_for_connections
from tests.requirements import requirement

SECONDS = 20  # after which a test gives up; nothing is measured
SOON = Patience(headers=0.2, idle=0.2, body=0.2, answer=0.2, least_rate=1_000_000, look_every=0.05)
NEVER = Patience(headers=1e6, idle=1e6, body=1e6, answer=1e6)
GET = b"GET / HTTP/1.1\r\nHost: x\r\n"

Connect = Callable[[], socket.socket]


class House:
    """What answers; `lets_go` is what slow answers wait for."""

    def __init__(self) -> None:
        self.lets_go = Event()
        self.asked = 0
        self.connections: Collection[object] = ()  # the server's own

    def wait_until(self, is_so: Callable[[], object]) -> None:
        for _ in range(SECONDS * 100):
            if is_so():
                return
            Event().wait(0.01)
        raise TimeoutError

    async def hello(self, request: Request) -> Response:
        return PlainTextResponse("hello")

    async def take(self, request: Request) -> Response:
        return PlainTextResponse(str(len(await request.body())))

    async def refuse(self, request: Request) -> Response:
        return PlainTextResponse("no", 401)

    async def much(self, request: Request) -> Response:
        self.asked += 1
        return PlainTextResponse("x" * 50_000_000)

    async def think(self, request: Request) -> Response:
        self.asked += 1
        await asyncio.get_running_loop().run_in_executor(None, self.lets_go.wait, SECONDS)
        return PlainTextResponse("at last")


@contextmanager
def opened(patience: Patience, most: int = 100) -> Generator[tuple[House, Connect]]:
    house = House()
    paths = {"/": house.hello, "/take": house.take, "/refuse": house.refuse, "/much": house.much, "/think": house.think}
    app = Starlette(routes=[Route(path, run, methods=["GET", "POST"]) for path, run in paths.items()])
    with socket.create_server(("127.0.0.1", 0)) as listening, ExitStack() as sockets:
        config = uvicorn.Config(
            app, http=guarded(most, patience), ws="none", log_config=None, timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        house.connections = server.server_state.connections
        thread = Thread(target=server.run, args=([listening],))
        thread.start()

        def connect() -> socket.socket:
            place = listening.getsockname()
            return sockets.enter_context(socket.create_connection(place, SECONDS))

        try:
            yield house, connect
        finally:
            house.lets_go.set()
            server.should_exit = True
            thread.join()


def is_sent_away(connection: socket.socket) -> bool:
    """Waits until the other side ends it; False where it answers."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def answer(connection: socket.socket, path: str = "/") -> bytes:
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    return connection.recv(1000)


@requirement("rs.connections.patience")
@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"G",
        GET,
        b"POST /take HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc",
        b"POST /take HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    ],
)
def test_whoever_does_not_finish_is_sent_away(said: bytes) -> None:
    with opened(SOON) as (_, connect):
        connection = connect()
        connection.sendall(said)

        assert is_sent_away(connection)
        assert answer(connect()).endswith(b"hello")


@requirement("rs.connections.patience")
def test_a_byte_now_and_then_buys_no_time() -> None:
    drip, nobody = b"POST /take HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", Event()
    for begun in (GET + b"X: ", drip):
        with opened(SOON) as (_, connect):
            connection = connect()
            connection.sendall(begun)
            with pytest.raises(ConnectionError):
                for _ in range(SECONDS * 100):
                    connection.sendall(b"x")
                    nobody.wait(0.01)


@requirement("rs.connections.patience")
def test_a_body_that_was_refused_before_its_end_is_not_waited_for() -> None:
    with opened(SOON) as (_, connect):
        connection = connect()
        connection.sendall(b"POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
        assert b"401" in connection.recv(1000)
        connection.sendall(b"d")

        assert is_sent_away(connection)


@requirement("rs.connections.patience")
def test_whoever_does_not_take_an_answer_is_sent_away() -> None:
    with opened(SOON) as (house, connect):
        connection = connect()
        connection.sendall(b"GET /much HTTP/1.1\r\nHost: x\r\n\r\n")
        house.wait_until(lambda: house.asked and not house.connections)
        taken = 0
        while piece := connection.recv(1_000_000):  # what was on its way
            taken += len(piece)

        assert taken < 50_000_000


@requirement("rs.connections.patience")
def test_headers_have_an_end() -> None:
    with opened(NEVER) as (_, connect):
        connection = connect()
        with pytest.raises(ConnectionError):
            connection.sendall(GET)
            for number in range(10_000):
                connection.sendall(f"X-{number}: {'x' * 1000}\r\n".encode())


@requirement("rs.connections.patience")
def test_requests_that_come_one_after_the_other_are_answered_on_one_connection() -> None:
    with opened(NEVER) as (_, connect):
        connection = connect()
        both = b"POST /take HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc" + GET + b"\r\n"
        connection.sendall(both)
        said = b""
        while not said.endswith(b"hello"):
            said += connection.recv(1000)

        assert said.count(b"200 OK") == 2


@requirement("rs.connections.bounded")
def test_where_the_house_is_full_whoever_kept_it_waiting_longest_makes_room() -> None:
    with opened(NEVER, most=10) as (_, connect):
        waiting = [connect() for _ in range(10)]
        for connection in waiting[1:]:
            connection.sendall(b"G")  # the first says nothing

        assert answer(connect()).endswith(b"hello")
        assert is_sent_away(waiting[0])
        waiting[9].sendall(b"ET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert waiting[9].recv(1000).endswith(b"hello")


@requirement("rs.connections.bounded")
def test_nobody_whose_request_is_being_answered_makes_room() -> None:
    with opened(NEVER, most=3) as (house, connect):
        asking = [connect() for _ in range(3)]
        for connection in asking:
            connection.sendall(b"GET /think HTTP/1.1\r\nHost: x\r\n\r\n")
        house.wait_until(lambda: house.asked == 3)

        assert connect().recv(1000).startswith(b"HTTP/1.1 503")
        house.lets_go.set()
        assert all(connection.recv(1000).endswith(b"at last") for connection in asking)


@requirement("rs.connections.bounded")
def test_half_open_connections_without_end_shut_nobody_out() -> None:
    with opened(NEVER, most=10) as (_, connect):
        for number in range(200):
            connect().sendall(GET)
            if number % 20 == 0:
                assert answer(connect()).endswith(b"hello")


@requirement("rs.connections.bounded")
@pytest.mark.parametrize(("descriptors", "room"), [(8, CONNECTIONS_MIN), (1024, 512), (10**6, CONNECTIONS_MAX)])
def test_files_keep_half_of_what_a_process_may_open(descriptors: int, room: int) -> None:
    assert room_for_connections(descriptors) == room
