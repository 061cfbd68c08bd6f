"""Records of your own: one JSON object a line."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.wire.ingest import LINE_BYTES_MAX, decode_line

SKIPPED_BYTES = 64 * 1024


def read(path: Path, streams: Mapping[str, object]) -> Iterator[tuple[Incoming | Rejection, int]]:
    """Each record or rejection, with how many bytes of the file are behind us. Memory stays bounded."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LINE_BYTES_MAX + 2):
            number += 1
            place = f"{path.name}:{number}"
            outcome = decode_line(line, place, streams)
            while not line.endswith(b"\n") and (line := file.readline(SKIPPED_BYTES)):
                pass  # the rest of a line that is too long
            if outcome is not None:
                yield outcome, file.tell()
