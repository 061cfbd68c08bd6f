"""Blobs that nothing holds any longer, erased: first the row, then the file."""

import apsw

from pdpp_server.model.blobs import ID_PREFIX
from pdpp_server.store.blob_files import BlobFiles
from pdpp_server.store.engines.sqlite.rows import one, rows

_ANY_RELEASED = "select 1 from released_blobs limit 1"
_UNHELD = """
select blob_id from released_blobs
where not exists(select 1 from blob_refs where blob_refs.blob_id = released_blobs.blob_id)
and not exists(select 1 from blob_bindings where blob_bindings.blob_id = released_blobs.blob_id)
and not exists(select 1 from removed_blobs where removed_blobs.blob_id = released_blobs.blob_id)
"""
_ERASE = "delete from blobs where blob_id = ? returning blob_id"
_SETTLED = "delete from released_blobs"


def erase_released(writer: apsw.Connection, files: BlobFiles) -> None:
    """In a transaction of its own, once the one that released them is kept; after a crash the next writer does it.

    A file is removed while nobody else can write, so that the same bytes delivered again meet it whole or not at all.
    """
    if one(writer, _ANY_RELEASED) is None:
        return
    writer.execute("begin immediate")
    try:
        for (blob_id,) in rows(writer, _UNHELD):
            if one(writer, _ERASE, (blob_id,)) is not None:  # ours: what a record named may be no blob of this server
                files.remove(blob_id.removeprefix(ID_PREFIX))
        writer.execute(_SETTLED)
        writer.execute("commit")
    finally:
        if writer.in_transaction:
            writer.execute("rollback")
