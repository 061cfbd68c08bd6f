"""What lies in the tables and the log of a home, whichever engine keeps it, past everything that the product asks."""

import os
from pathlib import Path
from typing import Any

import apsw
import psycopg

from pdpp_server.store.engine import Database
from pdpp_server.store.engines.postgres.db import PostgresDatabase
from pdpp_server.store.engines.postgres.session import translated
from pdpp_server.store.log import LogLine, log_line, read_segment, segment_paths
from pdpp_server.store.records.blobs import stored_blobs
from pdpp_server.store.session import Session
from tests.engine.homes import owner_of
from tests.engine.sitecustomize import VARIABLE

_IN_FILES = {"segments", "disclosures", "names", "asked", "keys", "tries"}  # on SQLite, beside the database
_LOG = {"segments", "disclosures", "names"}
_TABLES = "select tablename from pg_tables where schemaname = current_schema()"
_SEGMENTS = "select segment, header from segments order by id"
_CUT = "delete from disclosures where n >= ? and segment = (select segment from segments where id = ?)"
_EDIT = "update disclosures set line = replace(line, ?, ?)"
_LINES = "select line from disclosures where segment = ? order by n"


def is_postgres() -> bool:
    """Whether the homes of this run are owners in a database."""
    return VARIABLE in os.environ


def tables_of(session: Session) -> list[str]:
    """All of them, but where what lies in files of a home is in tables too, those."""
    if is_postgres():
        found = session.rows(_TABLES)
    else:
        found = session.rows("select name from sqlite_schema where type = 'table'")
    return [name for (name,) in found if name not in _IN_FILES]


def rows_in(home: Path, statement: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The rows that a statement finds, or that it has changed."""
    if is_postgres():
        with psycopg.connect(os.environ[VARIABLE], cursor_factory=psycopg.ClientCursor) as connection:
            connection.execute("select set_config('pdpp.owner', %s, true)", [str(owner_of(home))])
            found = connection.execute(translated(statement).encode(), values)
            return found.fetchall() if found.description else []
    connection = apsw.Connection(str(home / "pdpp.sqlite"))
    try:
        return connection.execute(statement, values).fetchall()
    finally:
        connection.close()


def bytes_of(home: Path) -> bytes:
    """Everything that is kept of a home: all its files, and all rows of its owner where it is one in a database."""
    return bytes_beside_log(home) + b"\n".join([line.raw for line in lines_in(home)])


def bytes_beside_log(home: Path) -> bytes:
    """The same without the log, which names records by design."""
    paths = [path for path in home.rglob("*") if path.is_file() and path.suffix != ".jsonl"]
    files = b"".join([path.read_bytes() for path in paths])
    if not is_postgres():
        return files
    tables = [name for (name,) in rows_in(home, _TABLES) if name not in _LOG]
    rows = [row for table in tables for (row,) in rows_in(home, f"select cast({table} as text) from {table}")]
    return files + "\n".join(rows).encode()


def blobs_in(database: Database) -> list[bytes]:
    """The bytes of everything that is attached to records."""
    kept: list[bytes] = []
    with database.reading() as reading:
        for blob in stored_blobs(reading):
            with database.blobs.open(reading, blob) as file:
                kept.append(file.read())
    return kept


def keep_key(database: Database, name: str, key: bytes) -> None:
    """That key, for this process, where one would be made."""
    if isinstance(database, PostgresDatabase):
        database.keys._known[name] = key
    else:
        path = database.path.parent / "keys" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(key)


def forget_key(database: Database, name: str) -> None:
    """That key is gone, for this process too."""
    if isinstance(database, PostgresDatabase):
        with database.writing() as writing:
            writing.run("delete from keys where name = ?", (name,))
        database.keys._known.pop(name, None)
    else:
        (database.path.parent / "keys" / name).unlink()


def lines_in(home: Path) -> list[LogLine]:
    """The whole log: of each process its header and its lines."""
    if not is_postgres():
        return [line for path in segment_paths(home / "activity") for line in read_segment(path)]
    found: list[LogLine] = []
    for segment, header in rows_in(home, _SEGMENTS):
        found.append(log_line(header.encode()))
        found += [log_line(line.encode()) for (line,) in rows_in(home, _LINES, (segment,))]
    return found


def lines_kept(database: Database) -> list[LogLine]:
    """The same, of a database that is open."""
    if not isinstance(database, PostgresDatabase):
        return lines_in(database.path.parent)
    found: list[LogLine] = []
    with database.reading() as reading:
        for segment, header in reading.rows(_SEGMENTS):
            found.append(log_line(header.encode()))
            found += [log_line(line.encode()) for (line,) in reading.rows(_LINES, (segment,))]
    return found


def cut_log(home: Path, segment: str, kept: int) -> None:
    """Of that segment the first so many lines, its header included; all of it is taken away where none is kept."""
    if is_postgres():
        rows_in(home, _CUT, (kept, segment))
        if not kept:
            rows_in(home, "delete from segments where id = ?", (segment,))
        return
    path = home / "activity" / f"{segment}.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:kept]))
    if not kept:
        path.unlink()


def edit_log(home: Path, said: str, instead: str) -> None:
    """As somebody would who can write to it."""
    if is_postgres():
        rows_in(home, _EDIT, (f'"{said}"', f'"{instead}"'))
        return
    for path in segment_paths(home / "activity"):
        path.write_bytes(path.read_bytes().replace(f'"{said}"'.encode(), f'"{instead}"'.encode()))
