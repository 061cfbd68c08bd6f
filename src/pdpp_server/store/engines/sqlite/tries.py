"""Tries in a file of their own, which nobody misses: whoever counts never waits for an import."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import apsw

from pdpp_server.errors import IngestStorageError
from pdpp_server.store.engines.sqlite.session import SqliteWriting
from pdpp_server.store.tries import TableLedger

_SCHEMA = """
pragma journal_mode = wal;
pragma synchronous = off;
create table if not exists tries(
    name text not null, kind text not null, whose text not null, times real not null, at real not null,
    primary key(name, kind, whose)
) without rowid;
"""
BUSY_MILLISECONDS = 5_000


class SqliteTries:
    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, Lock()
        self._connection: apsw.Connection | None = None

    @contextmanager
    def open(self, name: str) -> Generator[TableLedger, None, None]:
        with self._lock:
            try:
                connection = self._opened()
                connection.execute("begin immediate")
                try:
                    yield TableLedger(SqliteWriting(connection), name)
                    connection.execute("commit")
                finally:
                    if connection.in_transaction:
                        connection.execute("rollback")
            except apsw.Error as error:
                raise IngestStorageError(f"Tries cannot be counted ({error}).") from error

    def close(self) -> None:
        with self._lock:
            if self._connection:
                self._connection.close()
            self._connection = None

    def _opened(self) -> apsw.Connection:
        if self._connection is None:
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            self._connection = apsw.Connection(str(self._path))
            self._connection.set_busy_timeout(BUSY_MILLISECONDS)
            self._connection.execute(_SCHEMA).fetchall()
        return self._connection
