"""Connections: many readers, one writer, the pragmas, the deadline of a read."""

import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

import apsw

from pdpp_server.errors import DatabaseUnavailable, IngestStorageError, QueryTimeout, ServerTrouble
from pdpp_server.store.blob_files import BlobFiles
from pdpp_server.store.engines.meanings import KeptMeanings
from pdpp_server.store.engines.sqlite.activity import SqliteActivity
from pdpp_server.store.engines.sqlite.asked import SqliteAsked
from pdpp_server.store.engines.sqlite.beginnings import Beginnings
from pdpp_server.store.engines.sqlite.cutting import Fts5Cutter
from pdpp_server.store.engines.sqlite.migrations import migrate, migration_files
from pdpp_server.store.engines.sqlite.released import erase_released
from pdpp_server.store.engines.sqlite.scrub import are_traces_left, scrub
from pdpp_server.store.engines.sqlite.session import SqliteSession, SqliteWriting
from pdpp_server.store.engines.sqlite.tables import SqliteTables
from pdpp_server.store.engines.sqlite.tries import SqliteTries
from pdpp_server.store.engines.sqlite.watchdog import Watchdog, WatchedStatement
from pdpp_server.store.engines.sqlite.words import SqliteWords
from pdpp_server.store.files import made_folder
from pdpp_server.store.keeping import let_go_when_old
from pdpp_server.store.keys import KeyFiles
from pdpp_server.store.layout import Layout, LayoutCache
from pdpp_server.store.log import DisclosureLog
from pdpp_server.store.records.words import Tokenizer
from pdpp_server.store.session import Statement
from pdpp_server.store.turns import FileTurns

_PRAGMAS = """
pragma journal_mode = wal;
pragma synchronous = normal;
pragma secure_delete = on;
pragma foreign_keys = on;
pragma trusted_schema = off;
pragma temp_store = memory;
pragma cache_size = -32000;
pragma wal_autocheckpoint = 4000;
"""
_SCRUB_TRIES = 30  # a second importer comes in between again and again; each try that fails is short
_DAMAGED = (apsw.CorruptError, apsw.NotADBError)
BUSY_TIMEOUT_MS = 30_000


class SqliteReading(SqliteSession):
    """One snapshot of the database. Every statement in it sees the same moment and shares one deadline."""

    layout: Layout

    def __init__(
        self, connection: apsw.Connection, layouts: LayoutCache, watch: WatchedStatement, seconds: float
    ) -> None:
        super().__init__(connection)
        self.layouts = layouts
        cutter = Fts5Cutter(connection)
        self.tokenizer = Tokenizer(cutter)
        beginnings = Beginnings(self)
        cutter.take_prefixes(connection, beginnings.said)
        self.records = SqliteTables(connection, self)
        self.words = SqliteWords(connection, self, self.records, beginnings)
        self.meanings = KeptMeanings(self, self.records, connection.data_version)
        self.is_usable = True
        self.watch = watch
        self._seconds = seconds

    def __enter__(self) -> Self:
        self.watch.begin()
        try:
            self._at_once("begin")
            self.layout = self.layouts.of(self)
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        was_late = self.watch.end()
        self._leave_snapshot()
        # Where the interrupt meets the opening of the word index, SQLite tells of another error.
        if isinstance(error, apsw.InterruptError) or (was_late and isinstance(error, apsw.Error)):
            raise QueryTimeout(f"The read took longer than {self._seconds:g} s.") from error
        if isinstance(error, _DAMAGED):
            raise _damaged(error) from error

    def _leave_snapshot(self) -> None:
        """An interrupt lasts while any statement is open, and one may be: what it stopped can be far below."""
        if not self.connection.in_transaction:  # an interrupted statement may have ended it already
            return
        try:
            self._at_once("rollback")
        except apsw.InterruptError:
            self.is_usable = False
            self.connection.close(True)


def _damaged(error: BaseException) -> DatabaseUnavailable:
    remedy = "The owner may have to restore a backup; `pdpp doctor` shows what is damaged."
    refusal = DatabaseUnavailable(f"The database is damaged ({error}).", remedy=remedy)
    refusal.retry_after_seconds = 0  # it would be the same again
    return refusal


@contextmanager
def _disk_trouble() -> Generator[None, None, None]:
    try:
        yield
    except _DAMAGED as error:
        raise _damaged(error) from error
    except (apsw.FullError, apsw.IOError, apsw.ReadOnlyError, apsw.BusyError) as error:
        raise IngestStorageError(
            f"The database could not be written ({error}).",
            remedy="Free disk space, or wait for the other writer, and try again: nothing is stored twice.",
        ) from error


class SqliteWrite(SqliteWriting):
    """One open transaction of the writer: where things lie as it began, and when that was."""

    def __init__(self, connection: apsw.Connection, layouts: LayoutCache, now: str) -> None:
        super().__init__(connection)
        self.layouts, self.now = layouts, now
        self.layout = layouts.of(self)


