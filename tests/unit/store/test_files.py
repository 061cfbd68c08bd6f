"""Files that are whole or not there."""

from hashlib import sha256
from pathlib import Path

import pytest

from pdpp_server.model.backup import KeptFile
from pdpp_server.store.files import copy_whole, digest, forget_drafts, made_folder, plain_files, written_whole


def test_a_file_takes_its_name_when_it_is_whole_and_is_its_owners(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"

    with written_whole(path) as file:
        file.write(b"half")
        file.flush()
        assert not path.exists()
        file.write(b" and half")

    assert path.read_bytes() == b"half and half"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_folder_that_is_there_stays_as_open_as_it_was(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)

    with written_whole(tmp_path / "file") as file:
        file.write(b"mine")

    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_every_folder_that_is_made_on_the_way_is_its_owners(tmp_path: Path) -> None:
    made_folder(tmp_path / "owners" / "2")

    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("owners", "owners/2")] == [0o700, 0o700]


def test_after_a_failure_the_old_file_is_there_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")

    with pytest.raises(OSError, match="full"), written_whole(tmp_path / "file") as file:
        file.write(b"new")
        raise OSError("full")

    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", b"old")]


@pytest.mark.parametrize("size", [None, 0, 1, 1_500_000, 3_000_000])
def test_a_copy_is_what_it_says_it_is(tmp_path: Path, size: int | None) -> None:
    raw = bytes(range(256)) * 8000
    (tmp_path / "source").write_bytes(raw)
    heard: list[int] = []

    kept = copy_whole(tmp_path / "source", tmp_path / "target", heard.append, size=size)

    assert (tmp_path / "target").read_bytes() == raw[:size]
    assert kept == KeptFile(sha256(raw[:size]).hexdigest(), len(raw[:size])) == digest(tmp_path / "target")
    assert sum(heard) == kept.size


def test_links_drafts_and_foreign_names_are_not_looked_at(tmp_path: Path) -> None:
    for name in ("b", "a.key", ".hidden", ".a.key.new", "with space"):
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to(tmp_path / "b")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c").touch()

    assert [path.name for path in plain_files(tmp_path)] == ["a.key", "b", "c"]
    forget_drafts(tmp_path)
    assert not (tmp_path / ".a.key.new").exists()
    assert (tmp_path / ".hidden").exists()
