"""Bytes of records: kept once, gone with the last record that has them, never half there."""

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

import apsw
import pytest

from pdpp_server.errors import IngestStorageError
from pdpp_server.model.blobs import Blob
from pdpp_server.store.blob_files import BlobFiles
from pdpp_server.store.records.blobs import lost_blobs, stored_blobs, stray_blobs
from pdpp_server.store.session import Session
from pdpp_server.wire.blobs import encode_reference
from tests.engine.beneath import is_postgres, rows_in
from tests.requirements import requirement
from tests.worlds.album import BYTES, CAMERA, PHONE, Album, photo
from tests.worlds.world import NOW

SECRET = b"a face that nobody else may see"
DIGEST = hashlib.sha256(SECRET).hexdigest()


@pytest.fixture
def album(tmp_path: Path) -> Iterator[Album]:
    album = Album(tmp_path / "home")
    yield album
    album.close()


def is_anywhere(home: Path, data: bytes) -> bool:
    """In any file or row, by its bytes or its name."""
    named = hashlib.sha256(data).hexdigest()
    if is_postgres():
        return bool(rows_in(home, "select 1 from blob_pieces where blob_id like ?", (f"%{named}",)))
    return any(data in path.read_bytes() or named in path.name for path in home.rglob("*") if path.is_file())


def status(album: Album, blob_id: str) -> int:
    with album.serving() as door:
        return door.blob(blob_id).status_code


@pytest.mark.sqlite("about the files of blobs, which are rows there")
@requirement("store.blobs.content-addressed")
def test_the_same_bytes_lie_once_in_a_file_that_only_its_owner_reads(album: Album) -> None:
    ids = {album.keep("p1", SECRET), album.keep("p2", SECRET), album.keep("c1", SECRET, device=CAMERA)}

    (path,) = album.blob_files()
    assert ids == {f"blob_{DIGEST}"}
    assert path == album.home / "blobs" / DIGEST[:2] / DIGEST[2:4] / DIGEST
    assert path.read_bytes() == SECRET
    assert path.stat().st_mode & 0o777 == 0o600
    folders = (album.home / "blobs", path.parent.parent, path.parent)
    assert {folder.stat().st_mode & 0o777 for folder in folders} == {0o700}


