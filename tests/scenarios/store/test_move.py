"""A home is moved to PostgreSQL and back, whole; nothing of it counts before all of it is there."""

import os
import signal
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from pdpp_server.errors import Conflict
from pdpp_server.model.queries import SearchQuery
from pdpp_server.owner.move import MoveReport, move_to_database, move_to_home
from pdpp_server.settings import Settings
from pdpp_server.store import moving
from pdpp_server.store.engine import Database
from pdpp_server.store.engines.sqlite.described import plain_tables
from pdpp_server.store.engines.sqlite.session import SqliteWriting
from pdpp_server.store.opened import DATABASE_FILE, database_of, open_database, open_owners
from tests.requirements import requirement
from tests.scenarios.cli.command import Command
from tests.worlds.kept import answers, lived, reader_in
from tests.worlds.postgres import Cluster

pytestmark = pytest.mark.sqlite("A home that is a folder is moved.")

ITS_OWN = ("words_", "sqlite_")  # what SQLite makes of its own accord, in an order of its own

ANYTHING: dict[str, Any] = {"integer": 1, "text": "anything", "blob": b"anything"}
_TABLES = "select name from sqlite_schema where type = 'table' order by rowid"
_NEEDED = 'select name, type from pragma_table_info(?) where "notnull" or pk'


class Mover:
    """A home with something in every table, and an empty database beside it."""

    def __init__(self, folder: Path, url: str) -> None:
        self.home, self.folder = folder / "home", folder
        with lived(self.home) as life:
            self.token = life.world.token
            page = life.world.reader.search(SearchQuery("lease", limit=1)).value
            self.cursor = page.next_cursor
        fill_empty_tables(self.home)
        self.answers = answers(self.home, self.token)
        self.settings = Settings(home=self.home, database_url=url, owner="ada", key_file=folder / "wrapping.key")

    def out(self, progress: Callable[[int, int], None] = lambda *_: None, name: str = "ada") -> MoveReport:
        return move_to_database(self.settings, name, progress)

    def back(self, home: Path) -> MoveReport:
        return move_to_home(self.settings, "ada", home, lambda *_: None)

    def there(self) -> Database:
        return database_of(self.settings)

    def names(self) -> list[str]:
        with closing(open_owners(self.settings)) as owners:
            return [owner.name for owner in owners.every()]

    def killed_after(self, calls: int) -> None:
        """In a process of its own, when so much of it was said to be done."""
        child = os.fork()
        if child == 0:
            said = iter(range(calls))
            self.out(lambda *_: (next(said, None) is None and os.kill(os.getpid(), signal.SIGKILL)) or None)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def fill_empty_tables(home: Path) -> None:
    """One row of anything, where a home of a few minutes has none."""
    with closing(apsw.Connection(str(home / DATABASE_FILE))) as connection:
        session = SqliteWriting(connection)
        for (name,) in session.rows(_TABLES):
            if not name.startswith((*ITS_OWN, "words", "traces", "released")) and not session.rows(
                f"select 1 from {name}"
            ):
                row = {column: ANYTHING[kind.lower()] for column, kind in session.rows(_NEEDED, (name,))}
                marks = ", ".join("?" for _ in row)
                session.run(f"insert into {name}({', '.join(row)}) values({marks})", tuple(row.values()))


def dump(home: Path) -> dict[str, list[Any]]:
    """Every row of every table."""
    with closing(apsw.Connection(str(home / DATABASE_FILE))) as connection:
        session = SqliteWriting(connection)
        names = [name for (name,) in session.rows(_TABLES) if not name.startswith(ITS_OWN)]
        found = {name: sorted(session.rows(f"select * from {name}"), key=repr) for name in names}
        return {**found, "numbers": sorted(item for item in session.counted().items() if item[1])}


@pytest.fixture
def mover(postgres: Cluster, tmp_path: Path) -> Mover:
    return Mover(tmp_path, postgres.fresh())


