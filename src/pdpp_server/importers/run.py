"""Read, deliver in batches, report."""

from collections.abc import Callable
from pathlib import Path

from pdpp_server.importers.ndjson import read
from pdpp_server.model.ingest import Incoming, Receipt, Rejection
from pdpp_server.port.writer import Writer

BATCH_RECORDS, BATCH_BYTES = 1000, 8 * 1024 * 1024
REJECTIONS_KEPT = 1000


def import_ndjson(path: Path, writer: Writer, progress: Callable[[int, Receipt], None]) -> Receipt:
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