@requirement("store.blobs.content-addressed")
def test_a_file_is_kept_like_bytes(album: Album, tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(SECRET * 50_000)

    blob = album.devices[PHONE].keep_blob("photos", "p1", tmp_path / "photo.png", "image/png")

    assert (blob.sha256, blob.size) == (hashlib.sha256(SECRET * 50_000).hexdigest(), len(SECRET) * 50_000)
    with album.services.database.reading() as reading:
        (stored,) = stored_blobs(reading)
        with album.services.database.blobs.open(reading, stored) as file:
            kept = file.read()
    assert (stored.blob_id, stored.size, kept) == (blob.blob_id, blob.size, SECRET * 50_000)


@requirement("store.blobs.content-addressed", "store.blobs.whole-or-nothing")
def test_a_blob_whose_binding_fails_is_not_there(album: Album, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pdpp_server.store.records.blobs._BIND", "insert into no_such_table values(?, ?, ?, ?)")
    with pytest.raises((apsw.SQLError, IngestStorageError)):
        album.devices[PHONE].keep_blob("photos", "p1", SECRET, "image/png")
    monkeypatch.undo()

    with album.services.database.reading() as reading:
        files = album.services.database.blobs
        assert [path.name for path in stray_blobs(reading, files)] == ([] if is_postgres() else [DIGEST])
        assert list(stored_blobs(reading)) == []
    album.deliver(photo("p1", blob_ref={"blob_id": f"blob_{DIGEST}"}))
    assert status(album, f"blob_{DIGEST}") == 404


@requirement("grants.worlds.same-bytes")
def test_a_hidden_time_does_not_choose_the_record_through_which_a_blob_is_read(album: Album) -> None:
    token = album.grant(fields=["id", "blob_ref"])

    def told(first: str, second: str) -> str:
        album.keep("a", SECRET, mime_type="image/png", taken_at=first)
        blob_id = album.keep("b", SECRET, mime_type="image/gif", taken_at=second)
        with album.serving() as door:
            return door.blob(blob_id, token=token).headers["content-type"]

    earlier, later = "2026-02-01T12:00:00Z", "2026-07-01T12:00:00Z"
    assert told(earlier, later) == told(later, earlier) == "image/png"


@requirement("grants.worlds.same-bytes")
def test_bytes_delivered_for_a_hidden_field_do_not_change_the_type_of_a_visible_one(album: Album) -> None:
    token = album.grant(fields=["id", "blob_ref"])
    blob_id = album.keep("a", SECRET, mime_type="image/png")
    hidden = album.devices[PHONE].keep_blob("photos", "a", SECRET, "image/gif")
    shown = encode_reference(Blob(blob_id, hidden.size, "image/png"))
    album.deliver(photo("a", blob_ref=shown, pages=[encode_reference(hidden)]))

    with album.serving() as door:
        assert door.blob(blob_id, token=token).headers["content-type"] == "image/png"


@requirement("store.blobs.erased")
def test_a_blob_goes_with_the_last_record_that_has_it(album: Album) -> None:
    blob_id = album.keep("p1", SECRET)
    album.keep("c1", SECRET, device=CAMERA)
    album.keep("p9")

    album.delete("p1")
    assert status(album, blob_id) == 200
    album.delete("c1", device=CAMERA)

    assert status(album, blob_id) == 404
    album.services.database.forget_erased()
    assert not is_anywhere(album.home, SECRET)
    assert is_anywhere(album.home, BYTES)


@requirement("store.blobs.erased")
@pytest.mark.parametrize("day", ["2026-06-01T12:00:00Z", "2026-06-02T12:00:00Z"])
def test_a_blob_goes_when_its_record_no_longer_refers_to_it(album: Album, day: str) -> None:
    album.keep("p1", SECRET)
    other = album.devices[PHONE].keep_blob("photos", "p1", BYTES, "image/png")

    album.deliver(photo("p1", blob_ref=encode_reference(other), taken_at=day))

    assert not is_anywhere(album.home, SECRET)
    assert status(album, other.blob_id) == 200


@requirement("store.blobs.erased")
@pytest.mark.parametrize("day", ["2026-06-01T12:00:00Z", "2026-06-02T12:00:00Z"])
def test_a_record_that_changes_otherwise_keeps_its_blob(album: Album, day: str) -> None:
    blob_id = album.keep("p1", SECRET, mime_type="image/webp")

    album.deliver(photo("p1", blob_ref={"blob_id": blob_id}, caption="At the lake", taken_at=day))

    with album.serving() as door:
        response = door.blob(blob_id)
    assert (response.content, response.headers["content-type"]) == (SECRET, "image/webp")


@requirement("store.blobs.erased")
def test_a_blob_waits_for_its_record_and_goes_with_its_deletion(album: Album) -> None:
    blob_id = album.devices[PHONE].keep_blob("photos", "p1", SECRET, "image/png").blob_id
    album.deliver(photo("p1", caption="Not yet"))
    album.deliver(photo("p1", blob_ref={"blob_id": blob_id}))
    assert status(album, blob_id) == 200

    album.devices[PHONE].keep_blob("photos", "never", BYTES, "image/png")
    album.delete("p1")
    album.delete("never")

    assert album.blob_files() == []


@requirement("store.blobs.erased")
def test_a_blob_goes_with_its_stream(album: Album) -> None:
    blob_id = album.keep("p1", SECRET)
    album.keep("c1", device=CAMERA)

    with album.serving() as door:
        path = f"/v1/streams/photos/records?connector_id=album&connection_id={album.phone}"
        assert door.get(path, method="DELETE", token=album.owner_token).status_code == 204

    assert status(album, blob_id) == 404
    assert not is_anywhere(album.home, SECRET)
    assert is_anywhere(album.home, BYTES)


@requirement("store.blobs.erased")
def test_a_blob_goes_with_its_connection(album: Album) -> None:
    album.keep("p1", SECRET)
    shared = album.keep("p2")
    album.keep("c1", device=CAMERA)

    album.owner.remove_source(album.phone)

    assert not is_anywhere(album.home, SECRET)
    assert status(album, shared) == 200


@requirement("store.blobs.erased")
def test_the_same_bytes_may_come_back(album: Album) -> None:
    album.delete("p1")
    for _ in range(2):
        blob_id = album.keep("p1", SECRET)
        assert status(album, blob_id) == 200
        album.delete("p1")
        assert album.blob_files() == []


DYING = """
import os, signal, sys
from datetime import datetime
from pathlib import Path
from pdpp_server.owner.desk import Owner
from pdpp_server.reads.services import open_services
from pdpp_server.store import blob_files
from pdpp_server.store.engines.sqlite import db
from pdpp_server.store.records import blobs
from tests.worlds import album
home, moment, now = Path(sys.argv[1]), sys.argv[2], datetime.fromisoformat(sys.argv[3])

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

services = open_services(home, now=lambda: now)
writer = Owner(services, home).writer(album.DECLARATION, album.PHONE)
if moment == "before its name":
    blob_files.settle = die
elif moment == "before its row":
    place = blob_files.BlobFiles.place
    blob_files.BlobFiles.place = lambda *given: (place(*given), die())
elif moment == "before it is erased":
    db.erase_released = die
else:
    blob_files.BlobFiles.remove = die
if "name" in moment or "row" in moment:
    writer.keep_blob("photos", "p1", sys.stdin.buffer.read(), "image/png")
else:
    writer.deliver([album.Incoming("here", "photos", "p1", None, None)])
"""


def die_in(album: Album, moment: str) -> None:
    """Another process on the same home, killed at that moment."""
    arguments = [sys.executable, "-c", DYING, str(album.home), moment, NOW.isoformat()]
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(root / "src"), str(root)))}
    died = subprocess.run(arguments, input=SECRET, capture_output=True, env=environment, timeout=60, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()


@pytest.mark.sqlite("about the files of blobs, which are rows there")
@requirement("store.blobs.whole-or-nothing")
@pytest.mark.parametrize("moment", ["before its name", "before its row"])
def test_a_writer_killed_while_it_keeps_a_blob_leaves_nothing_readable(album: Album, moment: str) -> None:
    die_in(album, moment)

    album.deliver(photo("p1", blob_ref={"blob_id": f"blob_{DIGEST}"}))
    assert status(album, f"blob_{DIGEST}") == 404
    with album.services.database.reading() as reading:
        strays = stray_blobs(reading, album.services.database.blobs)
    assert [(path.read_bytes(), path.stat().st_mode & 0o777) for path in strays] == [(SECRET, 0o600)]
    album.keep("p1", SECRET)
    assert status(album, f"blob_{DIGEST}") == 200


@pytest.mark.sqlite("about the files of blobs, which are rows there")
@requirement("store.blobs.whole-or-nothing", "store.blobs.erased")
@pytest.mark.parametrize("moment", ["before it is erased", "before its file is removed"])
def test_what_a_killed_writer_did_not_erase_the_next_one_does(album: Album, moment: str) -> None:
    blob_id = album.keep("p1", SECRET)

    die_in(album, moment)

    assert status(album, blob_id) == 404
    album.deliver(photo("p2"))
    assert album.blob_files() == []


@pytest.mark.sqlite("about the files of blobs, which are rows there")
@requirement("store.blobs.erased")
def test_a_blob_erased_while_it_is_asked_for_is_not_found(album: Album, monkeypatch: pytest.MonkeyPatch) -> None:
    blob_id = album.keep("p1", SECRET)
    opened = BlobFiles.open

    def erased_first(files: BlobFiles, reading: Session, blob: Blob) -> BufferedReader:
        album.delete("p1")
        return opened(files, reading, blob)

    monkeypatch.setattr(BlobFiles, "open", erased_first)
    assert status(album, blob_id) == 404


@pytest.mark.sqlite("about the files of blobs, which are rows there")
@requirement("store.blobs.whole-or-nothing")
@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"short")])
def test_a_file_that_is_not_as_it_was_kept_is_not_served(album: Album, damage) -> None:
    blob_id = album.keep("p1", SECRET)
    (path,) = album.blob_files()
    damage(path)

    assert status(album, blob_id) == 500
    with album.services.database.reading() as reading:
        assert [lost.blob_id for lost in lost_blobs(reading, album.services.database.blobs)] == [blob_id]
    album.keep("p1", SECRET)
    assert status(album, blob_id) == 200
