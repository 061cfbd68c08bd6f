"""MCP over standard input and output: one local agent, one token."""

# The first answers leave before the server, its tools and the store are imported: nothing dear may be imported here.
from __future__ import annotations

import os
import sys
import time

from pdpp_server.mcp.session import INVALID_REQUEST, McpSession, ProtocolFault, fault_reply, load_answers, strict_json
from pdpp_server.port.credentials import CredentialError, find_credential, refuse_kind, refuse_owner_environment

TYPE_CHECKING = False  # `typing` alone would double the start-up time
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, BinaryIO

    from pdpp_server.port.bridge import Bridge
    from pdpp_server.port.credentials import Credential
    from pdpp_server.port.reader import Reader

LINE_BYTES = 4 * 1024 * 1024
USAGE_ERROR = 64
PROVIDER_VARIABLE, PLAIN_HTTP_VARIABLE = "PDPP_PROVIDER_URL", "PDPP_PROVIDER_PLAIN_HTTP"
USAGE = """usage: pdpp mcp [--client NAME] [--provider-url URL]

Serve this home's records, or those of another server, to one local agent over standard input and output.
  --client NAME        the connected client whose grant applies; needed only where several are connected
  --provider-url URL   the server to read from instead of this home
"""


def main(
    argv: Sequence[str],
    environ: Mapping[str, str],
    *,
    home: str,
    token_kind: Callable[[str], str | None],
    open_reader: Callable[[Credential], Reader],
    open_provider: Callable[[str, Credential], Reader | Bridge],
) -> int:
    """`pdpp mcp`. `token_kind` takes a token, and is asked before anything is served; one that ended is renewed first.

    `open_provider` takes an address too, and raises CredentialError where that server calls the token an owner's.
    """
    try:
        options = _options(argv)
        provider = _provider(options.get("--provider-url"), environ)
    except ValueError as error:
        if not str(error):
            sys.stdout.write(USAGE)
            return 0
        sys.stderr.write(f"{error}{USAGE}")
        return USAGE_ERROR
    try:
        refuse_owner_environment(environ)
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        credential = find_credential(home, environ, options.get("--client"), now=now, provider=provider)
        if provider is None and not credential.has_ended(now):
            refuse_kind(token_kind(credential.token))
    except CredentialError as refusal:
        return _refused(refusal)
    return run(lambda: open_reader(credential) if provider is None else open_provider(provider, credential))


def run(open_reader: Callable[[], Reader | Bridge]) -> int:
    """Serve until the input ends, the reader of our answers is gone, or we are told to stop."""

    def open_or_end() -> Reader | Bridge:
        """What a token is may be known only now; where it may not be used, that is the end of the process."""
        try:
            return open_reader()
        except CredentialError as refusal:
            raise SystemExit(_refused(refusal)) from None

    try:
        _serve(_take_stdout(), open_or_end)
    except (BrokenPipeError, KeyboardInterrupt):
        return 0
    return 0


def _serve(out: int, open_reader: Callable[[], Reader | Bridge]) -> None:
    loaded = False

    def load() -> None:
        nonlocal loaded
        loaded = True
        session.serve = _load(session, open_reader)

    def load_and_serve(method: str, params: dict[str, Any]) -> bytes:
        load()
        return session.serve(method, params)

    session = McpSession(_front(), decode=strict_json, serve=load_and_serve)
    for line in _lines(sys.stdin.buffer):
        reply = session.handle(line) if line is not None else _TOO_LONG
        if reply is not None:
            _write(out, reply + b"\n")
        if not loaded and reply is not None and b"tools/list" in (line or b""):
            load()


def _load(session: McpSession, open_reader: Callable[[], Reader | Bridge]) -> Callable[[str, dict[str, Any]], bytes]:
    """Import the rest; from now on the session decodes fast, and asks the server itself."""
    import signal
    from functools import cache

    from pdpp_server.mcp.server import McpServer, decode
    from pdpp_server.mcp.surface import TOOLS

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    server, reader = McpServer(TOOLS), cache(open_reader)
    server.warm(reader)
    session.decode = decode
    return lambda method, params: server.serve(reader, method, params).result


_TOO_LONG = fault_reply(None, ProtocolFault(INVALID_REQUEST, f"A line has at most {LINE_BYTES} bytes."))


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


def _options(argv: Sequence[str]) -> dict[str, str]:
    """Raises: ValueError, empty where help was asked for."""
    options: dict[str, str] = {}
    words = list(argv)
    if words in (["--help"], ["-h"]):
        raise ValueError
    while words:
        name, equals, value = words.pop(0).partition("=")
        if not equals and words:
            value = words.pop(0)
        if name not in {"--client", "--provider-url"} or name in options or not value:
            raise ValueError("pdpp mcp: these arguments are not understood.\n")
        options[name] = value
    return options


def _provider(url: str | None, environ: Mapping[str, str]) -> str | None:
    """The address of the server to read from; none where that is this home. Raises: ValueError."""
    url = environ.get(PROVIDER_VARIABLE) if url is None else url
    if url is None:
        return None
    from pdpp_server.wire.address import server_address

    try:
        return server_address(url, plain_http=environ.get(PLAIN_HTTP_VARIABLE) == "1")
    except ValueError as error:
        raise ValueError(f"pdpp mcp: {error}\n") from None


def _refused(refusal: CredentialError) -> int:
    sys.stderr.write(f"pdpp mcp: {refusal}\n")
    return refusal.exit_code
