"""The table of what was asked, in SQLite."""

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import cast

import apsw
import orjson

from pdpp_server.store.asked import SealedAsk
from pdpp_server.store.engines.asked import ADD, ALL, DROP, FIND

BUSY_MILLISECONDS = 2_000

_PRAGMAS = """
pragma journal_mode = wal;
pragma synchronous = normal;
pragma secure_delete = on;
pragma trusted_schema = off;
"""
_SCHEMA = """
create table if not exists asked(
    request_id text not null,
    operation text not null,
    month text not null,
    sealed blob not null,
    primary key(request_id, operation)
) without rowid;
"""


class SqliteAsked:
    """A file of its own: whoever writes here never waits for an import, which holds the other database for long."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, Lock()
        self._connection: apsw.Connection | None = None
        self._opened_by = 0

    def keep(self, ask: SealedAsk) -> None:
        """Raises `OSError` where it cannot be kept."""
        try:
            with self._lock:
                self._open().execute(ADD, ask._asdict())
        except apsw.Error as error:
            raise OSError(errno.EIO, str(error)) from error

    def find(self, request_ids: Iterable[str]) -> list[SealedAsk]:
        named = {"request_ids": orjson.dumps(list(request_ids)).decode()}
        return self._rows(FIND, named) if self._path.exists() else []

    def every(self) -> list[SealedAsk]:
        return self._rows(ALL, {}) if self._path.exists() else []

    def drop(self, asks: Iterable[SealedAsk]) -> None:
        """For good: no page of the file and no write-ahead log keeps them."""
        with self._lock:
            connection = self._open()
            with connection:
                connection.executemany(DROP, [{"request_id": ask[0], "operation": ask[1]} for ask in asks])
            connection.execute("pragma wal_checkpoint(truncate)").fetchall()

    def close(self) -> None:
        with self._lock:
            if self._connection and self._opened_by == os.getpid():
                self._connection.close()
            self._connection = None

    def _rows(self, sql: str, named: dict[str, str]) -> list[SealedAsk]:
        with self._lock:
            rows = self._open().execute(sql, named).fetchall()
        return [SealedAsk(*row) for row in cast("list[tuple[str, str, str, bytes]]", rows)]

    def _open(self) -> apsw.Connection:
        """Opened when it is first needed; a child process never uses what its parent opened."""
        if self._connection is None or self._opened_by != os.getpid():
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = apsw.Connection(str(self._path))
            connection.set_busy_timeout(BUSY_MILLISECONDS)
            connection.execute(_PRAGMAS).fetchall()
            connection.execute(_SCHEMA)
            self._connection, self._opened_by = connection, os.getpid()
        return self._connection
