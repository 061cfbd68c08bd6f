"""The bytes that a record refers to: read under a grant, kept by the owner."""

from typing import BinaryIO, NamedTuple

from pdpp_server.errors import InvalidRecordIdentity, InvalidRequest, RangeNotSatisfiable
from pdpp_server.evidence.handles import check_key
from pdpp_server.evidence.shown import shown_of
from pdpp_server.model.activity import Shown
from pdpp_server.model.blobs import Blob, BlobDelivery
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.model.pending import Leaving, Pending
from pdpp_server.model.queries import BlobQuery
from pdpp_server.model.records import RecordId
from pdpp_server.model.streams import Stream
from pdpp_server.reads.services import Call, Services
from pdpp_server.reads.writes import desk_for, writing
from pdpp_server.store.blob_files import LostBlob
from pdpp_server.store.records.blobs import find_blob, keep_blob
from pdpp_server.store.records.ingest import Desk
from pdpp_server.store.records.sources import resolve_connection


class OpenedBlob(NamedTuple):
    """A blob, which of its bytes leave, and the open file; whoever got it closes it. None: nothing but headers."""

    blob: Blob
    places: range
    is_part: bool
    file: BinaryIO | None
    shown: Shown


def serve(services: Services, call: Call, query: BlobQuery) -> Pending[OpenedBlob]:
    """A file may be erased between the look at its row and its opening: a second look then sees no such blob."""
    try:
        return _serve(services, call, query)
    except LostBlob:
        return _serve(services, call, query)


def _serve(services: Services, call: Call, query: BlobQuery) -> Pending[OpenedBlob]:
    """A refused range tells of a blob too: its line is written before it is refused."""
    with services.reading(call, "read_blob") as read:
        permitted = read.permit(query)
        found = find_blob(read.store, permitted)
        blob = found.blob
        part = query.part if blob.size else None  # nothing has no parts: it is sent whole
        places = part.within(blob.size) if part else range(blob.size)
        shown = shown_of((found.record,), (found.field,))
        if places is None:
            refusal = read.pending(permitted, _unsatisfiable(blob.size))
            raise refusal.leave(lambda refused: Leaving(refused, shown, 0))
        file = services.database.blobs.open(read.store, blob)  # also for headers alone: they promise that it is there
        if query.headers_only:
            file.close()
        opened = OpenedBlob(blob, places, part is not None, None if query.headers_only else file, shown)
        return read.pending(permitted, opened)


def _unsatisfiable(size: int) -> RangeNotSatisfiable:
    refusal = RangeNotSatisfiable(f"The blob has {size} bytes.", param="Range")
    refusal.size = size
    return refusal


def keep(services: Services, call: Call, delivery: BlobDelivery, data: bytes) -> Blob:
    """The bytes are on the disk before the writer is asked, and get their name inside its transaction."""
    files = services.database.blobs
    with files.draft(data) as draft, writing(services, call) as write:
        place = resolve_connection(write.layout, *delivery.target)
        desk = desk_for(write, place, delivery.stream)
        _require_reference(desk.stream, delivery.field)
        sid, key = desk.place.sid, _key_of(desk, delivery.record_key, write.now)
        return keep_blob(write, files, draft, sid=sid, key=key, mime_type=delivery.mime_type, now=write.now)


def _require_reference(stream: Stream, field: str | None) -> None:
    if field is not None and field not in stream.blob_fields:
        named = ", ".join(sorted(stream.blob_fields)) or "none"
        raise InvalidRequest(
            "json_path names no field that refers to blobs.", param="json_path", remedy=f"Such fields: {named}."
        )


def _key_of(desk: Desk, told: str, now: str) -> str:
    """The key as a record of that stream would have it."""
    checked = desk.check(Incoming("here", desk.stream.name, told, None, None), now)
    if isinstance(checked, Rejection):
        raise InvalidRecordIdentity(f"No record can have it: {checked.reason}.", param="record_key")
    check_key(RecordId(desk.connection_id, desk.stream.name, checked.key))
    return checked.key
