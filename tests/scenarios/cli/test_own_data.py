"""Data of the owner's own without a declaration: proposed, shown, agreed to, imported."""

import json
from pathlib import Path

import apsw
import pytest

from pdpp_server.importers.own_data import ProposedRow, rows
from tests.requirements import requirement
from tests.scenarios.cli.command import Command

BOOKS = "ISBN;Title;Read on;Pages;Shelf\n0123;A walrus;2026-01-02;120;007\n0456;Ice;2026-02-03;95;008\n"


@requirement("imp.own.proposed", "imp.own.same")
def test_a_table_becomes_a_stream_when_the_owner_agrees(pdpp: Command) -> None:
    path = pdpp.file("books.csv", BOOKS)

    refused = pdpp("import", path)
    assert (refused.code, '"read_on"' in refused.err, "--yes" in refused.err) == (1, True, True)
    assert "nobody agreed" in refused.err
    assert "nothing that is known" not in refused.err
    assert pdpp("sources", "--json").json == {"connections": []}
    shown = pdpp("import", path, "--dry-run")
    (stream,) = json.loads(shown.out)["streams"]
    fields = stream["schema"]["properties"]
    assert (fields["pages"], fields["isbn"], fields["shelf"]) == (
        {"type": "integer"},
        {"type": "string"},
        {"type": "string"},
    )
    assert (stream["primary_key"], stream["cursor_field"]) == (["record_key"], "read_on")

    for accepted, unchanged in ((2, 0), (0, 2)):
        taken = pdpp("import", path, "--name", "Books", "--yes", "--json")
        assert (taken.json["accepted"], taken.json["unchanged"], taken.json["rejected"]) == (accepted, unchanged, 0)
    (source,) = pdpp("sources", "--json").json["connections"]
    assert (source["name"], source["streams"][0]["earliest"][:10]) == ("Books", "2026-01-02")

    newer = pdpp("import", pdpp.file("books.csv", BOOKS.replace("120", "121")), "--name", "Books", "--json")
    assert (newer.code, newer.json["accepted"], '"read_on"' in newer.err) == (0, 1, False), "agreed before"
    assert pdpp("import", path, "--name", "Other books").code == 1


@requirement("imp.own.proposed")
@pytest.mark.parametrize(
    ("name", "text", "streams"),
    [
        ("a.ndjson", '{"id": 1, "Note": "x"}\n{"id": 2, "note": "y", "NOTE": "z"}\nbad\n', {"a": 2}),
        ("a.jsonl", '{"x": [1, {"y": null}]}\n', {"a": 1}),
        (
            "a.json",
            '{"Books": [{"id": "b1"}], "films": [{"id": "f1"}, {"id": "f2"}], "v": 3}',
            {"books": 1, "films": 2},
        ),
        ("a.json", '[{"id": "b1", "at": "2026-01-01T00:00:00Z"}]', {"a": 1}),
        ("a.csv", 'a,b\n"one\ntwo, three",2\n', {"a": 1}),
        ("a.tsv", "a\tb\n1\t2\n1\t2\n", {"a": 2}),
        ("a.csv", ",a,a,b,\n0,1,2,3,\n1,4,5,6,\n", {"a": 2}),  # with the numbers of its rows, as some programs write it
    ],
)
def test_other_forms_are_read_too(pdpp: Command, name: str, text: str, streams: dict[str, int]) -> None:
    taken = pdpp("import", pdpp.file(name, text), "--yes", "--json")

    assert taken.code == 0, taken.err
    (source,) = pdpp("sources", "--json").json["connections"]
    assert {stream["name"]: stream["records"] for stream in source["streams"]} == streams
    assert taken.json["rejected"] == text.count("bad")


@requirement("imp.own.proposed")
@pytest.mark.parametrize(("name", "text"), [("a.csv", "one\n"), ("a.csv", ""), ("a.json", "3"), ("a.ndjson", "no\n")])
def test_what_holds_no_records_is_refused_as_before(pdpp: Command, name: str, text: str) -> None:
    refused = pdpp("import", pdpp.file(name, text), "--yes")

    assert refused.code == 1
    assert "nothing that is known here" in refused.err
    assert "Traceback" not in refused.err


def _database(path: Path, *statements: str) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement)
    return connection


WALKS = (
    'create table "Long walks" (id integer primary key, day text, place text, km real, photo blob, twice as (km * 2))',
    "insert into \"Long walks\" values (1, '2026-05-01', 'Pier', 4.5, x'00ff'), (2, '2026-05-02', 'Dunes', 7, null)",
    "create table shoes (name text, size int)",
    "insert into shoes values ('boots', 42), (cast(x'ff6b' as text), 43)",
    "create table empty (id)",
    "create view everything as select * from shoes",
    "create virtual table words using fts5(body)",
    "insert into words values ('hidden')",
)


