"""Some bytes of an open file as an answer, in pieces."""

from collections.abc import Iterator, Mapping
from typing import BinaryIO

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

CHUNK_BYTES = 64 * 1024


class FileBody(StreamingResponse):
    """The file is closed whatever becomes of the connection."""

    def __init__(self, file: BinaryIO, places: range, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(_pieces(file, places), status, headers)
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._file:
            await super().__call__(scope, receive, send)


def _pieces(file: BinaryIO, places: range) -> Iterator[bytes]:
    file.seek(places.start)
    left = len(places)
    while left and (piece := file.read(min(CHUNK_BYTES, left))):
        left -= len(piece)
        yield piece
