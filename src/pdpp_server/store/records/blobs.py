"""Blobs: kept for a record, found through a record that refers to them."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import orjson

from pdpp_server.errors import AmbiguousConnection, BlobNotFound, Candidate
from pdpp_server.grants.permitted import Permitted, Scope
from pdpp_server.model.blobs import ANY_BYTES, ID_PREFIX, Blob, is_mime_type
from pdpp_server.model.queries import BlobQuery
from pdpp_server.model.records import RecordId
from pdpp_server.model.sources import Origin
from pdpp_server.store.blob_files import Draft
from pdpp_server.store.engine import Blobs, Reading, Writing
from pdpp_server.store.records.reach import Reach
from pdpp_server.store.records.scope import reaches
from pdpp_server.store.session import Session
from pdpp_server.wire.blobs import decode_references

_NEW = "insert into blobs(blob_id, size, created_at) values(?, ?, ?) on conflict do nothing"
_BIND = """
insert into blob_bindings(blob_id, sid, key, mime_type) values(?, ?, ?, ?)
on conflict(blob_id, sid, key) do update set mime_type = excluded.mime_type
"""
_BOUND = """
select size from blobs join blob_bindings using(blob_id) where blob_id = ? and sid = ? and key = ? and mime_type = ?
"""
_REFERRING = """
select records.key, blob_refs.field, records.data, blobs.size,
       (select mime_type from blob_bindings b
        where b.blob_id = blobs.blob_id and b.sid = records.sid and b.key = records.key)
from blob_refs join blobs using(blob_id) join records using(rid)
where blob_refs.blob_id = :blob_id and blob_refs.sid = :sid
and blob_refs.field in (select value from json_each(:fields)) and {where}
order by blob_refs.field, records.key limit 1
"""
_SIZE = "select size from blobs where blob_id = ?"
_ALL = "select blob_id, size from blobs where blob_id > ? order by blob_id limit 1000"


class FoundBlob(NamedTuple):
    """A blob, and the record and field through which its reader sees it."""

    blob: Blob
    record: RecordId
    field: str


def keep_blob(writer: Writing, blobs: Blobs, draft: Draft, *, sid: int, key: str, mime_type: str, now: str) -> Blob:
    """Give the bytes their name and bind them to their record; the caller commits. The same again is the same blob."""
    blob = Blob(ID_PREFIX + draft.sha256, draft.size, mime_type if is_mime_type(mime_type) else ANY_BYTES)
    blobs.place(writer, draft)  # first: a row without its file would be a promise not kept
    writer.run(_NEW, (blob.blob_id, blob.size, now))
    writer.run(_BIND, (blob.blob_id, sid, key, blob.mime_type))
    return blob


def is_kept(reader: Session, blobs: Blobs, blob: Blob, *, sid: int, key: str) -> bool:
    """Whether these bytes are there already, for that record and as that type."""
    size = reader.one(_BOUND, (blob.blob_id, sid, key, blob.mime_type))
    return size is not None and blobs.is_whole(reader, Blob(blob.blob_id, size, blob.mime_type))


def find_blob(reading: Reading, permitted: Permitted[BlobQuery]) -> FoundBlob:
    """The blob as a visible record refers to it, in a field that the scope shows.

    Raises:
        BlobNotFound: no such record, or no such blob: nobody is told which.
        AmbiguousConnection: records of several connections do.
    """
    found: dict[str, tuple[Scope, Origin, FoundBlob]] = {}
    for scope in permitted.scopes:
        for reach in reaches(reading, scope):
            seen = _seen_through(reading, reach, permitted.query.blob_id)
            if seen is not None:
                found.setdefault(reach.origin.connection_id, (scope, reach.origin, seen))
    if not found:
        raise BlobNotFound("No visible record refers to such a blob.", param="blob_id")
    if len(found) > 1:
        raise AmbiguousConnection(
            f"Records of {len(found)} connections refer to the blob.",
            param="connection_id",
            candidates=tuple(
                Candidate(origin.connection_id, origin.connector_key, scope.grant_id, origin.label)
                for scope, origin, _ in found.values()
            ),
        )
    ((_, _, blob),) = found.values()
    return blob


def _seen_through(reading: Reading, reach: Reach, blob_id: str) -> FoundBlob | None:
    fields = orjson.dumps(sorted(reach.scope.fields)).decode()
    values = {**reach.values, "blob_id": blob_id, "sid": reach.place.sid, "fields": fields}
    where = reading.records.narrowing(reach, "blob_refs.rid")
    row = reading.one(_REFERRING.format(where=where), values)
    if row is None:
        return None
    key, field, data, size, delivered_as = row
    record = RecordId(reach.origin.connection_id, reach.scope.stream.name, key)
    mime_type = _told_type(orjson.loads(data).get(field), blob_id) or delivered_as or ANY_BYTES
    return FoundBlob(Blob(blob_id, size, mime_type), record, field)


def _told_type(value: object, blob_id: str) -> str | None:
    """What the reference itself says: the bytes may have been delivered for another record or field that is hidden."""
    told = (reference.mime_type for reference in decode_references(value) if reference.blob_id == blob_id)
    return next(filter(None, told), None)


# For export and doctor ----------------------------------------------------------------------------------------------


def stored_blobs(reading: Session) -> Iterator[Blob]:
    """Every blob there is."""
    after = ""
    while batch := reading.rows(_ALL, (after,)):
        for blob_id, size in batch:
            yield Blob(blob_id, size, ANY_BYTES)
        after = batch[-1][0]


def stored_blob(reading: Session, sha256: str) -> Blob:
    """One that some row refers to."""
    blob_id = ID_PREFIX + sha256
    return Blob(blob_id, reading.one(_SIZE, (blob_id,)), ANY_BYTES)


def stray_blobs(reading: Session, blobs: Blobs) -> list[Path]:
    """Files that no row knows."""
    return blobs.strays({blob.sha256 for blob in stored_blobs(reading)})


def lost_blobs(reading: Session, blobs: Blobs) -> list[Blob]:
    """Blobs whose bytes are not there, or not as many."""
    return [blob for blob in stored_blobs(reading) if not blobs.is_whole(reading, blob)]
