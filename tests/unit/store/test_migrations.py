"""Migrations go forward, once, and refuse what they do not know."""

import json
import logging
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from pdpp_server.errors import ServerTrouble
from pdpp_server.store.engines.sqlite import migrations
from pdpp_server.store.engines.sqlite.db import SqliteDatabase
from pdpp_server.store.engines.sqlite.migrations import NewerDatabase, migration_files
from tests.requirements import requirement

KNOWN = len(migration_files())
GENERATION = 2  # of a new home: the steps that change the layout count it up
OPENING = """
import sys
from pathlib import Path
from pdpp_server.store.engines.sqlite.db import SqliteDatabase
sys.stdin.readline()
database = SqliteDatabase(Path(sys.argv[1]))
with database.writing() as writer:
    writer.run("update layout set generation = generation + 1")
database.close()
"""


@pytest.fixture
def path(home: Path) -> Path:
    return home / "pdpp.sqlite"


def opened_once(path: Path) -> None:
    SqliteDatabase(path).close()


@requirement("store.migrations.refuse-newer")
def test_a_newer_database_is_refused_by_name_and_not_touched(path: Path) -> None:
    opened_once(path)
    newer = len(migration_files()) + 1
    connection = apsw.Connection(str(path))
    connection.execute(f"pragma user_version = {newer}")
    connection.close()
    before = path.read_bytes()

    with pytest.raises(NewerDatabase, match=rf"pdpp\.sqlite has schema {newer}; this pdpp-server knows {newer - 1}"):
        SqliteDatabase(path)

    assert path.read_bytes() == before


@requirement("store.migrations.once")
def test_opening_again_applies_nothing_twice(path: Path) -> None:
    opened_once(path)
    before = path.read_bytes()

    for _ in range(2):
        opened_once(path)

    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["pdpp.sqlite"]


def with_a_second_step(folder: Path, monkeypatch: pytest.MonkeyPatch, statement: str) -> None:
    folder.mkdir()
    for file in migration_files():
        (folder / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "9999_next.sql").write_text(statement, encoding="utf-8")
    monkeypatch.setattr(migrations, "_FOLDER", folder)


@requirement("store.migrations.backup")
def test_a_step_backs_up_what_was_there_before_it_changes_anything(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened_once(path)
    with_a_second_step(tmp_path / "steps", monkeypatch, "update layout set generation = 77;")

    database = SqliteDatabase(path)
    with database.reading() as reading:
        assert reading.layout.generation == 77
    database.close()

    copy = apsw.Connection(str(path.with_name(f"pdpp.sqlite.before-{KNOWN + 1}")))
    assert copy.execute("select generation from layout").get == GENERATION
    assert copy.execute("pragma user_version").get == KNOWN
    copy.close()


def test_a_step_that_fails_leaves_the_database_as_it_was(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened_once(path)
    with_a_second_step(tmp_path / "steps", monkeypatch, "update layout set generation = 77; select no_such_function();")

    with pytest.raises(ServerTrouble):
        SqliteDatabase(path)
    monkeypatch.undo()

    database = SqliteDatabase(path)
    with database.reading() as reading:
        assert reading.layout.generation == GENERATION
    database.close()


@requirement("store.migrations.once")
def test_several_processes_may_open_a_new_home_at_once(path: Path) -> None:
    started = [
        subprocess.Popen([sys.executable, "-c", OPENING, str(path)], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    for process in started:
        assert process.stdin
        process.stdin.write(b"\n")
        process.stdin.flush()
    errors = [process.communicate(timeout=60)[1].decode() for process in started]

    assert [process.returncode for process in started] == [0] * 4, errors
    database = SqliteDatabase(path)
    with database.reading() as reading:
        assert reading.layout.generation == GENERATION + 4
    database.close()


DECLARED = {
    "protocol_version": "0.1.0",
    "source": {"kind": "connector", "id": "https://registry.pdpp.dev/connectors/x"},
    "declaration_version": "1",
    "publisher": {"id": "https://registry.pdpp.dev/"},
    "display": {"name": "X"},
    "streams": [
        {
            "name": name,
            "semantics": "mutable_state",
            "schema": {"type": "object", "properties": {"id": {"type": "string"}, "text": {"type": "string"}}},
            "primary_key": ["id"],
            "selection": {"fields": True, "resources": True},
            "query": {"search": {"lexical_fields": ["text"]}},
        }
        for name in "abc"
    ],
}
OF_TWO_STREAMS = f"""
insert into declarations values(1, 'https://registry.pdpp.dev/connectors/x', '1', '{json.dumps(DECLARED)}', '2026');
insert into connections values(1, 'cin_1', 1, 'x', null, '2026', '2026');
insert into streams(sid, connection, name, version, live) values(1, 1, 'a', 3, 2), (2, 1, 'b', 2, 2), (3, 1, 'c', 0, 0);
insert into records(rid, sid, key, version, emitted_at, data) values
    (11, 1, 'x', 1, '2026', '{{}}'), (12, 1, 'y', 3, '2026', '{{}}'),
    (21, 2, 'x', 1, '2026', '{{}}'), (22, 2, 'y', 2, '2026', '{{}}');
insert into history(sid, key, version, until, data) values(1, 'y', 2, 3, '{{}}');
pragma user_version = 1;
"""


@requirement("store.versions.monotonic")
def test_streams_that_counted_for_themselves_count_on_by_one_clock(path: Path) -> None:
    path.parent.mkdir()
    before = apsw.Connection(str(path))
    before.execute(migration_files()[0].read_text(encoding="utf-8") + OF_TWO_STREAMS).fetchall()
    before.close()

    opened_once(path)

    after = apsw.Connection(str(path))
    records = after.execute("select sid, key, version from records order by version").fetchall()
    assert records == [(1, "x", 1), (1, "y", 3), (2, "x", 4), (2, "y", 5)]
    assert after.execute("select version, until from history").fetchall() == [(2, 3)]
    assert after.execute("select version from streams order by sid").fetchall() == [(3,), (5,), (0,)]
    assert after.execute("select version from clock").get == 5
    after.close()


OF_WORDS = (
    OF_TWO_STREAMS
    + """
insert into fields values(1, 1, 'text', 0, 0);
update records set data = '{"id": "x", "text": "a stapler"}', rid = (1 << 43) + 5 where rid = 11;
insert into words(rowid, s0) values((1 << 43) + 5, 'a stapler');
pragma user_version = 1;
"""
)


@requirement("store.migrations.words")
def test_the_word_index_is_made_anew_without_the_first_letters_of_each_word(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path.parent.mkdir()
    before = apsw.Connection(str(path))
    before.execute(migration_files()[0].read_text(encoding="utf-8") + OF_WORDS).fetchall()
    before.close()
    monkeypatch.setattr(migrations, "_SAID_FROM", 1)

    with caplog.at_level(logging.WARNING):
        database = SqliteDatabase(path)

    with database.reading() as reading:
        found = reading.rows("select rowid from words where words match 'stapler'")
        terms = reading.rows("select term from words_terms where doc = (1 << 43) + 5")
        kept = reading.one("select sql from sqlite_schema where name = 'words'")
    database.close()
    assert found == [((1 << 43) + 5,)]
    assert terms == [("a",), ("stapler",)]
    assert "prefix" not in kept
    assert "The word index is made anew, once, for 4 records" in caplog.text
    opened_once(path)
    assert caplog.text.count("made anew") == 1
