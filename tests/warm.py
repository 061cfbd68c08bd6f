"""A command that goes on, in a child of a process that has everything imported and nothing open: half a second less."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, Pipe
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import IO, Any

from tests.engine.homes import keep_homes_in
from tests.engine.sitecustomize import VARIABLE
from tests.forked import Done, _become

# An open SQLite database must not be carried into a child, so it is not this process that forks.
_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.scenarios.mcp.agents"])


@dataclass(frozen=True, slots=True)
class Running:
    """The other ends of its three streams, and how it ends."""

    given: IO[bytes]
    out: IO[bytes]
    err: IO[bytes]
    process: ForkServerProcess

    def ended(self, seconds: float) -> Done:
        """What it still said after its input was closed, which ends it."""
        self.given.close()
        self.process.join(seconds)
        assert self.process.exitcode is not None, f"The command did not end within {seconds} s."
        return Done(self.process.exitcode, self.out.read().decode(), self.err.read().decode())


@contextmanager
def running(words: list[str], *, env: dict[str, str], cwd: Path) -> Generator[Running]:
    (given, giving), (hearing, out), (noticing, err) = (Pipe(duplex=False) for _ in range(3))
    process = _CONTEXT.Process(target=_be, args=(words, given, out, err, env, cwd))
    with given, out, err:
        process.start()
    with _file(giving, "wb") as to, _file(hearing, "rb") as said, _file(noticing, "rb") as noticed:
        try:
            yield Running(to, said, noticed, process)
        finally:
            process.kill()
            process.join()
            process.close()


def _be(words: list[str], given: Connection, out: Connection, err: Connection, env: dict[str, str], cwd: Path) -> None:
    if VARIABLE in env:
        keep_homes_in(env[VARIABLE], setattr)
    _become(words, (given.fileno(), out.fileno(), err.fileno()), env, cwd)


def _file(end: Any, mode: str) -> IO[bytes]:
    with end:
        return os.fdopen(os.dup(end.fileno()), mode)
