"""`pdpp backup`: what is copied, what is refused, and what is left when it fails."""

import json
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pdpp_server.errors import InvalidRequest
from pdpp_server.owner.backup import BackupFailed
from tests.requirements import requirement
from tests.scenarios.cli.command import PDPP, ROOT, Command
from tests.worlds.kept import backed_up, lived, records_in, restored

SLOW_BACKUP = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from pdpp_server.owner.backup import back_up

def progress(done, total):
    print("more", flush=True)
    sys.stdin.readline()

back_up(Path(sys.argv[1]), Path(sys.argv[2]), now=datetime.now(UTC), keep=7, progress=progress)
"""


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("cli.backup.incremental")
def test_only_what_is_new_is_copied_again(notes: Command) -> None:
    notes.grant("--save")
    first = notes("backup", notes.folder / "backup", "--json").json
    again = notes("backup", notes.folder / "backup", "--json").json
    notes.import_notes('{"id": "n3", "title": "New"}')
    third = notes("backup", notes.folder / "backup", "--json").json

    assert (first["changed"], first["snapshots"]) == (True, 1)
    assert first["snapshot"]["counts"]["records"] == 2
    assert (again["changed"], again["copied_files"], again["snapshot"]) == (False, 0, first["snapshot"])
    assert (third["changed"], third["copied_files"], third["snapshots"]) == (True, 1, 2)
    said = notes("backup", notes.folder / "backup").out
    assert "3 records of 1 connection" in said
    assert "whoever has it can read everything" in said


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("cli.backup.private")
def test_nobody_else_can_read_a_backup_and_help_says_who_can(notes: Command) -> None:
    notes.grant("--save")
    assert notes("search", "lease").code == 0
    (notes.folder / "backup").mkdir(mode=0o755)
    notes("backup", notes.folder / "backup")
    notes("restore", notes.folder / "backup", PDPP_HOME=str(notes.folder / "again"))
    notes("export", notes.folder / "export")

    folders = [notes.folder / name for name in ("backup", "again", "export")]
    found = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    assert len(found) > 15
    assert [path for path in found if path.stat().st_mode & 0o777 != (0o700 if path.is_dir() else 0o600)] == []
    assert "Nothing in it is encrypted" in notes("backup", "--help").out


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("cli.backup.refuses")
def test_a_target_that_cannot_be_meant_is_refused_and_not_touched(notes: Command) -> None:
    (notes.folder / "letters").mkdir()
    (notes.folder / "letters" / "letter.txt").write_text("dear")

    inside = notes("backup", notes.home / "backup")
    full = notes("backup", notes.folder / "letters")
    nothing = notes("backup", notes.folder / "new", PDPP_HOME=str(notes.folder / "nowhere"))

    assert [ran.code for ran in (inside, full, nothing)] == [1, 1, 1]
    assert "inside" in inside.err
    assert "not empty" in full.err
    assert "holds no data yet" in nothing.err
    assert [path.name for path in (notes.folder / "letters").iterdir()] == ["letter.txt"]
    assert not any((notes.folder / name).exists() for name in ("new", "nowhere", "home/backup"))
    assert notes("backup", notes.folder / "new", "--keep", "0").code == 64


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("cli.backup.no-room")
def test_without_room_nothing_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with lived(tmp_path / "home") as life:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9, 1000))
        with pytest.raises(BackupFailed, match=r"has 0 MiB free, and \d+ MiB are needed"):
            backed_up(life.home, tmp_path / "backup")

    assert [path.name for path in (tmp_path / "backup").iterdir()] == [".pdpp-backup"]


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("cli.backup.no-room")
def test_a_disk_that_fills_leaves_the_earlier_backup_whole(notes: Command) -> None:
    backup = notes.folder / "backup"
    notes("backup", backup)
    before = {path: path.read_bytes() for path in backup.rglob("*") if path.is_file()}
    notes.import_notes("".join(f'{{"id": "m{n}", "body": "{"word " * 90}"}}\n' for n in range(900)))

    done = subprocess.run(
        [*PDPP, "backup", str(backup)],
        cwd=ROOT, env=notes.environment(), capture_output=True, text=True, timeout=60, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000)),
    )  # fmt: skip

    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "could not be written" in line
    assert {path: path.read_bytes() for path in backup.rglob("*") if path.is_file()} == before
    assert notes("backup", backup, "--json").json["snapshots"] == 2


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("cli.backup.interrupted")
def test_a_killed_backup_is_no_backup_and_the_next_one_finishes_it(tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    with lived(tmp_path / "home") as life:
        running = subprocess.Popen(
            [sys.executable, "-c", SLOW_BACKUP, str(life.home), str(backup)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        with running:
            assert running.stdin
            assert running.stdout
            assert running.stdout.readline() == "more\n"  # a blob is being copied
            running.stdin.write("go on\n")
            running.stdin.flush()
            assert running.stdout.readline() == "more\n"  # now the database
            running.kill()
        with pytest.raises(InvalidRequest, match="never finished"):
            restored(backup, tmp_path / "again")
        left = list(backup.rglob(".*.new"))
        backed_up(life.home, backup)

        restored(backup, tmp_path / "again")
        assert records_in(tmp_path / "again") == life.records()
    assert left
    assert list(backup.rglob(".*.new")) == []


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("cli.backup.refuses")
def test_two_backups_into_one_folder_do_not_meet(tmp_path: Path) -> None:
    with lived(tmp_path / "home") as life:
        backed_up(life.home, tmp_path / "backup")
        running = subprocess.Popen(
            [sys.executable, "-c", SLOW_BACKUP, str(life.home), str(tmp_path / "backup")],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        with running:
            assert running.stdout
            running.stdout.readline()
            refused = Command(life.home, tmp_path)("backup", tmp_path / "backup")
            running.kill()

    assert refused.code == 1
    assert "Another process is writing" in refused.err


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("cli.backup.incremental")
def test_a_manifest_that_cannot_be_read_is_made_anew(notes: Command) -> None:
    backup = notes.folder / "backup"
    notes("backup", backup)
    whole = json.loads((backup / "manifest.json").read_text())
    (backup / "manifest.json").write_text("{")

    assert notes("restore", backup, PDPP_HOME=str(notes.folder / "again")).code == 1
    assert notes("backup", backup).code == 0
    mended = json.loads((backup / "manifest.json").read_text())
    assert mended["files"] == whole["files"]
    assert [each["sha256"] for each in mended["snapshots"]] == [each["sha256"] for each in whole["snapshots"]]
