"""What nothing holds any longer is erased, if it is ours."""

from pathlib import Path
from unittest.mock import sentinel

from pdpp_server.model.blobs import ID_PREFIX
from pdpp_server.store.blob_files import BlobFiles
from pdpp_server.store.engines.sqlite.db import SqliteDatabase


def placed(files: BlobFiles, data: bytes) -> tuple[str, Path]:
    with files.draft(data) as draft:
        files.place(sentinel.session, draft)
    return ID_PREFIX + draft.sha256, files.path_of(draft.sha256)


def test_the_file_of_a_known_blob_goes_and_what_a_record_only_named_is_left_alone(home: Path) -> None:
    database = SqliteDatabase(home / "pdpp.sqlite")
    known, path = placed(BlobFiles(home / "blobs"), b"known")
    named, other = placed(BlobFiles(home / "blobs"), b"only named")

    with database.writing() as writer:
        writer.run("insert into blobs(blob_id, size, created_at) values(?, 5, '')", (known,))
        writer.run_many("insert into released_blobs values(?)", [(known,), (named,)])

    assert (path.exists(), other.exists()) == (False, True)
    database.close()
