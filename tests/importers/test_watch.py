"""The inbox, looked at step by step: no clock runs here."""

import os
from pathlib import Path

import pytest

from pdpp_server.errors import IngestStorageError, InvalidRequest
from pdpp_server.importers.watch import QUIET_SECONDS, Inbox
from tests.requirements import requirement

LONG = QUIET_SECONDS + 1


class Bringing:
    """Notes what it was given, and fails as it is told."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.trouble: Exception | None = None

    def __call__(self, path: Path) -> str:
        self.taken.append(path.name)
        if self.trouble:
            raise self.trouble
        return "all of it"


@pytest.fixture
def bring() -> Bringing:
    return Bringing()


@pytest.fixture
def inbox(tmp_path: Path, bring: Bringing) -> Inbox:
    (tmp_path / "inbox").mkdir()
    return Inbox(tmp_path / "inbox", bring, lambda _: None)


@requirement("imp.inbox.watched")
def test_what_stopped_growing_is_imported_once_and_moved_aside(inbox: Inbox, bring: Bringing) -> None:
    dropped = inbox.folder / "export.zip"
    dropped.write_bytes(b"some")
    inbox.step(0)
    inbox.step(QUIET_SECONDS - 1)
    dropped.write_bytes(b"some more")
    inbox.step(QUIET_SECONDS + 1)
    assert bring.taken == []

    for moment in (LONG * 2, LONG * 3, LONG * 4):
        inbox.step(moment)

    assert bring.taken == ["export.zip"]
    assert (inbox.folder / "imported" / "export.zip").read_bytes() == b"some more"
    assert not dropped.exists()


@requirement("imp.inbox.watched")
def test_a_folder_still_being_copied_and_a_download_under_way_are_waited_for(inbox: Inbox, bring: Bringing) -> None:
    (inbox.folder / "export").mkdir()
    for name in (".hidden", "big.zip.part", "big.crdownload", "export/a"):
        (inbox.folder / name).write_bytes(b"x")
    inbox.step(0)
    (inbox.folder / "export" / "b").write_bytes(b"x")
    inbox.step(LONG)
    assert bring.taken == []

    inbox.step(LONG * 2)

    assert bring.taken == ["export"]
    assert sorted(path.name for path in inbox.folder.iterdir()) == [
        ".hidden", "big.crdownload", "big.zip.part", "imported",
    ]  # fmt: skip


@requirement("imp.inbox.refused")
@pytest.mark.parametrize(
    ("trouble", "reason"),
    [(InvalidRequest("It is no zip.", remedy="Download it again."), "It is no zip. Download it again.\n"),
     (KeyError("a line of a record"), "Something unforeseen: KeyError at test_watch.py:")],
)  # fmt: skip
def test_a_faulty_one_lies_beside_its_reason_and_is_not_tried_again(
    inbox: Inbox, bring: Bringing, trouble: Exception, reason: str
) -> None:
    bring.trouble = trouble
    for round_ in range(2):
        (inbox.folder / "bad.zip").write_bytes(b"bad")
        for step in range(4):
            inbox.step(LONG * (round_ * 10 + step))

    assert bring.taken == ["bad.zip", "bad.zip"]
    refused = sorted(path.name for path in (inbox.folder / "refused").iterdir())
    assert refused == ["bad-2.zip", "bad-2.zip.txt", "bad.zip", "bad.zip.txt"]
    assert (inbox.folder / "refused" / "bad.zip.txt").read_text("utf-8").startswith(reason)


@requirement("imp.inbox.refused")
def test_one_that_cannot_be_moved_aside_is_not_tried_again_either(inbox: Inbox, bring: Bringing) -> None:
    (inbox.folder / "imported").write_bytes(b"a file where the folder should be")
    (inbox.folder / "export.zip").write_bytes(b"x")

    for step in range(5):
        inbox.step(LONG * step)

    assert bring.taken == ["export.zip"]


@requirement("imp.inbox.watched")
def test_trouble_of_ours_leaves_it_where_it_is_until_better_times(inbox: Inbox, bring: Bringing) -> None:
    bring.trouble = IngestStorageError("The disk is full.")
    (inbox.folder / "export.zip").write_bytes(b"x")
    for step in range(3):
        inbox.step(LONG * step)
    assert (inbox.folder / "export.zip").exists()

    bring.trouble = None
    for step in range(3, 5):
        inbox.step(LONG * step)

    assert (inbox.folder / "imported" / "export.zip").exists()


@requirement("imp.inbox.watched")
def test_a_reason_is_never_written_through_a_link_nor_lost_on_a_strange_name(inbox: Inbox, bring: Bringing) -> None:
    elsewhere = inbox.folder.parent / "elsewhere"
    (inbox.folder / "refused").mkdir()
    (inbox.folder / "refused" / "export.zip.txt").symlink_to(elsewhere)
    strange = inbox.folder / os.fsdecode(b"\xff.zip")
    for dropped in (inbox.folder / "export.zip", strange):
        dropped.write_bytes(b"some")
    bring.trouble = InvalidRequest(f"{strange.name} is not known.")
    inbox.step(0)
    inbox.step(LONG)

    assert not elsewhere.exists()
    assert (inbox.folder / "refused" / f"{strange.name}.txt").read_text() == "\\udcff.zip is not known.\n"


@requirement("imp.inbox.watched")
def test_a_folder_that_is_not_there_is_waited_for(tmp_path: Path, bring: Bringing) -> None:
    Inbox(tmp_path / "later", bring, lambda _: None).step(0)

    assert not (tmp_path / "later").exists()
