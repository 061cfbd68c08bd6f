"""A blob in pieces is read from any place on, as much as there is room for."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from pdpp_server.model.blobs import Blob
from pdpp_server.store.blob_files import LostBlob
from pdpp_server.store.engines.postgres import blobs
from pdpp_server.store.session import Session

PIECES = [b"0123456789", b"abcdefghij", b"xyz"]
BLOB = Blob("blob_1", 23, "text/plain")


class Kept:
    """A session that knows these pieces."""

    def one(self, statement: str, values: Sequence[Any]) -> object:
        if "sum(" in statement:
            return sum(map(len, PIECES))
        _, number = values
        return PIECES[number] if number < len(PIECES) else None


def opened(folder: Path, monkeypatch: pytest.MonkeyPatch, blob: Blob = BLOB) -> Any:
    monkeypatch.setattr(blobs, "CHUNK_BYTES", len(PIECES[0]))
    kept = cast("Session", Kept())

    @contextmanager
    def reading() -> Generator[Session, None, None]:
        yield kept

    return blobs.PostgresBlobs(folder, reading).open(kept, blob)


@pytest.mark.parametrize(("start", "room", "read"), [(0, 4, b"0123"), (6, 3, b"678"), (7, 9, b"789"), (21, 9, b"yz")])
def test_a_read_ends_with_its_room_or_with_the_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: int, room: int, read: bytes
) -> None:
    raw, buffer = opened(tmp_path, monkeypatch).raw, bytearray(room)
    raw.seek(start)

    assert buffer[: raw.readinto(buffer)] == read
    assert raw.tell() == start + len(read)


def test_all_of_it_is_all_of_its_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert opened(tmp_path, monkeypatch).read() == b"".join(PIECES)


def test_a_blob_of_another_size_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LostBlob):
        opened(tmp_path, monkeypatch, Blob("blob_1", 24, "text/plain"))
