"""A way in that waits for no read and no writer: lines of the log, keys, and what was asked."""

from collections.abc import Generator
from contextlib import contextmanager

import psycopg

from pdpp_server.store.engines.postgres.connection import PostgresConnection
from pdpp_server.store.engines.postgres.pool import Pool
from pdpp_server.store.engines.postgres.session import PostgresWriting, asking
from pdpp_server.store.engines.postgres.troubles import refuse
from pdpp_server.store.session import Statement

_BEGIN = asking("begin")
_NAME = "select set_config('pdpp.owner', ?, true), set_config('statement_timeout', ?, true)"
STATEMENT_MS = 5000


class Aside:
    """Short transactions of one owner, each on a connection of its own."""

    def __init__(self, pool: Pool, owner: int) -> None:
        self._pool = pool
        self._named = asking(_NAME, (str(owner), str(STATEMENT_MS)))

    @contextmanager
    def writing(self) -> Generator[PostgresWriting, None, None]:
        """One transaction, durable when the block is left.

        Raises:
            DatabaseUnavailable: it says why; nobody knows whether what was written is kept.
        """
        try:
            connection = self._pool.begun(self._begin)
            try:
                writing = PostgresWriting(connection)
                yield writing
                writing.run("commit")
            finally:
                self._pool.give_back(connection)  # which closes one whose transaction did not end
        except psycopg.Error as error:
            refuse(error)

    def write(self, *said: Statement) -> None:
        """The same where nothing depends on an answer: one round trip, so it is not said again on another connection.

        Raises:
            DatabaseUnavailable: it says why; nobody knows whether what was written is kept.
        """
        try:
            connection = self._pool.taken()
            try:
                connection.tell(self._named, *[asking(*each) for each in said])
            finally:
                self._pool.give_back(connection)
        except psycopg.Error as error:
            self._pool.is_in_doubt = True
            refuse(error)
        self.trust()

    def trust(self) -> None:
        self._pool.is_in_doubt = False

    @property
    def is_in_doubt(self) -> bool:
        """Whether what this process wrote last in one round trip failed, for whichever owner; so it is at first."""
        return self._pool.is_in_doubt

    def _begin(self, connection: PostgresConnection) -> None:
        connection.ask(_BEGIN, self._named)