@pytest.fixture
def notes(tmp_path: Path) -> Command:
    """The command, on a home with two notes."""
    command = Command(tmp_path / "home", tmp_path)
    assert command.import_notes().code == 0
    return command


@requirement("store.move.whole")
def test_a_home_that_was_moved_there_and_back_is_the_same_in_every_row(mover: Mover, tmp_path: Path) -> None:
    before = dump(mover.home)
    assert all(rows for name, rows in before.items() if name != "released_blobs")

    report = mover.out()
    assert (report.was_there, report.moved.lost_blobs) == (False, ())
    assert report.moved.rows["records"] == len(before["records"])
    with closing(mover.there()) as there:
        assert report.moved.lines == sum(verdict.lines for verdict in there.activity.verify()) > 0
    mover.back(tmp_path / "again")

    assert dump(tmp_path / "again") == before
    for part in ("blobs", "activity", "keys"):
        assert files_of(tmp_path / "again" / part) == files_of(mover.home / part)
    with closing(open_database(mover.home)) as here, closing(open_database(tmp_path / "again")) as again:
        assert again.asked.every() == here.asked.every() != []


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@requirement("store.move.whole")
def test_a_token_and_a_cursor_of_before_read_the_same_there(mover: Mover) -> None:
    with reader_in(mover.home, mover.token) as here:
        query = SearchQuery("lease", limit=1, cursor=mover.cursor)
        expected = here.search(query).value.hits

    mover.out()

    assert answers(mover.home, mover.token, mover.there()) == mover.answers
    with reader_in(mover.home, mover.token, mover.there()) as there:
        assert there.search(query).value.hits == expected != ()
    with closing(mover.there()) as database:
        assert {verdict.state for verdict in database.activity.verify()} == {"intact"}
        assert database.activity.recent(limit=1)


@requirement("store.move.whole")
def test_what_comes_after_a_move_gets_numbers_that_nothing_had(mover: Mover) -> None:
    mover.out()
    with closing(open_database(mover.home)) as here, here.writing() as writing:
        numbers = writing.counted()
    with closing(mover.there()) as there, there.writing() as writing:
        assert writing.counted() == numbers
        writing.run("insert into runs(connection, file, begun_at) values(1, 'later.mbox', '2026')")
        assert writing.one("select max(run) from runs") == numbers["runs"] + 1


@requirement("store.move.whole")
def test_every_table_of_either_engine_is_moved_or_made_anew(mover: Mover) -> None:
    """Whoever adds a table is asked here what becomes of it."""
    mover.out()
    moved = {table.name for table in _tables(mover.home)}
    with closing(mover.there()) as database, database.reading() as there:
        known = "select tablename from pg_tables where schemaname = current_schema()"
        found = {name for (name,) in there.rows(known)}
    made_anew = {"words", "field_values", "positions", "layout", "clock", "counters", "blob_pieces"}
    by_their_own_doors = {"segments", "disclosures", "names", "asked", "keys"}
    of_the_house = {"owners", "invitations", "ways_in", "schema_version", "tries", "released_blobs"}
    assert found - moved == made_anew | by_their_own_doors | of_the_house
    assert moved <= found
    by_text = next(table.order for table in _tables(mover.home) if table.name == "removals")
    assert by_text == "connection_id collate binary"  # a database may sort texts otherwise than by their bytes


def _tables(home: Path) -> list[moving.PlainTable]:
    with closing(open_database(home)) as database, database.reading() as reading:
        return plain_tables(reading)


