"""Migrations go forward, once, and refuse what they do not know."""

import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from pdpp_server.errors import ServerTrouble
from pdpp_server.store import migrations
from pdpp_server.store.db import Database
from pdpp_server.store.migrations import NewerDatabase, migration_files
from tests.requirements import requirement

OPENING = """
import sys
from pathlib import Path
from pdpp_server.store.db import Database
sys.stdin.readline()
database = Database(Path(sys.argv[1]))
with database.writing() as writer:
    writer.execute("update layout set generation = generation + 1")
database.close()
"""


@pytest.fixture
def path(home: Path) -> Path:
    return home / "pdpp.sqlite"


def opened_once(path: Path) -> None:
    Database(path).close()


@requirement("store.migrations.refuse-newer")
def test_a_newer_database_is_refused_by_name_and_not_touched(path: Path) -> None:
    opened_once(path)
    newer = len(migration_files()) + 1
    connection = apsw.Connection(str(path))
    connection.execute(f"pragma user_version = {newer}")
    connection.close()
    before = path.read_bytes()

    with pytest.raises(NewerDatabase, match=rf"pdpp\.sqlite has schema {newer}; this pdpp-server knows {newer - 1}"):
        Database(path)

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


def test_a_step_backs_up_what_was_there_before_it_changes_anything(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened_once(path)
    with_a_second_step(tmp_path / "steps", monkeypatch, "update layout set generation = 77;")

    database = Database(path)
    with database.reading() as reading:
        assert reading.layout.generation == 77
    database.close()

    copy = apsw.Connection(str(path.with_name("pdpp.sqlite.before-2")))
    assert copy.execute("select generation from layout").get == 1
    assert copy.execute("pragma user_version").get == 1
    copy.close()


def test_a_step_that_fails_leaves_the_database_as_it_was(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened_once(path)
    with_a_second_step(tmp_path / "steps", monkeypatch, "update layout set generation = 77; select no_such_function();")

    with pytest.raises(ServerTrouble):
        Database(path)
    monkeypatch.undo()

    database = Database(path)
    with database.reading() as reading:
        assert reading.layout.generation == 1
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
    database = Database(path)
    with database.reading() as reading:
        assert reading.layout.generation == 1 + 4
    database.close()
