"""One owner's share of a PostgreSQL database: a snapshot for each read, one writer at a time for each owner."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg
from psycopg.errors import InsufficientPrivilege, QueryCanceled, ReadOnlySqlTransaction

from pdpp_server.errors import DatabaseUnavailable, IngestStorageError, QueryTimeout, ServerTrouble
from pdpp_server.store.engines.meanings import KeptMeanings
from pdpp_server.store.engines.postgres.aside import Aside, PostgresConnection
from pdpp_server.store.engines.postgres.asked import PostgresAsked
from pdpp_server.store.engines.postgres.blobs import PostgresBlobs, erase_released
from pdpp_server.store.engines.postgres.connecting import connect
from pdpp_server.store.engines.postgres.keys import PostgresKeys
from pdpp_server.store.engines.postgres.log import PostgresActivity, PostgresLog
from pdpp_server.store.engines.postgres.session import PostgresSession, PostgresWriting
from pdpp_server.store.engines.postgres.tables import PostgresTables
from pdpp_server.store.engines.postgres.words import PostgresWords
from pdpp_server.store.engines.sqlite.cutting import cutter_in_memory
from pdpp_server.store.keys import KeyFiles
from pdpp_server.store.layout import Layout, LayoutCache
from pdpp_server.store.records.words import Tokenizer

_SCHEMA = Path(__file__).with_name("schema.sql")
_HAS_SCHEMA = "select to_regclass('records') is not null"
_ONE_WHO_MAKES_IT = "select pg_advisory_xact_lock(hashtextextended('pdpp schema', 0))"
_VERSION = "select version from schema_version"
SCHEMA_VERSION = 1
_NOT_NOW = (psycopg.OperationalError, psycopg.InterfaceError, ReadOnlySqlTransaction, InsufficientPrivilege)
_NAME_OWNER = "select set_config('pdpp.owner', ?, true)"
_BEGIN_READ = """
begin isolation level repeatable read read only;
select set_config('pdpp.owner', ?, true), set_config('statement_timeout', ?, true)
"""
_ONE_WRITER = "select pg_advisory_xact_lock(?)"
_FIRST_LAYOUT = "insert into layout default values on conflict do nothing"
_FIRST_CLOCK = "insert into clock default values on conflict do nothing"


class PostgresReading(PostgresSession):
    """One snapshot, in which no rows are there but those of one owner."""

    layout: Layout

    def __init__(
        self, reopen: Callable[[], PostgresConnection], layouts: LayoutCache, owner: int, seconds: float
    ) -> None:
        super().__init__(reopen())
        self._reopen = reopen
        self.layouts = layouts
        self.tokenizer = Tokenizer(cutter_in_memory())
        self.records = PostgresTables(self)
        self.words = PostgresWords(self, self.records)
        self.meanings = KeptMeanings(self, self.records)
        self._owner, self._seconds = owner, seconds

    def __enter__(self) -> Self:
        try:
            self._begin()
            self.layout = self.layouts.of(self)
        except psycopg.Error as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def _begin(self) -> None:
        """On another connection where the one from before was lost meanwhile: nothing was said on it yet."""
        asked = (str(self._owner), f"{self._seconds * 1000:.0f}")
        try:
            self._execute(_BEGIN_READ, asked)
        except psycopg.OperationalError:
            self.connection = self._reopen()
            self._execute(_BEGIN_READ, asked)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            self.connection.execute("rollback")
        except psycopg.Error:
            self.connection.close()
        if isinstance(error, QueryCanceled):
            raise QueryTimeout(f"The read took longer than {self._seconds:g} s.") from error
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            raise DatabaseUnavailable("The connection to the database was lost.") from error


class PostgresWrite(PostgresWriting):
    """One transaction of the owner's one writer: where things lie as it began, and when that was."""

    def __init__(self, connection: PostgresConnection, layouts: LayoutCache, now: str) -> None:
        super().__init__(connection)
        self.layouts, self.now = layouts, now
        self.layout = layouts.of(self)


