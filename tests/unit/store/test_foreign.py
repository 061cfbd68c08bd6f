"""A SQLite file that is not ours is read as far as it is sound, and never written to."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from pdpp_server.errors import InvalidRequest
from pdpp_server.store.engines.sqlite.foreign import COLUMNS_MAX, VALUE_BYTES_MAX, ForeignTable, opened

_MADE = """
create table notes(id integer primary key, "odd ""name" text, weight real, picture blob);
insert into notes values(1, 'Größe', 1.5, x'00ff'), (2, null, 9e999, null);
create table pairs(a text, b text, primary key(a, b));
create view seen as select * from notes;
"""
NOTES = ForeignTable("notes", ("id", 'odd "name', "weight", "picture"), "id")


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "theirs #1.sqlite"
    connection = apsw.Connection(str(path))
    connection.execute(_MADE).fetchall()
    connection.close()
    yield path
    assert [each.name for each in tmp_path.iterdir()] == [path.name]  # nothing beside it


def test_tables_are_told_with_their_columns_and_a_key_of_one_column(path: Path) -> None:
    with opened(path, is_own_copy=False) as file:
        assert file.tables() == [NOTES, ForeignTable("pairs", ("a", "b"), None)]


def test_what_is_empty_or_no_number_is_left_out(path: Path) -> None:
    with opened(path, is_own_copy=False) as file:
        assert [*file.rows_of(NOTES)] == [
            {"id": 1, 'odd "name': "Größe", "weight": 1.5, "picture": b"\x00\xff"},
            {"id": 2},
        ]


@pytest.mark.parametrize("encoding", ["UTF-16le", "UTF-16be"])
def test_text_is_read_in_the_encoding_of_the_file(tmp_path: Path, encoding: str) -> None:
    connection = apsw.Connection(str(tmp_path / "wide.sqlite"))
    connection.execute(f"pragma encoding = '{encoding}'; create table t(a); insert into t values('Größe')").fetchall()
    connection.close()

    with opened(tmp_path / "wide.sqlite", is_own_copy=False) as file:
        (table,) = file.tables()
        assert [*file.rows_of(table)] == [{"a": "Größe"}]


def test_a_table_of_very_many_columns_is_read_as_far_as_we_take(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "wide.sqlite"))
    connection.execute(f"create table t({', '.join(f'c{number}' for number in range(COLUMNS_MAX + 5))})").fetchall()
    connection.close()

    with opened(tmp_path / "wide.sqlite", is_own_copy=False) as file:
        (table,) = file.tables()
        assert len(table.columns) == COLUMNS_MAX == 200


def test_a_value_that_is_too_long_is_refused_and_one_that_just_fits_is_not(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "long.sqlite"))
    connection.execute("create table t(a); insert into t values(zeroblob(?))", (VALUE_BYTES_MAX - 100,)).fetchall()
    connection.execute("create table u(a); insert into u values(zeroblob(?))", (VALUE_BYTES_MAX + 1,)).fetchall()
    connection.close()

    with opened(tmp_path / "long.sqlite", is_own_copy=False) as file:
        fits, exceeds = file.tables()
        (row,) = file.rows_of(fits)
        assert row == {"a": bytes(VALUE_BYTES_MAX - 100)}
        assert VALUE_BYTES_MAX == 16 * 2**20
        with pytest.raises(InvalidRequest, match=r"long\.sqlite cannot be read as a SQLite database"):
            list(file.rows_of(exceeds))


@pytest.mark.parametrize("damage", [b"", b"no database at all, but some words of it" * 20])
def test_what_is_no_database_is_refused_with_a_remedy(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "broken.sqlite"
    path.write_bytes(damage or b"SQLite format 3\0" + b"\xff" * 600)

    with pytest.raises(InvalidRequest) as refused, opened(path, is_own_copy=False) as file:
        file.tables()
    assert "`sqlite3 FILE .recover`" in str(refused.value.remedy)