@requirement("imp.own.proposed", "imp.own.database")
def test_each_table_of_a_database_becomes_a_stream(pdpp: Command, tmp_path: Path) -> None:
    path = tmp_path / "walks.sqlite"
    _database(path, *WALKS).close()

    shown = pdpp("import", str(path), "--dry-run")
    assert shown.code == 0, shown.err
    streams = {stream["name"]: stream for stream in json.loads(shown.out)["streams"]}
    assert list(streams) == ["long_walks", "shoes"]
    walks = streams["long_walks"]
    assert (walks["primary_key"], walks["cursor_field"]) == (["id"], "day")
    assert set(walks["schema"]["properties"]) == {"id", "day", "place", "km"}
    assert "left out: bytes in Long walks.photo" in shown.err
    for accepted, unchanged in ((4, 0), (0, 4)):
        taken = pdpp("import", str(path), "--yes", "--json").json
        assert (taken["accepted"], taken["unchanged"], taken["rejected"]) == (accepted, unchanged, 0)
    assert "\ufffdk" in pdpp("query", "shoes", "--json").out
    assert sorted(one.name for one in tmp_path.iterdir() if one.name.startswith("walks")) == ["walks.sqlite"]


@requirement("imp.own.database")
def test_what_stands_only_in_the_log_beside_a_database_is_read_and_nothing_is_written_there(
    pdpp: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "program"
    folder.mkdir()
    path = folder / "live.db"
    open_still = _database(
        path,
        "pragma journal_mode = wal",
        "pragma wal_autocheckpoint = 0",
        "create table notes (id text primary key, body text)",
        "insert into notes values ('a', 'in the log alone')",
    )
    before = {one.name: one.read_bytes() for one in folder.iterdir() if not one.name.endswith("-shm")}

    taken = pdpp("import", str(path), "--yes", "--json")

    assert (taken.code, taken.json["accepted"]) == (0, 1)
    assert {one.name: one.read_bytes() for one in folder.iterdir() if not one.name.endswith("-shm")} == before
    open_still.close()


@requirement("imp.own.database")
def test_a_damaged_database_is_a_sentence(pdpp: Command, tmp_path: Path) -> None:
    path = tmp_path / "walks.sqlite"
    _database(path, *WALKS).close()
    whole = path.read_bytes()
    for number, broken in enumerate((whole[:5000], whole[:100] + bytes(len(whole) - 100), whole[:16] + b"\xff" * 9000)):
        damaged = tmp_path / f"damaged{number}.db"
        damaged.write_bytes(broken)
        refused = pdpp("import", str(damaged), "--yes")
        assert (refused.code, "cannot be read as a SQLite database" in refused.err) == (1, True), refused.err
    assert pdpp("sources", "--json").json == {"connections": []}


@requirement("imp.own.proposed")
@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.csv", "Größe;Name\r\n3;Jürgen\r\n", {"gr_e": 3, "name": "Jürgen"}),
        ("a.ndjson", '{"name": "Jürgen\u2028"}\r\n', {"name": "Jürgen\u2028"}),
        ("a.json", '[{"name": "Jürgen"}]', {"name": "Jürgen"}),
    ],
)
@pytest.mark.parametrize("charset", ["utf-16", "utf-8-sig"])
def test_files_of_windows_are_read_by_their_mark(
    pdpp: Command, name: str, text: str, expected: dict[str, object], charset: str
) -> None:
    path = pdpp.file(name, "")
    path.write_bytes(text.encode(charset))
    assert pdpp("import", path, "--yes", "--json").json["accepted"] == 1
    (found,) = (row for row in rows(path) if isinstance(row, ProposedRow))
    assert {key: str(value) for key, value in found.data.items()} == {
        key: str(value) for key, value in expected.items()
    }


@requirement("imp.own.proposed")
def test_a_broken_file_of_ones_own_is_told_of_as_such(pdpp: Command) -> None:
    assert (
        "a.json is no whole JSON: unexpected end" in pdpp("import", pdpp.file("a.json", '[{"a": 1}, {"a"'), "--yes").err
    )


@requirement("imp.own.proposed")
def test_fields_beyond_those_that_can_be_declared_are_told_of(pdpp: Command) -> None:
    path = pdpp.file("a.ndjson", json.dumps({f"k{number}": number for number in range(250)}))
    assert "50 fields of a beyond 200, as k200" in pdpp("import", path, "--yes").err


@requirement("imp.own.proposed")
def test_no_column_is_lost_whatever_others_are_called(pdpp: Command) -> None:
    assert pdpp("import", pdpp.file("a.csv", "id,a 4,a,a\n1,2,3,4\n"), "--yes").code == 0
    (record,) = pdpp("query", "a", "--json").json["data"]["data"]
    assert sorted(map(str, record["data"].values())) == ["1", "2", "3", "4"]


@requirement("imp.own.proposed")
def test_a_table_is_read_in_proportion_to_its_columns(pdpp: Command) -> None:
    wide = [",".join(f"c{number}" for number in range(200_000)), ",".join("1" * 200_000)]
    assert "beyond 200" in pdpp("import", pdpp.file("a.csv", "\n".join(wide)), "--dry-run").err
