"""A file is the blob that the database knows, or it is lost or a stray."""

from pathlib import Path
from unittest.mock import sentinel

import pytest

from pdpp_server.model.blobs import ID_PREFIX, Blob
from pdpp_server.store.blob_files import BlobFiles, LostBlob

BYTES = b"a picture"


@pytest.fixture
def files(tmp_path: Path) -> BlobFiles:
    return BlobFiles(tmp_path / "blobs")


@pytest.fixture
def kept(files: BlobFiles) -> Blob:
    with files.draft(BYTES) as draft:
        files.place(sentinel.session, draft)
    return Blob(f"{ID_PREFIX}{draft.sha256}", draft.size, "image/png")


def test_what_was_placed_is_read_again(files: BlobFiles, kept: Blob) -> None:
    with files.open(sentinel.session, kept) as file:
        assert file.read() == BYTES


@pytest.mark.parametrize("changed", [BYTES[:-1], BYTES + b"!"])
def test_a_file_of_another_length_is_lost(files: BlobFiles, kept: Blob, changed: bytes) -> None:
    files.path_of(kept.sha256).write_bytes(changed)

    assert not files.is_whole(sentinel.session, kept)
    with pytest.raises(LostBlob):
        files.open(sentinel.session, kept)


def test_a_file_is_a_stray_by_its_name_or_by_its_place(files: BlobFiles, kept: Blob) -> None:
    unknown, misplaced = files.folder / "unknown", files.folder / kept.sha256
    for path in (unknown, misplaced):
        path.write_bytes(BYTES)

    assert files.strays({kept.sha256}) == sorted([unknown, misplaced])


def test_a_file_that_is_removed_takes_its_empty_folders_along(files: BlobFiles, kept: Blob) -> None:
    files.remove(kept.sha256)

    assert list(files.folder.iterdir()) == []
