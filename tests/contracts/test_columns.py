"""A column is in both engines: what the migrations of SQLite make of a new home, the tables of PostgreSQL have too."""

import re
from pathlib import Path

import apsw

from pdpp_server.store.engines.sqlite.db import SqliteDatabase
from tools.tree import PACKAGE

TABLES = PACKAGE / "store" / "engines" / "postgres" / "schema.sql"
TABLE = re.compile(r"create table (?:if not exists )?(\w+)\s*\((.*?)\n\)", re.DOTALL | re.IGNORECASE)
BETWEEN = re.compile(r",(?![^(]*\))")
RULES = {"primary", "unique", "foreign", "check", "constraint"}
INDEXES = {"words"}  # which each engine has in its own way
OWN = {"owner", "rowid"}  # whose row it is; and what SQLite counts by itself


def columns_in(schema: str) -> dict[str, set[str]]:
    """The tables of a schema, each with its columns."""
    written = re.sub(r"--[^\n]*", "", schema)
    first_words = {
        name: re.findall(r"^\s*(\w+)", "\n".join(BETWEEN.split(body)), re.MULTILINE)
        for name, body in TABLE.findall(written)
    }
    return {name: set(words) - RULES for name, words in first_words.items()}


def test_both_engines_have_the_same_columns(tmp_path: Path) -> None:
    home = tmp_path / "pdpp.sqlite"
    SqliteDatabase(home).close()
    connection = apsw.Connection(str(home))
    names = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
    here = {name: {row[1] for row in connection.execute(f"pragma table_info({name})")} for name in names}
    connection.close()
    there = columns_in(TABLES.read_text("utf-8"))

    shared = (here.keys() & there.keys()) - INDEXES
    differ = {name: (here[name] ^ there[name]) - OWN for name in shared}
    assert len(shared) > 20
    assert {name: columns for name, columns in differ.items() if columns} == {}
