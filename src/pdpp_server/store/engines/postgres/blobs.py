"""The bytes of blobs as rows: pieces of one size, so that a part of a blob is read without the rest."""

import io
from collections.abc import Callable, Container
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

from pdpp_server.model.blobs import ID_PREFIX, Blob
from pdpp_server.store.blob_files import CHUNK_BYTES, BlobFiles, Draft, LostBlob
from pdpp_server.store.engine import Writing
from pdpp_server.store.engines.postgres.session import PostgresWriting
from pdpp_server.store.session import Session

_IS_THERE = "select 1 from blob_pieces where blob_id = ? limit 1"
_ADD = "insert into blob_pieces(blob_id, piece, bytes) values(?, ?, ?)"
_SIZE = "select cast(coalesce(sum(length(bytes)), 0) as bigint) from blob_pieces where blob_id = ?"
_PIECE = "select bytes from blob_pieces where blob_id = ? and piece = ?"
_ERASE_RELEASED = """
delete from blobs using released_blobs released where blobs.blob_id = released.blob_id
and not exists(select 1 from blob_refs where blob_refs.blob_id = released.blob_id)
and not exists(select 1 from blob_bindings where blob_bindings.blob_id = released.blob_id)
and not exists(select 1 from removed_blobs where removed_blobs.blob_id = released.blob_id);
delete from blob_pieces using released_blobs released where blob_pieces.blob_id = released.blob_id
and not exists(select 1 from blobs where blobs.blob_id = released.blob_id);
delete from released_blobs;
"""
_NOT_AS_KEPT = "The bytes of this blob are missing or damaged."

Open = Callable[[], AbstractContextManager[Session]]


class PostgresBlobs:
    """Drafts wait in a folder of this process; what has a name is in the database."""

    def __init__(self, folder: Path, reading: Open) -> None:
        self._drafts = BlobFiles(folder)
        self._reading = reading

    def draft(self, data: bytes | Path | BinaryIO) -> AbstractContextManager[Draft]:
        return self._drafts.draft(data)

    def place(self, writing: Writing, draft: Draft) -> None:
        blob_id = ID_PREFIX + draft.sha256
        if writing.one(_IS_THERE, (blob_id,)) is not None:
            return
        with draft.path.open("rb") as source:
            pieces = iter(lambda: source.read(CHUNK_BYTES), b"")
            for number, piece in enumerate(pieces):
                writing.run(_ADD, (blob_id, number, piece))

    def open(self, reading: Session, blob: Blob) -> io.BufferedReader:
        if not self.is_whole(reading, blob):
            raise LostBlob(_NOT_AS_KEPT)
        return io.BufferedReader(_Pieces(self._reading, blob), CHUNK_BYTES)

    def is_whole(self, reading: Session, blob: Blob) -> bool:
        return reading.one(_SIZE, (blob.blob_id,)) == blob.size

    def strays(self, known: Container[str]) -> list[Path]:
        return self._drafts.strays(known)


def erase_released(writing: PostgresWriting) -> None:
    """What nothing holds any longer goes in the transaction that let go of it."""
    writing.run(_ERASE_RELEASED)


class _Pieces(io.RawIOBase):
    """A blob as a file. Each piece is asked for in a snapshot of its own: what is slow to leave must not hold one."""

    def __init__(self, reading: Open, blob: Blob) -> None:
        super().__init__()
        self._reading, self._blob, self._place = reading, blob, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        begin = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._blob.size}[whence]
        self._place = max(0, begin + offset)
        return self._place

    def readinto(self, buffer: "bytearray | memoryview", /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        if self._place >= self._blob.size:
            return 0
        number, offset = divmod(self._place, CHUNK_BYTES)
        with self._reading() as reading:
            piece: bytes | None = reading.one(_PIECE, (self._blob.blob_id, number))
        if piece is None:
            raise LostBlob(_NOT_AS_KEPT)
        taken = piece[offset : offset + len(buffer)]
        buffer[: len(taken)] = taken
        self._place += len(taken)
        return len(taken)
