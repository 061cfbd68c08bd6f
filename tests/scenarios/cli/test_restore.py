"""`pdpp restore`: what comes back, and what is refused before anything is changed."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pdpp_server.errors import Conflict
from pdpp_server.owner.restore import DamagedBackup, HomeInTheWay
from pdpp_server.store.engines.sqlite.migrations import NewerDatabase
from tests.requirements import requirement
from tests.scenarios.cli.command import Command
from tests.worlds.kept import Kept, backed_up, lived, records_in, restored


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Kept]:
    with lived(tmp_path / "home") as kept:
        backed_up(kept.home, tmp_path / "backup")
        yield kept


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("store.backup.restore")
def test_what_was_backed_up_comes_back_and_says_what_to_do_about_grants(notes: Command) -> None:
    notes.grant("--save")
    before = notes("search", "lease").out
    notes("backup", notes.folder / "backup")
    again = str(notes.folder / "again")

    report = notes("restore", notes.folder / "backup", PDPP_HOME=again)

    assert report.code == 0, report.err
    assert "2 records of 1 connection" in report.out
    assert f"PDPP_HOME={again} pdpp grants list" in report.out
    assert notes("search", "lease", PDPP_HOME=again).out == before
    assert notes("doctor", "--json", PDPP_HOME=again, PDPP_PORT="0").json["well"]


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("cli.restore.damaged")
@pytest.mark.parametrize("part", ["database", "activity", "keys", "blobs"])
@pytest.mark.parametrize("harm", ["flipped", "shorter", "gone"])
def test_a_damaged_file_is_named_and_nothing_is_changed(life: Kept, tmp_path: Path, part: str, harm: str) -> None:
    path = next(path for path in sorted((tmp_path / "backup" / part).rglob("*")) if path.is_file())
    _harm(path, harm)

    with pytest.raises(DamagedBackup, match=path.relative_to(tmp_path / "backup").as_posix()):
        restored(tmp_path / "backup", tmp_path / "again")

    assert not (tmp_path / "again").exists()
    assert list(tmp_path.glob(".*restoring*")) == []


def _harm(path: Path, harm: str) -> None:
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    match harm:
        case "flipped":
            path.write_bytes(raw)
        case "shorter":
            path.write_bytes(raw[:-1])
        case _:
            path.unlink()


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("cli.restore.damaged")
def test_the_command_names_the_damaged_file_in_one_line(notes: Command) -> None:
    notes("backup", notes.folder / "backup")
    (path,) = (notes.folder / "backup" / "database").iterdir()
    _harm(path, "flipped")

    refused = notes("restore", notes.folder / "backup", PDPP_HOME=str(notes.folder / "again"))

    assert refused.code == 1
    (line,) = refused.err.splitlines()
    assert f"database/{path.name}" in line


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("cli.restore.in-the-way")
def test_a_home_with_data_is_refused_or_moved_aside_and_not_while_in_use(tmp_path: Path) -> None:
    backup, home = tmp_path / "backup", tmp_path / "home"
    with lived(home) as life:
        backed_up(home, backup)
        records = life.records()
        with pytest.raises(HomeInTheWay, match="not empty"):
            restored(backup, home)
        with pytest.raises(Conflict, match="Another process uses"):
            restored(backup, home, replace=True)
    (home / "mine.txt").write_text("mine")

    report = restored(backup, home, replace=True)

    assert report.moved_aside
    assert Path(report.moved_aside, "mine.txt").read_text() == "mine"
    assert records_in(Path(report.moved_aside)) == records_in(home) == records
    assert not (home / "mine.txt").exists()


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("cli.restore.in-the-way")
def test_the_command_says_where_the_home_was_moved_to(notes: Command, tmp_path: Path) -> None:
    assert notes("backup", tmp_path / "backup").code == 0

    said = notes("restore", tmp_path / "backup", "--replace")

    aside = re.search(r"^What was there is now (.+); move it back to undo this\.$", said.out, re.MULTILINE)
    assert (said.code, aside is not None) == (0, True), said.err
    assert notes("sources", PDPP_HOME=aside[1] if aside else "").out == notes("sources").out


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("cli.restore.in-the-way")
def test_an_empty_folder_is_filled_where_it_is(life: Kept, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir(mode=0o755)
    (tmp_path / "disk" / ".restoring").mkdir()
    number = (tmp_path / "disk").stat().st_ino

    restored(tmp_path / "backup", tmp_path / "disk")

    assert (tmp_path / "disk").stat().st_ino == number
    assert (tmp_path / "disk").stat().st_mode & 0o777 == 0o700
    assert records_in(tmp_path / "disk") == life.records()
    assert not (tmp_path / "disk" / ".restoring").exists()


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("cli.restore.newer")
def test_a_newer_schema_is_refused_by_name(life: Kept, tmp_path: Path) -> None:
    _edit(tmp_path / "backup", lambda manifest: manifest["snapshots"][0].update(schema_version=99))

    with pytest.raises(NewerDatabase, match="has schema 99; this pdpp-server knows"):
        restored(tmp_path / "backup", tmp_path / "again")


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("cli.restore.damaged")
@pytest.mark.parametrize("path", ["keys/../../escaped", "/etc/passwd", "elsewhere/x", "keys/.hidden"])
def test_a_manifest_cannot_lead_out_of_the_folder(life: Kept, tmp_path: Path, path: str) -> None:
    _edit(tmp_path / "backup", lambda manifest: manifest["files"][0].update(file=path))

    refused = Command(tmp_path / "again", tmp_path)("restore", tmp_path / "backup")

    assert refused.code == 1
    assert "manifest.json cannot be read" in refused.err
    assert not (tmp_path / "again").exists()


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("cli.restore.at")
def test_a_time_without_a_snapshot_is_refused_with_those_there_are(notes: Command) -> None:
    at = notes("backup", notes.folder / "backup", "--json").json["snapshot"]["at"]
    elsewhere = str(notes.folder / "again")

    early = notes("restore", notes.folder / "backup", "--at", "2020-01-01", PDPP_HOME=elsewhere)
    wrong = notes("restore", notes.folder / "backup", "--at", "yesterday", PDPP_HOME=elsewhere)
    right = notes("restore", notes.folder / "backup", "--at", at, "--json", PDPP_HOME=elsewhere)

    assert (early.code, wrong.code, right.code) == (1, 1, 0)
    assert at in early.err
    assert right.json["snapshot"]["at"] == at
    assert notes("restore", notes.folder, PDPP_HOME=elsewhere).code == 1


def _edit(backup: Path, change: Any) -> None:
    manifest = json.loads((backup / "manifest.json").read_text())
    change(manifest)
    (backup / "manifest.json").write_text(json.dumps(manifest))
