"""A server that says what it is told to say, line for line, on a port of this machine."""

import socket
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from threading import Thread

Answer = Callable[[str, str], bytes | None]  # tag and command in, bytes out; None closes the connection
InPieces = Callable[[str, str], Iterable[bytes]]  # the same, by one who says one thing after the other


@contextmanager
def scripted(answer: Answer | InPieces, greeting: bytes = b"* OK hello\r\n") -> Generator[int, None, None]:
    """Its port. It ends with the block."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                _talk(connection, answer, greeting)

    thread = Thread(target=serve)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()


def _talk(connection: socket.socket, answer: Answer | InPieces, greeting: bytes) -> None:
    try:
        connection.sendall(greeting)
        for line in connection.makefile("rb"):
            tag, _, command = line.decode("utf-8", "replace").strip().partition(" ")
            told = answer(tag, command)
            if told is None:
                return
            for piece in [told] if isinstance(told, bytes) else told:
                connection.sendall(piece)
    except OSError:
        return


def usual(tag: str, command: str) -> bytes:
    """A mailbox with one message, as an honest server tells of it."""
    message = b"From: bob@example.org\r\nDate: Mon, 01 Jun 2026 10:00:00 +0000\r\nMessage-ID: <1@x>\r\n\r\nhello\r\n"
    verb = command.upper()
    told = b""
    if verb.startswith("CAPABILITY"):
        told = b"* CAPABILITY IMAP4rev1\r\n"
    elif verb.startswith("LIST"):
        told = b'* LIST () "/" INBOX\r\n'
    elif verb.startswith("EXAMINE"):
        told = b"* 1 EXISTS\r\n* OK [UIDVALIDITY 7] x\r\n* OK [UIDNEXT 2] x\r\n"
    elif "SEARCH" in verb:
        told = b"* SEARCH 1\r\n"
    elif "RFC822.SIZE" in verb:
        told = b"* 1 FETCH (UID 1 RFC822.SIZE %d)\r\n" % len(message)
    elif "BODY.PEEK" in verb:
        told = b"* 1 FETCH (UID 1 BODY[] {%d}\r\n%b)\r\n" % (len(message), message)
    elif "LOGOUT" in verb:
        told = b"* BYE\r\n"
    return told + f"{tag} OK done\r\n".encode()