class PostgresDatabase:
    """Nothing in the home is missed when it is lost, but the key that wraps the others where no other is named."""

    def __init__(
        self, url: str, home: Path, *, owner: int, read_seconds: float = 5.0, key_file: Path | None = None
    ) -> None:
        wrapping = key_file or home / "keys" / "wrapping.key"
        aside = Aside(self._open, owner)
        self.path = home
        self.log = PostgresLog(aside)
        self.activity = PostgresActivity(self.reading)
        self.asked = PostgresAsked(aside, self.reading)
        self.keys = PostgresKeys(aside, owner, partial(KeyFiles(wrapping.parent).kept, wrapping.name))
        self.blobs = PostgresBlobs(home / "drafts", self.reading)
        self.layouts = LayoutCache()
        self._url, self._owner, self._read_seconds = url, owner, read_seconds
        self._local = threading.local()
        self._write_lock = threading.Lock()
        self._opened: list[PostgresConnection] = []
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._writer = self._open()
        try:
            self._prepare()
        except psycopg.Error as error:
            self.close()
            raise ServerTrouble(
                f"The database of PDPP_DATABASE_URL cannot be used ({type(error).__name__}).",
                remedy="The role of the server must be able to write there, and to make tables when it is new.",
            ) from error
        except ServerTrouble:
            self.close()
            raise

    def _open(self) -> PostgresConnection:
        connection = connect(self._url)
        self._opened = [known for known in self._opened if not known.closed]
        self._opened.append(connection)
        return connection

    def _prepare(self) -> None:
        """The tables, once for all owners; then the first rows of this one."""
        with self._writer.transaction():
            self._writer.execute(_ONE_WHO_MAKES_IT)
            writing = PostgresWriting(self._writer)
            if not writing.one(_HAS_SCHEMA):
                self._writer.execute(_SCHEMA.read_bytes())
            version: int = writing.one(_VERSION)
            if version > SCHEMA_VERSION:
                raise ServerTrouble(
                    f"The database has schema {version}; this pdpp-server knows {SCHEMA_VERSION}.",
                    remedy="Install the newer pdpp-server again.",
                )
            writing.one(_NAME_OWNER, (str(self._owner),))
            writing.run(_FIRST_LAYOUT)
            writing.run(_FIRST_CLOCK)

    def reading(self) -> PostgresReading:
        """This thread's reader; use it as a context manager."""
        reading: PostgresReading | None = getattr(self._local, "reading", None)
        if reading is None:
            reading = PostgresReading(self._open, self.layouts, self._owner, self._read_seconds)
            self._local.reading = reading
        return reading

    @contextmanager
    def _transaction(self) -> Generator[PostgresConnection, None, None]:
        with self._write_lock:
            if self._writer.closed:
                self._writer = self._open()
            try:
                with self._writer.transaction():
                    begun = PostgresWriting(self._writer)
                    begun.one(_NAME_OWNER, (str(self._owner),))
                    begun.one(_ONE_WRITER, (self._owner,))
                    yield self._writer
                    erase_released(begun)
            except _NOT_NOW as error:
                raise IngestStorageError(
                    f"The database could not be written ({type(error).__name__}).",
                    remedy="Try again: nothing is stored twice.",
                ) from error

    @contextmanager
    def writing(self) -> Generator[PostgresWriting, None, None]:
        """The one writer of this owner, inside one transaction: all of it is kept, or none."""
        with self._transaction() as connection:
            yield PostgresWriting(connection)

    @contextmanager
    def write(self, now: str) -> Generator[PostgresWrite, None, None]:
        """The same, with what a change of whole streams and connections needs to know."""
        with self._transaction() as connection:
            yield PostgresWrite(connection, self.layouts, now)

    def forget_erased(self) -> None:
        """Vacuum does."""

    def truncate_wal(self) -> None:
        """Checkpoints do."""

    def close(self) -> None:
        for connection in self._opened:
            connection.close()
        self._opened.clear()
