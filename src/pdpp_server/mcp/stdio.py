"""MCP over standard input and output: one local agent, one token."""

# The first answers leave before the server, its tools and the store are imported: nothing dear may be imported here.
from __future__ import annotations

import os
import sys
import time

from pdpp_server.mcp.session import INVALID_REQUEST, Fault, Session, fault_reply, load_answers, strict_json
from pdpp_server.port.credentials import CredentialError, find_token, refuse_kind, refuse_owner_environment

TYPE_CHECKING = False  # `typing` alone would double the start-up time
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, BinaryIO

    from pdpp_server.port.reader import Reader

LINE_BYTES = 4 * 1024 * 1024
USAGE_ERROR = 64
USAGE = """usage: pdpp mcp [--client NAME]

Serve this home's records to one local agent over standard input and output.
  --client NAME   the connected client whose grant applies; needed only where several are connected
"""


def main(
    argv: Sequence[str],
    environ: Mapping[str, str],
    *,
    home: str,
    token_kind: Callable[[str], str | None],
    open_reader: Callable[[str], Reader],
) -> int:
    """`pdpp mcp`. `token_kind` and `open_reader` take the token; the first is asked before anything is served."""
    try:
        client = _client_of(argv)
    except ValueError as error:
        sys.stderr.write(f"{error}{USAGE}")
        return USAGE_ERROR if str(error) else 0
    try:
        refuse_owner_environment(environ)
        token = find_token(home, environ, client, now=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        refuse_kind(token_kind(token))
    except CredentialError as refusal:
        sys.stderr.write(f"pdpp mcp: {refusal}\n")
        return refusal.exit_code
    return run(lambda: open_reader(token))


def run(open_reader: Callable[[], Reader]) -> int:
    """Serve until the input ends, the reader of our answers is gone, or we are told to stop."""
    try:
        _serve(_take_stdout(), open_reader)
    except (BrokenPipeError, KeyboardInterrupt):
        return 0
    return 0


def _serve(out: int, open_reader: Callable[[], Reader]) -> None:
    loaded = False

    def load() -> None:
        nonlocal loaded
        loaded = True
        session.call = _load(session, open_reader)

    def load_and_call(name: str, arguments: dict[str, Any]) -> bytes:
        load()
        return session.call(name, arguments)

    session = Session(_front(), decode=strict_json, call=load_and_call)
    for line in _lines(sys.stdin.buffer):
        reply = session.handle(line) if line is not None else _TOO_LONG
        if reply is not None:
            _write(out, reply + b"\n")
        if not loaded and reply is not None and b"tools/list" in (line or b""):
            load()


def _load(session: Session, open_reader: Callable[[], Reader]) -> Callable[[str, dict[str, Any]], bytes]:
    """Import the rest; from now on the session decodes fast, and calls the tools themselves."""
    import signal
    from functools import cache

    from pdpp_server.mcp.server import McpServer, decode
    from pdpp_server.mcp.surface import TOOLS

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    server, reader = McpServer(TOOLS), cache(open_reader)
    server.warm(reader)
    session.decode = decode
    return lambda name, arguments: server.call(reader, name, arguments)


_TOO_LONG = fault_reply(None, Fault(INVALID_REQUEST, f"A line has at most {LINE_BYTES} bytes."))


def _lines(source: BinaryIO) -> Iterator[bytes | None]:
    """Each line that is not blank; None for one that is too long, of which no more than the limit was ever held."""
    while line := source.readline(LINE_BYTES + 1):
        if len(line) > LINE_BYTES and not line.endswith(b"\n"):
            while (rest := source.readline(65_536)) and not rest.endswith(b"\n"):
                pass
            yield None
        elif not line.isspace():
            yield line


def _take_stdout() -> int:
    """Keep the protocol's descriptor to ourselves: whatever prints from now on prints to standard error."""
    out = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return out


def _write(out: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(out, view) :]


def _front() -> dict[str, dict[str, bytes]]:
    path = os.path.join(os.path.dirname(__file__), "front.json")  # noqa: PTH118, PTH120 - pathlib is dear to import
    with open(path, "rb") as file:  # noqa: PTH123
        return load_answers(file.read())


def _client_of(argv: Sequence[str]) -> str | None:
    """Raises: ValueError, empty where help was asked for."""
    match list(argv):
        case []:
            return None
        case ["--help" | "-h"]:
            raise ValueError
        case ["--client", name] if name:
            return name
        case [flag] if flag.startswith("--client=") and flag != "--client=":
            return flag.removeprefix("--client=")
        case _:
            raise ValueError("pdpp mcp: these arguments are not understood.\n")