class SqliteDatabase:
    """Everything that one home keeps. Opening it brings its schema up to date."""

    is_elsewhere = False

    def __init__(self, path: Path, *, read_seconds: float = 5.0, log_sync: str = "normal") -> None:
        home = path.parent
        self.path = path
        self.blobs = BlobFiles(home / "blobs")
        self.log = DisclosureLog(home / "activity", sync="full" if log_sync == "full" else "normal")
        self.activity = SqliteActivity(home)
        self.asked = SqliteAsked(home / "asked.sqlite")
        self.keys = KeyFiles(home / "keys")
        self.log.on_new_day = partial(let_go_when_old, self)
        self.tries = SqliteTries(home / "tries.sqlite")
        self.turns = FileTurns(home)
        self._read_seconds = read_seconds
        self._watchdog = Watchdog(read_seconds)
        self._local = threading.local()
        self.layouts = LayoutCache()
        self._writer: apsw.Connection | None = None
        self._write_lock = threading.Lock()
        self._opened: list[apsw.Connection] = []
        made_folder(home)
        try:
            self._writer = self._open()
            migrate(self._writer, path)
            erase_released(self._writer, self.blobs)
            self._writer.set_busy_timeout(0)
            with suppress(IngestStorageError):  # whoever keeps it busy will do it, so nobody waits for that here
                self.forget_erased()  # of a writer that was killed
            self._writer.set_busy_timeout(BUSY_TIMEOUT_MS)
        except apsw.Error as error:
            self.close()
            raise ServerTrouble(
                f"{path} cannot be used as the database ({error}).",
                remedy="PDPP_HOME must name a folder with room to write in; a backup can replace a damaged file.",
            ) from error
        except ServerTrouble:
            self.close()
            raise

    def _open(self) -> apsw.Connection:
        fresh = not self.path.exists()
        connection = apsw.Connection(str(self.path))
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)  # before the first statement: opening a WAL may have to wait
        if fresh:
            self.path.chmod(0o600)  # its -wal and -shm files take the same mode
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)  # or joins are planned anew for every value bound
        connection.execute(_PRAGMAS).fetchall()  # a statement that gives a row waits there until it is asked for more
        self._opened.append(connection)
        return connection

    def has_schema(self) -> bool:
        with self.reading() as reading:
            return reading.one("pragma user_version") == len(migration_files())

    def reading(self, *_ahead: Statement, is_all: bool = False) -> SqliteReading:
        """This thread's reader; use it as a context manager."""
        reading: SqliteReading | None = getattr(self._local, "reading", None)
        if reading is not None and reading.is_usable:
            return reading
        if reading is not None:
            self._opened.remove(reading.connection)
            self._watchdog.forget(reading.watch)
        connection = self._open()
        watch = self._watchdog.watch(connection)
        reading = self._local.reading = SqliteReading(connection, self.layouts, watch, self._read_seconds)
        return reading

    @contextmanager
    def writing(self) -> Generator[SqliteWriting, None, None]:
        """The one writer, inside one transaction: all of it is kept, or none."""
        with self._transaction() as writer:
            yield SqliteWriting(writer)

    @contextmanager
    def _transaction(self) -> Generator[apsw.Connection, None, None]:
        with self._write_lock, _disk_trouble():
            assert self._writer is not None
            writer = self._writer
            try:
                writer.execute("begin immediate")
                yield writer
                writer.execute("commit")
                erase_released(writer, self.blobs)
            finally:
                if writer.in_transaction:
                    writer.execute("rollback")

    @contextmanager
    def write(self, now: str) -> Generator[SqliteWrite, None, None]:
        """The same, with what a change of whole streams and connections needs to know."""
        with self._transaction() as writer:
            yield SqliteWrite(writer, self.layouts, now)

    def truncate_wal(self) -> None:
        """Fold the log into the database, so that erased pages are not left behind in it."""
        with self._write_lock, _disk_trouble():
            assert self._writer is not None
            self._writer.execute("pragma wal_checkpoint(truncate)")

    def forget_erased(self) -> None:
        """Leave nothing of what was erased: not in the log, not in unused room, not in the copies that migrations made.

        Raises:
            IngestStorageError: others read or wrote all the time.
        """
        assert self._writer is not None
        with self._write_lock:
            if not are_traces_left(self._writer):
                return
        for copy in self.path.parent.glob(f"{self.path.name}.before-*"):
            copy.unlink()
        for _ in range(_SCRUB_TRIES):
            self.truncate_wal()
            with self._transaction() as writer:
                if self._wal_size() == 0:  # or somebody wrote in between
                    scrub(writer)
                    break
        else:
            raise IngestStorageError(
                "It is erased, but traces may be left in the file of the database, which others use all the time.",
                remedy="It is tried again with the next deletion, and when the server starts.",
            )

    def _wal_size(self) -> int:
        wal = self.path.with_name(f"{self.path.name}-wal")
        return wal.stat().st_size if wal.exists() else 0

    def close(self) -> None:
        self.tries.close()
        for connection in self._opened:
            connection.close()
        self._opened.clear()
