"""What `pdpp export` made: a folder of connections, each with its declaration, its streams and its blobs."""

from collections.abc import Callable
from hashlib import file_digest
from pathlib import Path

from pdpp_server.errors import InvalidRequest
from pdpp_server.importers.ndjson import import_ndjson
from pdpp_server.model.backup import ExportedBlob, ExportedConnection
from pdpp_server.model.ingest import Receipt, Rejection
from pdpp_server.owner.export import BLOBS, EXPORT_FILE
from pdpp_server.owner.recipient import RecordTaker
from pdpp_server.wire.backup import FaultyManifest
from pdpp_server.wire.export import decode_export

ReceiptProgress = Callable[[int, Receipt], None]


def is_export(folder: Path) -> bool:
    return (folder / EXPORT_FILE).is_file()


def connections_in(folder: Path) -> tuple[ExportedConnection, ...]:
    """Raises: InvalidRequest where the export cannot be read, or is not whole."""
    path = folder / EXPORT_FILE
    try:
        connections = decode_export(path.read_bytes())
    except FaultyManifest as faulty:
        raise InvalidRequest(f"{path} cannot be read: {faulty.message}.", remedy="Export again.") from faulty
    for connection in connections:
        for name in (connection.declaration, *(stream.file for stream in connection.streams)):
            if not (folder / name).is_file():
                raise InvalidRequest(f"{folder / name} is missing; nothing was imported.", remedy="Export again.")
    return connections


def size_of(folder: Path, connection: ExportedConnection) -> int:
    """Of what is imported: a stream that is no longer declared can take no record."""
    return sum((folder / stream.file).stat().st_size for stream in connection.streams if stream.is_declared)


def import_connection(
    folder: Path, connection: ExportedConnection, writer: RecordTaker, progress: ReceiptProgress
) -> Receipt:
    """Records first, then the blobs that they refer to."""
    receipt, done = Receipt(), 0
    for stream in connection.streams:
        if stream.is_declared:
            path = folder / stream.file
            receipt += import_ndjson(path, writer, _going_on(progress, done, receipt))
            done += path.stat().st_size
    for blob in connection.blobs:
        receipt += _import_blob(folder / BLOBS / blob.sha256, blob, writer)
    return receipt


def _going_on(progress: ReceiptProgress, done: int, before: Receipt) -> ReceiptProgress:
    """Counts on from the files before."""
    return lambda size, receipt: progress(done + size, before + receipt)


def _import_blob(path: Path, blob: ExportedBlob, writer: RecordTaker) -> Receipt:
    if not _is_whole(path, blob.sha256):
        lost = Rejection(f"{BLOBS}/{blob.sha256}", "invalid_record", "the blob is missing or damaged")
        return Receipt(rejected=(lost,))
    for stream, key in blob.bound_to:
        if stream in writer.declaration.streams:
            writer.keep_blob(stream, key, path, blob.mime_type)
    return Receipt()


def _is_whole(path: Path, sha256: str) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest() == sha256
