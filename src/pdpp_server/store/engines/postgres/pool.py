"""The connections of one process to its database: a few, made when they are needed, each used by one at a time."""

import os
import sys
from collections.abc import Callable
from queue import Empty, SimpleQueue
from weakref import WeakSet

import psycopg
from psycopg.pq import TransactionStatus

from pdpp_server.errors import DatabaseUnavailable
from pdpp_server.store.engines.postgres.connecting import connect
from pdpp_server.store.engines.postgres.connection import PostgresConnection
from pdpp_server.store.engines.postgres.troubles import is_lost

WAIT_SECONDS = 5.0
ASIDE = 2  # for lines of the log, which wait for no read and no writer


class Pool:
    """Whoever waits for a connection that cannot be made is told why, and at once: so each makes its own."""

    def __init__(self, url: str, most: int, idle: list[PostgresConnection]) -> None:
        """Those that are idle may be shared with another pool: whoever comes next takes the one that was used last."""
        self._url, self._most, self._idle = url, most, idle
        self.is_in_doubt = True  # until something was written
        self._is_closed = False
        self._begin()
        _POOLS.add(self)

    def _begin(self) -> None:
        self._room: SimpleQueue[None] = SimpleQueue()  # holds as many things as there is room for connections
        for _ in range(self._most):
            self._room.put(None)

    def begin_in_child(self) -> None:
        """Which never uses its parent's."""
        self._idle.clear()
        self._begin()

    def taken(self) -> PostgresConnection:
        """A connection on which nothing was said yet. One whose end was noticed is none.

        Raises:
            DatabaseUnavailable: there is none; it says why.
        """
        return self.begun(_require_alive)

    def begun(self, begin: Callable[[PostgresConnection], object]) -> PostgresConnection:
        """A connection on which `begin` was said. One that was lost meanwhile is noticed by it, at no cost: nothing was
        said on it yet. Then all that were idle are suspect, and another is made.

        Raises:
            DatabaseUnavailable: there is none; it says why.
        """
        try:
            self._room.get(timeout=WAIT_SECONDS)
        except Empty:
            raise DatabaseUnavailable(
                f"All {self._most} connections of this process to the database are in use.",
                remedy="Try again; PDPP_DATABASE_CONNECTIONS allows more.",
            ) from None
        try:
            return self._begun_on_idle(begin) or self._begun_on_fresh(begin)
        except BaseException:
            self._room.put(None)
            raise

    def give_back(self, connection: PostgresConnection) -> None:
        """Once what was begun on it has ended; a connection on which it did not is closed."""
        self._keep(connection, is_usable=connection.pgconn.transaction_status == TransactionStatus.IDLE)

    def let_go(self, connection: PostgresConnection) -> None:
        """What was begun on it is ended now, and nobody waits for that: whoever takes it next hears the answer."""
        self._keep(connection, is_usable=_is_told_to_end(connection))

    def _keep(self, connection: PostgresConnection, *, is_usable: bool) -> None:
        if is_usable and not self._is_closed:
            self._idle.append(connection)
        else:
            connection.close()
        self._room.put(None)

    def close(self) -> None:
        """Those in use are closed when they are given back."""
        self._is_closed = True
        self._forget_idle()

    def _begun_on_idle(self, begin: Callable[[PostgresConnection], object]) -> PostgresConnection | None:
        try:
            connection = self._idle.pop()
        except IndexError:
            return None
        try:
            if connection.pgconn.transaction_status != TransactionStatus.IDLE:
                _hear_end(connection)
            begin(connection)
        except BaseException as error:
            connection.close()
            if not isinstance(error, psycopg.Error) or not is_lost(error):
                raise
            self._forget_idle()
            return None
        return connection

    def _begun_on_fresh(self, begin: Callable[[PostgresConnection], object]) -> PostgresConnection:
        connection = connect(self._url)
        try:
            begin(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _forget_idle(self) -> None:
        while self._idle:
            try:
                self._idle.pop().close()
            except IndexError:  # another thread took the last one
                return


_POOLS: WeakSet[Pool] = WeakSet()


def _begin_in_child() -> None:
    for pool in _POOLS:
        pool.begin_in_child()


if sys.platform != "win32":  # where processes can fork at all
    os.register_at_fork(after_in_child=_begin_in_child)


def _is_told_to_end(connection: PostgresConnection) -> bool:
    """Whether nothing is begun on it, or it could be told to end that."""
    protocol = connection.pgconn
    status = protocol.transaction_status
    if status not in {TransactionStatus.INTRANS, TransactionStatus.INERROR}:
        return status == TransactionStatus.IDLE
    try:
        protocol.send_query(b"rollback")
        return protocol.flush() == 0
    except psycopg.OperationalError:
        return False


def _hear_end(connection: PostgresConnection) -> None:
    """The answer to how its last use ended."""
    protocol = connection.pgconn
    while protocol.transaction_status == TransactionStatus.ACTIVE and protocol.get_result():
        pass


def _require_alive(connection: PostgresConnection) -> None:
    """Hears what was said meanwhile, without asking.

    Raises:
        psycopg.OperationalError: it has ended.
    """
    protocol = connection.pgconn
    for _ in range(2):  # words of farewell, then the end
        protocol.consume_input()


class Pools:
    """One for reads and writers, which wait for each other where there are too many, and one that waits for neither."""

    def __init__(self, url: str, most: int = 10) -> None:
        self.url = url
        idle: list[PostgresConnection] = []
        self.work, self.aside = Pool(url, most, idle), Pool(url, ASIDE, idle)

    def close(self) -> None:
        self.work.close()
        self.aside.close()
