"""A column is in both engines, and comes as a step of its own: a database that took the others has it too."""

import hashlib
import re
from contextlib import closing
from pathlib import Path

import apsw

from pdpp_server.settings import Settings
from pdpp_server.store.engines.postgres.db import STEPS
from pdpp_server.store.engines.sqlite.db import SqliteDatabase
from pdpp_server.store.engines.sqlite.migrations import migration_files
from pdpp_server.store.opened import database_of
from tests.worlds.postgres import Cluster
from tools.tree import PACKAGE

POSTGRES = PACKAGE / "store" / "engines" / "postgres"
INDEXES = {"words"}  # which each engine has in its own way
OWN = {"owner", "rowid", "words_form"}  # whose row it is; what SQLite counts; in which form such an index is kept
_COLUMNS = "select table_name, column_name from information_schema.columns where table_schema = 'public'"
# What each step did when it came into the tree, without its comments. A database takes a step once: whoever changes one
# that stands here changes new databases alone, so what is new is a step of its own, with a line of its own.
TAKEN = {
    "0001_first.sql": "748fc259",
    "0002_whole.sql": "b8326779",
    "0003_doors.sql": "f8207cff",
    "0004_freshness.sql": "bd16fbe1",
    "0005_prefixes.sql": "e775ffa9",
    "0006_runs.sql": "8357a6be",
    "0007_live.sql": "ddfa117c",
    "0008_connection_names.sql": "e75bddcd",
    "0009_meanings.sql": "446fe548",
    "0010_successors.sql": "f210866d",
    "0011_beginnings.sql": "d591e380",
    "0012_undo.sql": "4467c6cc",
    "schema.sql": "201e0495",
    "owners.sql": "04d1ae3e",
    "moving.sql": "84bc9648",
    "rebuilding.sql": "b91a7a92",
    "words.sql": "5102c74f",
    "log.sql": "a72e1761",
    "versions.sql": "2c73ce05",
    "undo.sql": "d877ff8e",
}


def test_both_engines_have_the_same_columns(tmp_path: Path, postgres: Cluster) -> None:
    home = tmp_path / "pdpp.sqlite"
    SqliteDatabase(home).close()
    connection = apsw.Connection(str(home))
    names = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
    here = {name: {row[1] for row in connection.execute(f"pragma table_info({name})")} for name in names}
    connection.close()

    there: dict[str, set[str]] = {}
    settings = Settings(home=tmp_path, database_url=postgres.fresh())
    with closing(database_of(settings)) as database, database.reading() as reading:
        for table, column in reading.rows(_COLUMNS):
            there.setdefault(table, set()).add(column)

    shared = (here.keys() & there.keys()) - INDEXES
    differ = {name: (here[name] ^ there[name]) - OWN for name in shared}
    assert len(shared) > 20
    assert {name: columns for name, columns in differ.items() if columns} == {}


def done_by(step: Path) -> str:
    """What it does, in eight letters."""
    plain = re.sub(r"--[^\n]*", "", step.read_text("utf-8"))
    return hashlib.sha256(" ".join(plain.split()).encode()).hexdigest()[:8]


def test_a_step_that_was_taken_stays_as_it_was() -> None:
    steps = [*migration_files(), *(POSTGRES / name for name in STEPS)]

    assert {step.name: done_by(step) for step in steps} == TAKEN
