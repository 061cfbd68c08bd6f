"""A home's database, opened with the engine that it has; the one place that names an engine."""

from pathlib import Path

from pdpp_server.store.asked import AskedTable
from pdpp_server.store.engine import Database
from pdpp_server.store.engines.sqlite.asked import SqliteAsked
from pdpp_server.store.engines.sqlite.db import SqliteDatabase

DATABASE_FILE, ASKED_FILE = "pdpp.sqlite", "asked.sqlite"


def open_database(home: Path, *, read_seconds: float = 5.0) -> Database:
    return SqliteDatabase(home / DATABASE_FILE, read_seconds=read_seconds)


def open_asked(home: Path) -> AskedTable:
    return SqliteAsked(home / ASKED_FILE)
