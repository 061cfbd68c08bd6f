"""A way in that waits for no writer: lines of the log, keys, and what was asked."""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import psycopg

from pdpp_server.store.engines.postgres.session import PostgresWriting

_BEGIN = "begin; select set_config('pdpp.owner', ?, true)"

PostgresConnection = psycopg.Connection[tuple[Any, ...]]


class Aside:
    """One connection, opened when it is first needed and again after trouble; a child never uses its parent's."""

    def __init__(self, connect: Callable[[], PostgresConnection], owner: int) -> None:
        self._connect, self._owner = connect, owner
        self._lock = Lock()
        self._connection: PostgresConnection | None = None
        self._opened_by = 0

    @contextmanager
    def writing(self) -> Generator[PostgresWriting, None, None]:
        """One transaction, durable when the block is left.

        Raises:
            psycopg.Error: nobody knows whether it was kept.
        """
        with self._lock:
            try:
                writing = self._begun()
                yield writing
                writing.run("commit")
            except BaseException:
                self._let_go()
                raise

    def close(self) -> None:
        with self._lock:
            self._let_go()

    def _begun(self) -> PostgresWriting:
        """On another connection where the one from before was lost meanwhile: nothing was said on it yet."""
        try:
            return self._begin()
        except psycopg.OperationalError:
            self._let_go()
            return self._begin()

    def _begin(self) -> PostgresWriting:
        writing = PostgresWriting(self._opened())
        writing.run(_BEGIN, (str(self._owner),))
        return writing

    def _opened(self) -> PostgresConnection:
        if self._connection is None or self._opened_by != os.getpid():
            self._connection, self._opened_by = self._connect(), os.getpid()
        return self._connection

    def _let_go(self) -> None:
        if self._connection is not None and self._opened_by == os.getpid():
            self._connection.close()
        self._connection = None
