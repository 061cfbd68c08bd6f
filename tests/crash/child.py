"""A process to be killed: `python -m tests.crash.child PIPE HALT HOME WORK [ARGUMENT ...]`.

It writes one byte to the descriptor PIPE at each point that it passes: before each statement, and after each piece of
work that it may call done. After byte number HALT (0: never) it stands still, so that a kill lands at that very point;
a line of input lets it go on.
"""

import os
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw

from pdpp_server.cli import main as command
from pdpp_server.importers import ndjson, run
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import FetchQuery, RecordsQuery, SearchQuery
from pdpp_server.owner.backup import back_up
from pdpp_server.owner.writer import Writer
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import open_services
from pdpp_server.store.engines.sqlite.db import SqliteDatabase
from tests.crash import life
from tests.crash.killing import BEGIN, COMMIT, DONE, FOLD, INSIDE, OUTSIDE, UNDO
from tests.importers import toys
from tests.worlds.chat import DECLARATION
from tests.worlds.told import ToldReader, told


class Pipe:
    """Says where the process is."""

    def __init__(self, descriptor: int, halt: int) -> None:
        self._descriptor, self._halt, self._passed = descriptor, halt, 0

    def say(self, point: bytes) -> None:
        os.write(self._descriptor, point)
        self._passed += len(point)
        if self._halt and self._passed >= self._halt:
            self._halt = 0
            sys.stdin.readline()

    def follow(self, connection: apsw.Connection) -> None:
        """Every statement of this connection."""
        is_writing = False

        def before(_: apsw.Cursor, statement: str, __: Any) -> bool:
            nonlocal is_writing
            said = statement.strip().lower()
            if said == "begin immediate":
                is_writing = True
                self.say(BEGIN)
            elif is_writing and said in {"commit", "rollback"}:
                is_writing = False
                self.say(COMMIT if said == "commit" else UNDO)
            elif said.startswith("pragma wal_checkpoint"):
                self.say(FOLD)
            else:
                self.say(INSIDE if is_writing else OUTSIDE)
            return True

        connection.set_exec_trace(before)


def write(pipe: Pipe, home: Path, seed: str) -> None:
    """The writer itself, batch by batch."""
    services = open_services(home, now=now)
    writer = Writer(services, DECLARATION, life.ACCOUNT)
    for batch in life.batches(life.lines(int(seed))):
        writer.deliver(batch)
        pipe.say(DONE)
    writer.finish("lines.ndjson", [])
    services.close()


def import_(pipe: Pipe, home: Path, file: str, declaration: str) -> None:
    """The whole command, in batches so small that there are many."""
    deliver = Writer.deliver

    def told(writer: Writer, batch: list[Any]) -> Any:
        receipt = deliver(writer, batch)
        pipe.say(DONE)
        return receipt

    Writer.deliver = told  # pyright: ignore[reportAttributeAccessIssue]
    ndjson.BATCH_RECORDS = life.BATCH
    pdpp(home, "import", file, "--declaration", declaration, "--name", life.ACCOUNT)


def import_export(pipe: Pipe, home: Path, file: str, declarations: str) -> None:
    """The same for an export, of a source that is made for tests."""
    toys.install(Path(declarations))
    run.BATCH_RECORDS = life.BATCH
    pdpp(home, "import", file, "--zone", "UTC")
    pipe.say(DONE)


def pdpp(home: Path, *words: str) -> None:
    os.environ["PDPP_HOME"] = str(home)
    assert command._run(words) == 0


def remove(pipe: Pipe, home: Path) -> None:
    pdpp(home, "sources", "remove", life.ACCOUNT, "--yes")
    pipe.say(DONE)


def serve(_: Pipe, home: Path) -> None:
    pdpp(home, "serve", "--port", "0")


def open_(pipe: Pipe, home: Path) -> None:
    """Opening a home brings its schema up to date."""
    database = SqliteDatabase(home / "pdpp.sqlite")
    pipe.say(DONE)
    database.close()


def read(pipe: Pipe, home: Path, token: str) -> None:
    """Reads without end; DONE and the request id once an answer is there."""
    reader = ToldReader(LocalReader(open_services(home, now=now), token))
    for number in range(10_000):
        for ask in _questions(reader, number):
            pipe.say(DONE + ask().encode())


def _questions(reader: ToldReader, number: int) -> Iterator[Callable[[], str]]:
    yield lambda: _taken(reader.search(SearchQuery("lease", limit=1 + number % 20)))
    page = reader.query_records(RecordsQuery("messages", limit=1 + number % 20)).value
    yield lambda: _taken(reader.fetch(FetchQuery("messages", page.records[0].id.key)))


def _taken(pending: Pending[Any]) -> str:
    told(pending)
    return pending.request_id


def copy(pipe: Pipe, home: Path, target: str) -> None:
    """Backups without end: after the first each copies what is new."""
    for _ in range(5):
        back_up(home, Path(target), now=now(), keep=10, progress=lambda *_: pipe.say(OUTSIDE))
        pipe.say(DONE)


def now() -> datetime:
    return datetime.now(UTC)


WORK: dict[str, Callable[..., None]] = {
    "write": write, "import": import_, "export": import_export, "remove": remove, "serve": serve, "open": open_,
    "read": read, "copy": copy,
}  # fmt: skip


def main(descriptor: str, halt: str, home: str, work: str, *arguments: str) -> None:
    pipe = Pipe(int(descriptor), int(halt))
    apsw.connection_hooks.append(pipe.follow)
    WORK[work](pipe, Path(home), *arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
