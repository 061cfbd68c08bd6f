"""Records of your own: one JSON object a line."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from pdpp_server.model.ingest import Incoming, Receipt, Rejection
from pdpp_server.owner.recipient import RecordTaker
from pdpp_server.wire.ingest import LINE_BYTES_MAX, decode_line

BATCH_RECORDS, BATCH_BYTES = 4000, 8 * 1024 * 1024  # that are delivered together
REJECTIONS_KEPT = 1000
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


def import_ndjson(path: Path, writer: RecordTaker, progress: Callable[[int, Receipt], None]) -> Receipt:
    """Bring the whole file in; `progress` hears how many bytes are done after each batch."""
    receipt = Receipt()
    batch: list[Incoming] = []
    rejected: list[Rejection] = []
    delivered = done = 0
    for outcome, done in read(path, writer.declaration.streams):
        if isinstance(outcome, Rejection):
            rejected.append(outcome)
            continue
        batch.append(outcome)
        if len(batch) >= BATCH_RECORDS or done - delivered >= BATCH_BYTES:
            receipt += writer.deliver(batch)
            batch, delivered = [], done
            progress(done, receipt)
    receipt += writer.deliver(batch)
    receipt = Receipt(receipt.accepted, receipt.unchanged, _in_order(*receipt.rejected, *rejected))
    writer.finish(path.name, receipt.rejected[:REJECTIONS_KEPT])
    progress(done, receipt)
    return receipt


def _in_order(*rejections: Rejection) -> tuple[Rejection, ...]:
    """By line, whichever check a line failed."""
    return tuple(sorted(rejections, key=lambda rejection: int(rejection.place.rpartition(":")[2])))
