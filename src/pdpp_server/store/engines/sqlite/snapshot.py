"""One moment of the database: for a reader that takes its time, and as a file of its own."""

import errno
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from pdpp_server.errors import ServerTrouble
from pdpp_server.model.backup import DatabaseFacts
from pdpp_server.model.blobs import ID_PREFIX
from pdpp_server.store.engines.sqlite.db import BUSY_TIMEOUT_MS
from pdpp_server.store.engines.sqlite.rows import one, rows

STEP_PAGES = 2_000

_READ_ONLY = "pragma query_only = on; pragma trusted_schema = off; pragma temp_store = memory"
_SCHEMA = "pragma user_version"
_QUICK_CHECK = "pragma quick_check(1)"
_WHOLE_CHECK = "pragma integrity_check(1)"
_COUNTS = """
select (select count(*) from connections) connections, (select count(*) from records where data is not null) records,
       (select count(*) from records where data is null) deleted, (select count(*) from history) versions,
       (select count(*) from grants) grants, (select count(*) from grants where revoked_at is null) unrevoked
"""
_COUNTED: tuple[str, ...] = ("connections", "records", "deleted", "versions", "grants", "unrevoked")
_HAS_BLOBS = "select count(*) from sqlite_schema where name = 'blobs'"
_BLOBS = "select blob_id from blobs"


class UnusableDatabase(ServerTrouble):
    """A file is no database of ours, or a damaged one."""

    remedy = "`pdpp doctor` says what is wrong here; a backup made before can be restored."


@contextmanager
def one_moment(path: Path) -> Generator[apsw.Connection, None, None]:
    """The database as it is now, however long it is read and whoever writes meanwhile."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        connection.execute(_READ_ONLY).fetchall()
        connection.execute("begin")
        one(connection, _SCHEMA)  # the moment begins with the first read
        yield connection
    except apsw.Error as error:
        raise UnusableDatabase(f"{path.name} cannot be read ({error}).") from error
    finally:
        connection.close()


def take(path: Path, copy: Path, heard: Callable[[int], None]) -> None:
    """Copy one moment into a new file. Every transaction is in it whole, or not at all.

    Raises:
        UnusableDatabase: it cannot be read.
        OSError: the copy cannot be written.
    """
    with one_moment(path) as source:
        page_size: int = one(source, "pragma page_size")
        target = apsw.Connection(str(copy))
        try:
            with target.backup("main", source, "main") as backup:
                done = 0
                while not backup.done:
                    backup.step(STEP_PAGES)
                    before, done = done, backup.page_count - backup.remaining
                    heard((done - before) * page_size)
        except (apsw.FullError, apsw.IOError) as error:
            raise OSError(errno.ENOSPC, str(error)) from error
        finally:
            target.close()


def look(copy: Path, *, thoroughly: bool = False) -> DatabaseFacts:
    """What is in a snapshot, once it is known to be sound.

    Raises:
        UnusableDatabase: it is damaged.
    """
    with _copy_opened(copy) as connection:
        found: str = one(connection, _WHOLE_CHECK if thoroughly else _QUICK_CHECK)
        if found != "ok":
            raise UnusableDatabase(f"{copy.name} is damaged ({found.splitlines()[0]}).")
        counts = dict(zip(_COUNTED, one(connection, _COUNTS), strict=True))
        return DatabaseFacts(one(connection, _SCHEMA), counts)


def blobs_in(copy: Path) -> frozenset[str]:
    """The digests of the blobs that a snapshot needs.

    Raises:
        UnusableDatabase: it is damaged.
    """
    with _copy_opened(copy) as connection:
        found = rows(connection, _BLOBS) if one(connection, _HAS_BLOBS) else []
        return frozenset(blob_id.removeprefix(ID_PREFIX) for (blob_id,) in found)


@contextmanager
def _copy_opened(copy: Path) -> Generator[apsw.Connection, None, None]:
    """A snapshot is only ever read; `immutable` lets SQLite write nothing beside it either."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        connection = apsw.Connection(f"{copy.absolute().as_uri()}?immutable=1", flags=flags)
        try:
            yield connection
        finally:
            connection.close()
    except apsw.Error as error:
        raise UnusableDatabase(f"{copy.name} is damaged ({error}).") from error


def is_open_elsewhere(path: Path) -> bool:
    """Whether any connection has the database open, even an idle one: each holds a lock as long as it lives."""
    connection = apsw.Connection(str(path))
    try:
        connection.execute("pragma locking_mode = exclusive; begin exclusive; rollback").fetchall()
    except apsw.BusyError:
        return True
    except apsw.Error:  # a file that is no database is nobody's
        return False
    finally:
        connection.close()
    return False
