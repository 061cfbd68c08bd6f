"""Exports whose import is killed, or runs out of room: the same command again ends with the same database."""

import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from zipfile import ZipFile

import apsw
import pytest

from tests.crash.agree import disagreements
from tests.crash.killing import ROOT, SECONDS, Moment, killed, undisturbed
from tests.crash.test_kill import kills, landed
from tests.importers.toys import lines
from tests.requirements import requirement
from tests.scenarios.cli.command import Command

pytestmark = pytest.mark.sqlite("looks into the file of a home after each kill")

ROOM = 3_000_000  # for a batch of those records, and not for all


def export(path: Path, count: int) -> Path:
    """A zip with notes, attachments and lines that are no notes."""
    attached = "".join(f"2026-02-01T00:00:00Z|a{n}|+bytes {n}\n" for n in range(5))
    with ZipFile(path, "w") as archive:
        archive.writestr("one.toy", lines(count) + "bad\n")
        archive.writestr("two.toy", lines(count, first=count) + attached + "worse\n")
    return path


def contents(home: Path) -> list[list[tuple[object, ...]]]:
    """All that an import leaves, without the times at which it ran."""
    connection = apsw.Connection(str(home / "pdpp.sqlite"))
    try:
        return [
            sorted(connection.execute(statement), key=str)
            for statement in (
                "select name, key, at, data from records join streams using(sid)",
                "select place, code, reason from rejections",
                "select fingerprint, file, records, rejected from imports",
                "select blob_id, key, mime_type from blob_bindings",
            )
        ]
    finally:
        connection.close()


@kills()
@requirement("imp.files.goes-on", "store.crash.kill-import")
def test_a_killed_import_of_an_export_is_simply_run_again(seeds: range, tmp_path: Path) -> None:
    file, declared = export(tmp_path / "export.zip", 60), tmp_path / "declared"
    declared.mkdir()
    whole = undisturbed(tmp_path / "whole", "export", file, declared)
    tally: Counter[str] = Counter()
    for seed in seeds:
        home = tmp_path / str(seed) / "home"
        run = killed(Moment.drawn(Random(seed), whole.said), home, "export", file, declared)
        tally[run.where] += 1
        for _ in range(2):
            undisturbed(home, "export", file, declared)
            assert contents(home) == contents(tmp_path / "whole")
        assert disagreements(home / "pdpp.sqlite") == []
    landed(tally)


@requirement("imp.files.goes-on", "store.disk.full")
def test_an_export_that_fills_the_disk_says_what_is_kept_and_goes_on_with_room(home: Path, tmp_path: Path) -> None:
    file = export(tmp_path / "export.zip", 9000)
    words = [sys.executable, "-m", "tests.importers.toys", "import", str(file), "--zone", "UTC"]

    def run(size: int | str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "tests.crash.bound", str(size), *words], capture_output=True, text=True, cwd=ROOT,
            env=Command(home, tmp_path).environment(), timeout=SECONDS, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    full = run(ROOM)
    assert full.returncode == 1, full
    (line,) = full.stderr.splitlines()
    records, *_ = contents(home)
    assert f"{len(records)} records of 'mine' are kept" in line and "Free disk space" in line
    assert 0 < len(records) < 18_000
    assert run("-").returncode == 0
    records, rejections, imports, _ = contents(home)
    assert (len(records), len(rejections), len(imports)) == (18_005, 2, 1)
