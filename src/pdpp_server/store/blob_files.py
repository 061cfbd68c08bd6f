"""The files of blobs: named by their digest, and whole or not there at all."""

import hashlib
import os
import secrets
from collections.abc import Container, Generator, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pdpp_server.errors import IngestStorageError, ServerTrouble
from pdpp_server.model.blobs import Blob
from pdpp_server.store.files import private_folder, settle, sync
from pdpp_server.store.session import Session

CHUNK_BYTES = 256 * 1024
_NOT_AS_KEPT = "The file of this blob is missing or damaged."


class LostBlob(ServerTrouble):
    """A blob is known, and its file is not there or not whole."""

    remedy = "`pdpp doctor` says what is lost; a backup made before can be restored."


class Draft(NamedTuple):
    """Bytes on the disk that have no name yet which a reader could ask for."""

    path: Path
    sha256: str
    size: int


class BlobFiles:
    """The folder of one home. Files are renamed and removed by whoever holds the database's writer, and nobody else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def draft(self, data: bytes | Path | BinaryIO) -> Generator[Draft, None, None]:
        """The bytes, durable; gone again if nobody placed them."""
        path = self.folder / f".{secrets.token_hex(8)}.new"
        try:
            with _disk_trouble():
                private_folder(self.folder)
                with _opened(data) as source:
                    draft = Draft(path, *_write(source, path))
            yield draft
        finally:
            path.unlink(missing_ok=True)

    def place(self, _: Session, draft: Draft) -> None:
        """Give the bytes their name, in one step."""
        path = self.path_of(draft.sha256)
        with _disk_trouble():
            for folder in (path.parent.parent, path.parent):
                if not folder.exists():
                    sync(private_folder(folder).parent)
            settle(draft.path, path)

    def open(self, _: Session, blob: Blob) -> BufferedReader:
        """Raises LostBlob where the file is not what the database says, or said a moment ago."""
        try:
            file = self.path_of(blob.sha256).open("rb")
        except OSError as error:
            raise LostBlob(_NOT_AS_KEPT) from error
        if os.fstat(file.fileno()).st_size != blob.size:
            file.close()
            raise LostBlob(_NOT_AS_KEPT)
        return file

    def is_whole(self, _: Session, blob: Blob) -> bool:
        path = self.path_of(blob.sha256)
        return path.is_file() and path.stat().st_size == blob.size

    def strays(self, known: Container[str]) -> list[Path]:
        return [path for path in self.paths() if path.name not in known or path != self.path_of(path.name)]

    def remove(self, sha256: str) -> None:
        """Erase the bytes; the folders go with the last file in them."""
        path = self.path_of(sha256)
        with _disk_trouble():
            path.unlink(missing_ok=True)
        for folder in (path.parent, path.parent.parent):
            with suppress(OSError):  # not there, or not empty
                folder.rmdir()

    def path_of(self, sha256: str) -> Path:
        return self.folder / sha256[:2] / sha256[2:4] / sha256

    def paths(self) -> Iterator[Path]:
        """Every file there is, drafts included."""
        return (path for path in sorted(self.folder.rglob("*")) if not path.is_dir())


def _opened(data: bytes | Path | BinaryIO) -> BinaryIO:
    match data:
        case Path():
            return data.open("rb")
        case bytes():
            return BytesIO(data)
        case _:
            return data


def _write(source: BinaryIO, path: Path) -> tuple[str, int]:
    """Digest and size of what was written."""
    digest, size = hashlib.sha256(), 0
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        while chunk := source.read(CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())  # here, and not while everybody waits for the writer
    return digest.hexdigest(), size


@contextmanager
def _disk_trouble() -> Generator[None, None, None]:
    try:
        yield
    except OSError as error:
        raise IngestStorageError(
            f"The folder of blobs could not be written ({error.strerror}).",
            remedy="Free disk space, or let the server write to the folder `blobs` of its home, and try again.",
        ) from error
