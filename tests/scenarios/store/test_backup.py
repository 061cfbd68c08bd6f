"""A backup keeps everything: every read, whole batches, every line of the log."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from pdpp_server.errors import InvalidRequest, NotFound
from pdpp_server.model.queries import FetchQuery, SearchQuery
from pdpp_server.store.engines.sqlite import snapshot
from pdpp_server.store.log import segment_paths, verify
from pdpp_server.wire.backup import decode_manifest
from tests.requirements import requirement
from tests.worlds import album, chat
from tests.worlds.kept import Kept, answers, backed_up, lived, reader_in, restored
from tests.worlds.told import told

BATCH, BATCHES = 40, 60


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Kept]:
    with lived(tmp_path / "home") as kept:
        yield kept


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("store.backup.restore")
def test_a_restored_home_answers_every_read_as_the_original_did(life: Kept, tmp_path: Path) -> None:
    backed_up(life.home, tmp_path / "backup")

    report = restored(tmp_path / "backup", tmp_path / "again")

    assert report.moved_aside is None
    assert (tmp_path / "again" / _blob_path(life.photo)).read_bytes() == album.BYTES
    assert answers(tmp_path / "again", life.world.token) == answers(life.home, life.world.token)


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("store.backup.restore")
def test_a_cursor_of_before_goes_on_in_the_restored_home(life: Kept, tmp_path: Path) -> None:
    first = life.world.reader.search(SearchQuery("lease", limit=1)).value
    backed_up(life.home, tmp_path / "backup")
    restored(tmp_path / "backup", tmp_path / "again")
    query = SearchQuery("lease", limit=1, cursor=first.next_cursor)

    with reader_in(tmp_path / "again", life.world.token) as reader:
        assert reader.search(query).value.hits == life.world.reader.search(query).value.hits


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("store.backup.whole-batches")
def test_a_backup_made_while_records_arrive_holds_whole_batches(life: Kept, tmp_path: Path) -> None:
    delivered = threading.Event()

    def deliver() -> None:
        writer = life.world.owner.writer(chat.DECLARATION, chat.WORK)
        for batch in range(BATCHES):
            writer.deliver([chat.message(f"b{batch:03}-{n}", text="word " * 50) for n in range(BATCH)])
            delivered.set()

    writing = threading.Thread(target=deliver)
    writing.start()
    assert delivered.wait(30)
    files = [backed_up(life.home, tmp_path / "backup").snapshot.file for _ in range(3)]
    writing.join()

    for file in files:
        found = [size for (size,) in _asked(tmp_path / "backup" / file, _BATCH_SIZES)]
        assert found
        assert set(found) == {BATCH}


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("store.backup.whole-batches")
def test_what_arrives_while_the_database_is_copied_is_not_in_the_copy_and_does_not_hold_it_up(
    life: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "STEP_PAGES", 5)
    writer = life.world.owner.writer(chat.DECLARATION, chat.WORK)
    steps = 0

    def heard(_: int) -> None:
        nonlocal steps
        steps += 1
        if steps < 100:
            writer.deliver([chat.message(f"late{steps}", text="Too late.")])

    before = life.records()
    snapshot.take(life.home / "pdpp.sqlite", tmp_path / "copy.sqlite", heard)

    assert 3 < steps < 100
    assert snapshot.look(tmp_path / "copy.sqlite", thoroughly=True).counts["records"] == len(before)


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("store.backup.log")
def test_the_copy_of_the_log_grows_by_whole_lines(life: Kept, tmp_path: Path) -> None:
    target = tmp_path / "backup"
    backed_up(life.home, target)
    (segment,) = segment_paths(life.home / "activity")
    before = (target / "activity" / segment.name).read_bytes()
    told(life.world.reader.search(SearchQuery("walrus")))
    with segment.open("ab") as file:
        file.write(b'{"n": 2, "prev": "half a li')

    backed_up(life.home, target)

    after = (target / "activity" / segment.name).read_bytes()
    assert after.startswith(before)
    assert (after.count(b"\n") - before.count(b"\n"), after[-1:]) == (1, b"\n")
    assert [verdict.state for verdict in verify(target / "activity", ())] == ["intact"]


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("store.backup.log", "log.day.kept")
def test_what_the_owner_let_go_of_the_log_goes_from_the_backup_too(life: Kept, tmp_path: Path) -> None:
    target = tmp_path / "backup"
    backed_up(life.home, target)
    (old,) = segment_paths(target / "activity")
    life.world.clock.moment += timedelta(days=200)
    told(life.world.reader.search(SearchQuery("walrus")))
    life.world.owner.keep_activity(100)
    (target / "activity" / "mine.jsonl").write_text("kept by hand")

    backed_up(life.home, target)

    assert not old.exists()
    assert (target / "activity" / "mine.jsonl").exists()
    states = [verdict.state for verdict in verify(target / "activity", ())]
    assert sorted(states) == ["intact", "intact", "intact", "let_go"]


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("store.backup.log")
def test_a_log_that_was_changed_or_cut_never_replaces_its_copy(life: Kept, tmp_path: Path) -> None:
    target = tmp_path / "backup"
    (segment,) = segment_paths(life.home / "activity")
    backed_up(life.home, target)
    before = (target / "activity" / segment.name).read_bytes()

    segment.write_bytes(before[:100])
    cut = backed_up(life.home, target).remarks
    segment.write_bytes(before + before.splitlines(keepends=True)[-1])
    changed = backed_up(life.home, target).remarks

    assert [remark.code for remark in (*cut, *changed)] == ["log_cut", "log_changed"]
    assert (target / "activity" / segment.name).read_bytes() == before


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("cli.backup.keep")
def test_old_snapshots_go_and_with_them_the_blobs_that_only_they_needed(life: Kept, tmp_path: Path) -> None:
    target = tmp_path / "backup"
    backed_up(life.home, target, keep=2)
    photos = life.world.owner.writer(album.DECLARATION, album.PHONE)
    photos.deliver([chat.deletion("p1", "photos"), chat.deletion("p2", "photos")])

    kept = backed_up(life.home, target, keep=2)
    blob = target / _blob_path(life.photo)
    is_there = blob.exists()
    last = backed_up(life.home, target, keep=1)

    assert (kept.snapshots, is_there) == (2, True)
    assert (last.snapshots, last.is_new, blob.exists()) == (1, False, False)
    manifest = decode_manifest((target / "manifest.json").read_bytes())
    assert [path.name for path in (target / "database").iterdir()] == [Path(manifest.snapshots[0].file).name]
    assert restored(target, tmp_path / "again").snapshot == last.snapshot


@pytest.mark.sqlite("copies the files of a home: a database has tools of its own")
@requirement("cli.restore.at", "store.backup.restore")
def test_an_earlier_moment_is_restored_with_what_was_there_then(life: Kept, tmp_path: Path) -> None:
    target = tmp_path / "backup"
    first = backed_up(life.home, target).snapshot
    life.world.deliver(chat.WORK, [chat.deletion("m2")])
    backed_up(life.home, target, after=10)
    query = FetchQuery("messages", "m2", life.world.work)

    restored(target, tmp_path / "then", at=first.at)
    restored(target, tmp_path / "later")

    with reader_in(tmp_path / "then", life.world.token) as reader:
        assert reader.fetch(query).value.data["text"] == chat.LONG_TEXT
    with reader_in(tmp_path / "later", life.world.token) as reader, pytest.raises(NotFound):
        reader.fetch(query)
    with pytest.raises(InvalidRequest, match="no snapshot of 2020-01-01 or before"):
        restored(target, tmp_path / "never", at="2020-01-01")


_BATCH_SIZES = "select count(*) from records where key glob 'b[0-9]*' group by substr(key, 1, 4)"


def _asked(database: Path, statement: str) -> list[Any]:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(f"{database.as_uri()}?immutable=1", flags=flags)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


def _blob_path(blob_id: str) -> Path:
    digest = blob_id.removeprefix("blob_")
    return Path("blobs", digest[:2], digest[2:4], digest)
