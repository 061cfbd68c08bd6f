"""What is said to a server, as it goes over the wire: a port that passes everything on and notes each command."""

import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from threading import Thread

CHUNK_BYTES = 64 * 1024


@contextmanager
def relayed(port: int) -> Generator[tuple[int, list[str]], None, None]:
    """The port to speak to instead, and what was said there, line by line. It ends with the block."""
    listening = socket.create_server(("127.0.0.1", 0))
    said: list[str] = []
    threads: list[Thread] = []
    ends: list[socket.socket] = []

    def begin(work: object, *given: object) -> None:
        thread = Thread(target=work, args=given)  # pyright: ignore[reportArgumentType]
        threads.append(thread)
        thread.start()

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                server = socket.create_connection(("127.0.0.1", port))
                ends.extend((client, server))
                begin(_pass_on, client, server, said)
                begin(_pass_on, server, client, None)

    begin(serve)
    try:
        yield listening.getsockname()[1], said
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        for thread in threads:
            thread.join()
        for end in ends:
            end.close()


def _pass_on(source: socket.socket, goal: socket.socket, said: list[str] | None) -> None:
    begun = b""
    with suppress(OSError):
        while data := source.recv(CHUNK_BYTES):
            goal.sendall(data)
            if said is not None:
                *lines, begun = (begun + data).split(b"\r\n")
                said += [line.decode("utf-8", "replace") for line in lines]
    with suppress(OSError):
        goal.shutdown(socket.SHUT_WR)
