"""`pdpp import` on exports: what it says before it writes, what it keeps, and how it goes on."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.engine.beneath import is_postgres
from tests.importers.toys import lines
from tests.requirements import requirement
from tests.scenarios.cli.command import ROOT, SECONDS, Command, Ran

TOYS = [sys.executable, "-m", "tests.importers.toys"]


class Toys:
    """The command, where toys are the only exports there are."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.plain = Command(home, folder)
        self.home, self.file = home, self.plain.file

    def __call__(self, *words: str | Path, **variables: str) -> Ran:
        done = subprocess.run(
            [*TOYS, *map(str, words)], capture_output=True, text=True, cwd=ROOT, timeout=SECONDS, check=False,
            env=self.plain.environment(**{"TZ": "UTC", **variables}), stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return Ran(done.returncode, done.stdout, done.stderr)

    def records(self) -> int:
        return sum(stream["records"] for source in self.sources() for stream in source["streams"])

    def sources(self) -> list[dict[str, Any]]:
        return self("sources", "--json").json["connections"]


@pytest.fixture
def pdpp(home: Path, tmp_path: Path) -> Toys:
    return Toys(home, tmp_path)


@requirement("imp.files.recognised")
def test_what_was_found_is_said_and_a_dry_run_stops_there(pdpp: Toys) -> None:
    file = pdpp.file("a.toy", lines(30) + "bad\n")

    looked = pdpp("import", file, "--dry-run")

    assert looked.code == 0, looked.err
    for words in ('a.toy: Toy "mine", 1 file', "notes  30 records  2026-01-01 to 2026-01-28", "1 part cannot", "a toy"):
        assert words in looked.out
    assert "taken as UTC" in looked.err
    document = pdpp("import", file, "--dry-run", "--json", "--zone", "Europe/Berlin").json
    assert (document["connector_key"], document["name"], document["read_share"]) == ("toy", "mine", 1.0)
    assert document["streams"][0]["records"] == 30
    assert not pdpp.home.exists()


@requirement("imp.files.recognised", "cli.import.counts", "imp.sources.overview")
def test_a_zip_becomes_a_connection_and_sources_tells_of_it(pdpp: Toys, tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr("inside/a.toy", lines(30) + "bad\n")

    done = pdpp("import", path, "--json")

    assert done.code == 0, done.err
    assert (done.json["accepted"], done.json["unchanged"], done.json["rejected"]) == (30, 0, 1)
    assert "inside/a.toy:32" in done.err
    (source,) = pdpp.sources()
    assert (source["name"], source["rejected"]) == ("mine", 1)
    assert (source["last_import"]["file"], source["last_import"]["records"]) == ("export.zip/inside/a.toy", 30)
    assert "last read export.zip/inside/a.toy" in pdpp("sources").out


@requirement("imp.files.again")
def test_an_unchanged_export_is_not_read_again_unless_told(pdpp: Toys) -> None:
    file = pdpp.file("a.toy", lines(30))
    assert pdpp("import", file).code == 0

    again, told = pdpp("import", file), pdpp("import", file, "--again", "--json")
    known = pdpp("import", file, "--json").json

    assert (again.code, "unchanged since" in again.out, "--again" in again.out) == (0, True, True)
    assert "unchanged_since" not in told.json
    assert (told.json["accepted"], told.json["unchanged"], known["unchanged"]) == (0, 30, 30)
    pdpp.file("a.toy", lines(31))
    assert pdpp("import", file, "--json").json["accepted"] == 1
    assert pdpp("sources", "remove", "mine", "--yes").code == 0
    assert pdpp("import", file, "--json").json["accepted"] == 31


@requirement("imp.files.recognised")
def test_several_paths_and_a_folder_of_exports_are_imported_each(pdpp: Toys, tmp_path: Path) -> None:
    (tmp_path / "exports").mkdir()
    for name in ("exports/one", "exports/two", "three"):
        pdpp.file(f"{name}.toy", lines(3, name))
    (tmp_path / "exports" / "broken.zip").write_bytes(b"PK\x03\x04")

    done = pdpp("import", tmp_path / "exports", tmp_path / "three.toy", "--json")

    assert done.code == 1
    assert [json.loads(line)["accepted"] for line in done.out.splitlines()] == [3, 3, 3]
    assert "broken.zip is left out" in done.err
    assert {source["name"] for source in pdpp.sources()} == {"exports/one", "exports/two", "three"}


@requirement("imp.files.recognised", "cli.exit.usage")
def test_a_name_of_the_owners_own_is_for_one_account(pdpp: Toys, tmp_path: Path) -> None:
    one, two = pdpp.file("a.toy", lines(1, "a")), pdpp.file("b.toy", lines(1, "b"))

    assert pdpp("import", one, two, "--name", "x").code == 64
    assert not pdpp.home.exists()
    assert pdpp("import", one, "--name", "My toys").code == 0
    assert [source["name"] for source in pdpp.sources()] == ["My toys"]


@requirement("imp.files.wrong-kind")
def test_the_wrong_kind_is_refused_with_a_guess_and_what_to_do(pdpp: Toys, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path in (pdpp.file("photo.jpg", "x"), pdpp.file("nothing.toy", ""), tmp_path / "empty"):
        refused = pdpp("import", path)
        assert refused.code == 1
        assert "is nothing that is known here" in refused.err and "pdpp import --list" in refused.err
    assert pdpp("import", tmp_path / "photo.jpg", "--as", "nonsense").code == 64
    assert pdpp("import", tmp_path / "photo.jpg", "--zone", "Nowhere/Land").code == 64
    assert "toy: toys (.toy)\n  Made by hand." in pdpp("import", "--list").out
    assert not pdpp.home.exists()


@requirement("cli.exit.usage")
@pytest.mark.parametrize(
    "words", ["--list --name x", "--watch --dry-run", "--declaration {} --name x --again", "{} --zone UTC --as toys"]
)
def test_an_option_that_would_be_ignored_is_refused(pdpp: Toys, words: str) -> None:
    refused = pdpp("import", *words.format(pdpp.file("a.toy", lines(1))).split())

    assert refused.code == 64
    assert "--" in refused.err and not pdpp.home.exists()


@requirement("imp.files.damaged", "cli.exit.one-line")
@pytest.mark.parametrize("kind", ["cut", "up", "html"])
def test_a_zip_that_is_no_export_is_refused_in_a_line_and_nothing_is_made(
    pdpp: Toys, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "export.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr("../up.toy" if kind == "up" else "a.toy", lines(100))
    if kind != "up":
        path.write_bytes(path.read_bytes()[:-40] if kind == "cut" else b"<html></html>")

    refused = pdpp("import", path, "--zone", "UTC")

    assert refused.code == 1
    (line,) = refused.err.splitlines()
    assert ("../up.toy" if kind == "up" else "export.zip") in line
    assert not pdpp.home.exists()


@requirement("imp.files.rejected")
def test_an_export_without_a_record_is_no_fault_and_one_that_cannot_be_read_is(pdpp: Toys) -> None:
    empty = pdpp("import", pdpp.file("empty.toy", "TOY nobody\n"))
    assert (empty.code, "nothing in it is a record" in empty.out) == (0, True)

    assert pdpp("import", pdpp.file("bad.toy", "TOY broken\nbad\nworse\n")).code == 1


@requirement("imp.files.recognised")
def test_without_a_path_the_usual_folders_are_looked_into(pdpp: Toys, tmp_path: Path) -> None:
    assert pdpp("import", HOME=str(tmp_path)).code == 64
    (tmp_path / "toys").mkdir()
    pdpp.file("toys/a.toy", lines(3))

    usual = pdpp("import", HOME=str(tmp_path))

    assert usual.code == 0
    assert 'Toy "mine": 1 file' in usual.out
    assert f"import {tmp_path / 'toys'}" in usual.out
    assert not pdpp.home.exists()


@requirement("imp.files.goes-on", "cli.import.stopped")
def test_ctrl_c_says_what_is_kept_and_the_same_command_goes_on(pdpp: Toys) -> None:
    file = pdpp.file("a.toy", lines(60_000))
    running = subprocess.Popen(
        [*TOYS, "import", str(file)], cwd=ROOT, env=pdpp.plain.environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    while not (is_postgres() or pdpp.home.joinpath("pdpp.sqlite-wal").exists()) or pdpp.records() == 0:
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=SECONDS)

    kept = pdpp.records()
    assert (running.returncode, f"Stopped. {kept} records" in err) == (1, True), err
    again = pdpp("import", file, "--json").json
    assert (again["unchanged"], again["accepted"]) == (kept, 60_000 - kept)


@requirement("imp.inbox.watched")
def test_a_watched_folder_takes_what_is_dropped_until_ctrl_c(pdpp: Toys, tmp_path: Path) -> None:
    """Quiet time and pause are shortened by the program that stands in for `pdpp`."""
    inbox = tmp_path / "drop"
    inbox.mkdir()
    pdpp.file("drop/a.toy", lines(5))
    running = subprocess.Popen(
        [*TOYS, "import", "--watch", str(inbox)], cwd=ROOT, text=True, stderr=subprocess.PIPE,
        env={**pdpp.plain.environment(), "TOYS_IN_A_HURRY": "1", "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert running.stderr
    said = [running.stderr.readline() for _ in range(2)]
    os.kill(running.pid, signal.SIGINT)
    _, rest = running.communicate(timeout=SECONDS)

    assert "Watching" in said[0] and "'mine': 5 accepted" in said[1]
    assert (running.returncode, rest) == (0, "Ended.\n")
    assert (inbox / "imported" / "a.toy").exists()
    assert pdpp.records() == 5


@requirement("imp.inbox.watched")
def test_a_server_takes_what_is_dropped_into_its_inbox(pdpp: Toys) -> None:
    inbox = pdpp.home / "inbox"
    inbox.mkdir(parents=True)
    running = subprocess.Popen(
        [*TOYS, "serve", "--port", "0"], cwd=ROOT, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={**pdpp.plain.environment(), "TOYS_IN_A_HURRY": "1", "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        assert running.stderr
        pdpp.file("a.toy", lines(5)).rename(inbox / "a.toy")  # in one step: nobody waits for long here
        assert running.stderr.readline() == "inbox: a.toy: 'mine': 5 accepted, 0 unchanged, 0 rejected.\n"
        pdpp.file("bad.zip", "no zip").rename(inbox / "bad.zip")
        assert "inbox: bad.zip is refused: bad.zip is not a whole zip file" in running.stderr.readline()
    finally:
        running.terminate()
        running.communicate(timeout=SECONDS)
    assert "not a whole zip file" in (inbox / "refused" / "bad.zip.txt").read_text("utf-8")
    assert pdpp.records() == 5
