"""An owner's database, opened with the engine that it has; the one place that names an engine."""

from pathlib import Path

from pdpp_server.store.engine import Database
from pdpp_server.store.engines.sqlite.db import SqliteDatabase

DATABASE_FILE = "pdpp.sqlite"


def open_database(home: Path, *, read_seconds: float = 5.0, log_sync: str = "normal") -> Database:
    return SqliteDatabase(home / DATABASE_FILE, read_seconds=read_seconds, log_sync=log_sync)
