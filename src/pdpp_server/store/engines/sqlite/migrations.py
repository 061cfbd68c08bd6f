"""Numbered SQL files in order, each applied once; forward only, after a backup."""

import logging
from pathlib import Path

import apsw

from pdpp_server.errors import ServerTrouble
from pdpp_server.store.engines.sqlite.rows import one
from pdpp_server.store.engines.sqlite.session import SqliteWriting
from pdpp_server.store.upkeep.rebuild import rebuild_words

_FOLDER = Path(__file__).parent / "migrations"
_EMPTIES_WORDS = frozenset({"0005_prefixes.sql", "0011_beginnings.sql"})
_RECORDS = "select count(*) from records where data is not null"
_SAID_FROM = 20_000  # records, from which on it takes more than a moment

log = logging.getLogger(__name__)


class NewerDatabase(ServerTrouble):
    """The database was written by a newer pdpp-server."""


def migration_files() -> list[Path]:
    return sorted(_FOLDER.glob("*.sql"))


def migrate(connection: apsw.Connection, path: Path) -> None:
    """Bring the schema up to date; two processes may try at once.

    Raises:
        NewerDatabase: the file holds a schema that this version does not know.
    """
    files = migration_files()
    if _version(connection) == len(files):
        return
    connection.execute("begin immediate")
    try:
        version = _version(connection)  # again, now that nobody else can change it
        if version > len(files):
            raise NewerDatabase(
                f"{path.name} has schema {version}; this pdpp-server knows {len(files)}.",
                remedy="Install the newer pdpp-server again, or restore a backup made before the upgrade.",
            )
        if 0 < version < len(files):
            _back_up(path, version)
        for number, file in enumerate(files[version:], start=version + 1):
            connection.execute(file.read_text(encoding="utf-8"))
            connection.execute(f"pragma user_version = {number}")
        if version and not _EMPTIES_WORDS.isdisjoint(file.name for file in files[version:]):
            _fill_words(connection)
    except BaseException:
        connection.execute("rollback")
        raise
    connection.execute("commit")


def _fill_words(connection: apsw.Connection) -> None:
    """From the records, once; whoever waits for it is told."""
    records: int = one(connection, _RECORDS)
    if records >= _SAID_FROM:
        log.warning("The word index is made anew, once, for %s records: this may take minutes.", f"{records:,}")
    rebuild_words(SqliteWriting(connection))


def _version(connection: apsw.Connection) -> int:
    return one(connection, "pragma user_version")


def _back_up(path: Path, version: int) -> None:
    """Copy what is committed, through a connection of its own, beside the original."""
    copy = path.with_name(f"{path.name}.before-{version + 1}")
    copy.touch(mode=0o600)
    source, target = apsw.Connection(str(path)), apsw.Connection(str(copy))
    try:
        with target.backup("main", source, "main") as backup:
            backup.step()
    finally:
        source.close()
        target.close()
