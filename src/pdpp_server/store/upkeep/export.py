"""What an export holds, in an order that depends on nothing but the data."""

from collections.abc import Iterator
from typing import NamedTuple

import orjson

from pdpp_server.model.backup import ExportedBlob
from pdpp_server.model.blobs import ID_PREFIX
from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import ConnectionPlace

_DOCUMENT = "select document from declarations where declaration = ?"
_RECORDS = "select key, data, emitted_at from records where sid = ? and data is not null order by key"
# What was delivered for a record, and what a record refers to though it was delivered for another one.
_BLOBS = """
select blob_id, mime_type, streams.name, key from blob_bindings join streams using(sid) join blobs using(blob_id)
where streams.connection = :connection
union
select blob_id, (select mime_type from blob_bindings b where b.blob_id = refs.blob_id order by sid, key limit 1),
       streams.name, records.key
from blob_refs refs join blobs using(blob_id) join records using(rid) join streams on streams.sid = records.sid
where streams.connection = :connection
and exists(select 1 from blob_bindings b where b.blob_id = refs.blob_id) and not exists(
    select 1 from blob_bindings b where b.blob_id = refs.blob_id and b.sid = records.sid and b.key = records.key)
order by 1, 2, 3, 4
"""


class StoredRecord(NamedTuple):
    key: str
    data: str  # canonical JSON
    emitted_at: str


def declaration_document(reading: Reading, place: ConnectionPlace) -> bytes:
    """As it was published, which is what a snapshot of a consent must be compared with."""
    document: str = reading.one(_DOCUMENT, (place.declaration,))
    return orjson.dumps(orjson.Fragment(document), option=orjson.OPT_APPEND_NEWLINE)


def records_of(reading: Reading, sid: int) -> Iterator[StoredRecord]:
    """The live records of a stream, by key, one at a time."""
    for key, data, emitted_at in reading.each(_RECORDS, (sid,)):
        yield StoredRecord(key, data, emitted_at)


def blobs_of(reading: Reading, place: ConnectionPlace) -> list[ExportedBlob]:
    """The blobs that its records hold."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for blob_id, mime_type, stream, key in reading.rows(_BLOBS, {"connection": place.number}):
        found.setdefault((blob_id, mime_type), []).append((stream, key))
    return [
        ExportedBlob(blob_id.removeprefix(ID_PREFIX), mime_type, tuple(bound))
        for (blob_id, mime_type), bound in found.items()
    ]
