"""The connection beneath a reading or a writing, for whoever counts its steps or breaks something."""

import apsw

from pdpp_server.store.engine import Session
from pdpp_server.store.engines.sqlite.migrations import migration_files
from pdpp_server.store.engines.sqlite.session import SqliteSession


def connection_of(session: Session) -> apsw.Connection:
    assert isinstance(session, SqliteSession)
    return session.connection


def lay_index(connection: apsw.Connection) -> None:
    """An empty word index as every home has it, and nothing else."""
    (latest,) = [file for file in migration_files() if file.name == "0011_beginnings.sql"]
    connection.execute("create table words(x);" + latest.read_text(encoding="utf-8")).fetchall()
