"""Connections: a deadline ends a read and nothing else; a snapshot is one moment; files are the owner's alone."""

import stat
import threading
from contextlib import suppress
from pathlib import Path
from time import monotonic

import apsw
import pytest

from pdpp_server.errors import DatabaseUnavailable, QueryTimeout
from pdpp_server.store.engines.sqlite.db import SqliteDatabase
from tests.requirements import requirement

ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n"
MANY_STEPS = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000) select max(i) from n"
MANY_WORDS = """
with recursive n(i) as (select 1 union all select i + 1 from n where i < 40000)
insert into words(rowid, s0) select i, 'sta' || i || ' stb' || i || ' stc' || i from n
"""
LONG_IN_INDEX = """select rowid from words where words match '"st"*' limit 1"""


@pytest.fixture
def database(home: Path):
    opened = SqliteDatabase(home / "pdpp.sqlite", read_seconds=0.05)
    yield opened
    opened.close()


@requirement("store.deadlines.query")
def test_a_query_past_its_deadline_is_stopped_and_the_connection_serves_the_next(database: SqliteDatabase) -> None:
    for _ in range(2):
        started = monotonic()
        with pytest.raises(QueryTimeout) as refused, database.reading() as reading:
            reading.rows(ENDLESS)
        assert monotonic() - started < 1
        assert refused.value.code == "query_timeout"

        with database.reading() as reading:
            assert reading.one("select 1") == 1


@requirement("store.deadlines.query")
def test_a_query_is_stopped_inside_the_word_index_too(home: Path) -> None:
    """All its work is done before the first row, in one step of SQLite."""
    database = SqliteDatabase(home / "pdpp.sqlite", read_seconds=0.005)
    try:
        with database.writing() as writer:
            writer.run(MANY_WORDS)
        with pytest.raises(QueryTimeout), database.reading() as reading:
            reading.rows(LONG_IN_INDEX)

        with database.reading() as reading:
            assert reading.one("select 1") == 1
    finally:
        database.close()


@requirement("store.deadlines.query")
def test_whatever_error_an_interrupt_ends_in_it_is_the_deadline_that_is_told(database: SqliteDatabase) -> None:
    meant = apsw.SQLError("vtable constructor failed: words")
    with pytest.raises(apsw.SQLError), database.reading():
        raise meant
    with pytest.raises(QueryTimeout), database.reading() as reading:
        with suppress(apsw.InterruptError):
            reading.rows(ENDLESS)
        raise meant


@requirement("store.engines.refused")
@pytest.mark.parametrize("damage", [apsw.CorruptError("malformed"), apsw.NotADBError("no database")])
def test_damage_is_told_with_its_remedy_by_whoever_reads_or_writes(
    database: SqliteDatabase, damage: apsw.Error
) -> None:
    with pytest.raises(DatabaseUnavailable, match="is damaged") as read, database.reading():
        raise damage
    with pytest.raises(DatabaseUnavailable, match="is damaged") as written, database.writing():
        raise damage

    assert "restore a backup" in read.value.remedy
    assert (read.value.retry_after_seconds, written.value.retry_after_seconds) == (0, 0), "it would be the same again"


@requirement("store.deadlines.query")
def test_a_statement_that_a_stopped_one_left_open_does_not_spoil_the_next_read(database: SqliteDatabase) -> None:
    with pytest.raises(QueryTimeout), database.reading() as reading:
        outer = reading.each("select 1 union all select 2")
        for _ in outer:
            reading.rows(ENDLESS)

    with database.reading() as another:
        assert another is not reading
        assert another.one("select 1") == 1


@requirement("store.deadlines.query")
def test_what_the_owner_writes_has_no_deadline(database: SqliteDatabase) -> None:
    with database.writing() as writer:
        assert writer.one(MANY_STEPS) == 1_000_000


@requirement("store.deadlines.query")
def test_a_deadline_that_ends_the_beginning_of_a_read_leaves_the_connection_usable(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: object) -> None:
        raise apsw.InterruptError("interrupted")

    monkeypatch.setattr(database.layouts, "of", interrupted)
    with pytest.raises(QueryTimeout), database.reading():
        pass
    monkeypatch.undo()

    with database.reading() as reading:
        assert reading.layout.connections == {}


def test_a_refusal_inside_a_read_leaves_the_connection_usable(database: SqliteDatabase) -> None:
    with pytest.raises(KeyError), database.reading():
        raise KeyError

    with database.reading() as reading:
        assert reading.one("select 1") == 1


def test_a_read_sees_one_moment(database: SqliteDatabase) -> None:
    with database.reading() as reading:
        before = reading.layout.generation
        with database.writing() as writer:
            writer.run("update layout set generation = generation + 1")
        assert reading.one("select generation from layout") == before

    with database.reading() as reading:
        assert reading.layout.generation == before + 1


def test_each_thread_reads_on_its_own_connection(database: SqliteDatabase) -> None:
    seen: list[object] = []
    threads = [threading.Thread(target=lambda: seen.append(database.reading().connection)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({id(connection) for connection in seen}) == 3
    assert database.reading().connection is database.reading().connection


def test_what_fails_while_writing_is_undone(database: SqliteDatabase) -> None:
    with database.reading() as reading:
        before = reading.layout.generation
    with pytest.raises(KeyError), database.writing() as writer:
        writer.run("update layout set generation = 99")
        raise KeyError

    with database.reading() as reading:
        assert reading.layout.generation == before


def test_only_the_owner_can_read_the_files(database: SqliteDatabase, home: Path) -> None:
    with database.writing() as writer:
        writer.run("update layout set generation = generation + 1")

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in home.iterdir()}
    assert modes == {"pdpp.sqlite": 0o600, "pdpp.sqlite-wal": 0o600, "pdpp.sqlite-shm": 0o600}
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


@requirement("store.erasure.index")
def test_erasing_is_switched_on_in_the_tables_and_in_the_index(database: SqliteDatabase) -> None:
    with database.writing() as writer:
        assert writer.one("pragma secure_delete") == 1
        assert writer.one("select v from words_config where k = 'secure-delete'") == 1