@requirement("store.move.resumed")
@pytest.mark.parametrize("calls", [5, 70])
def test_a_move_that_was_killed_is_gone_on_with(mover: Mover, monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    monkeypatch.setattr(moving, "BATCH_ROWS", 2)
    mover.killed_after(calls)
    assert mover.names() == []  # nobody finds who is not there whole

    assert mover.out().was_there is False
    assert mover.names() == ["ada"]
    assert answers(mover.home, mover.token, mover.there()) == mover.answers


@requirement("store.move.resumed")
def test_what_was_left_of_a_home_that_changed_since_is_copied_anew(
    mover: Mover, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving, "BATCH_ROWS", 2)
    mover.killed_after(60)
    with closing(open_database(mover.home)) as database, database.writing() as writing:
        writing.run("update grants set note = 'of today'")

    mover.out()

    with closing(mover.there()) as database, database.reading() as there:
        assert there.one("select note from grants limit 1") == "of today"


@requirement("store.move.resumed")
def test_the_same_move_once_more_changes_nothing(mover: Mover, tmp_path: Path) -> None:
    assert mover.out().was_there is False
    assert mover.out().was_there is True
    tmp_path.chmod(0o755)
    assert mover.back(tmp_path / "again").was_there is False
    assert (tmp_path.stat().st_mode & 0o777, (tmp_path / "again").stat().st_mode & 0o777) == (0o755, 0o700)
    assert mover.back(tmp_path / "again").was_there is True


@requirement("store.move.refused")
def test_other_data_is_never_overwritten(mover: Mover, tmp_path: Path) -> None:
    mover.out()
    with closing(mover.there()) as database, database.writing() as writing:
        writing.run("update grants set note = 'there alone'")
    with pytest.raises(Conflict, match="holds other data"):
        mover.out()
    with pytest.raises(Conflict, match="holds other data"):
        mover.back(mover.home)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    with pytest.raises(Conflict, match="holds other data"):
        mover.back(tmp_path / "full")
    assert mover.out(name="bob").was_there is False


@requirement("store.move.refused")
def test_what_arrived_otherwise_does_not_count(mover: Mover, monkeypatch: pytest.MonkeyPatch) -> None:
    add = moving.PlainTable.add

    def add_falsely(table: moving.PlainTable, writing: Any, rows: Any) -> None:
        if table.name == "removed":
            data = table.columns.index("data")
            rows = [(*row[:data], "other", *row[data + 1 :]) for row in rows]
        add(table, writing, rows)

    monkeypatch.setattr(moving.PlainTable, "add", add_falsely)
    with pytest.raises(moving.MoveDiffers, match="row 1 of removed"):
        mover.out()
    assert mover.names() == []


@requirement("store.move.refused")
def test_a_home_in_use_is_not_moved(mover: Mover) -> None:
    with closing(open_database(mover.home)), pytest.raises(Conflict, match="Another process uses"):
        mover.out()


@requirement("store.move.refused")
@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("postgresql://pdpp:sesame@127.0.0.1:1/pdpp", "cannot be reached"),
        ("postgresql://pdpp:sesame@[::1/pdpp", "names no database"),
        ("mysql://pdpp:sesame@127.0.0.1/pdpp", "names no database"),
        ("somewhere", "is a folder already"),
    ],
)
def test_a_place_that_is_none_is_said_without_its_password(notes: Command, place: str, said: str) -> None:
    ran = notes("move", "--to", place)
    assert (ran.code, said in ran.err, "sesame" in ran.err + ran.out) == (1, True, False), ran.err


@requirement("store.move.whole")
def test_the_command_moves_a_home_there_and_back(notes: Command, postgres: Cluster, tmp_path: Path) -> None:
    url = postgres.fresh()
    moved = notes("move", "--to", url, "--owner", "ada", "--json")
    assert (moved.code, moved.json["owner"], moved.json["rows"]["records"]) == (0, "ada", 2), moved.err
    said = notes("move", "--to", str(tmp_path / "again"), "--owner", "ada", PDPP_DATABASE_URL=url)
    assert (said.code, "All of ada is there: 2 records" in said.out) == (0, True), said.err
    assert "<mark>train</mark>" in notes("search", "train", "--owner", PDPP_HOME=str(tmp_path / "again")).out
