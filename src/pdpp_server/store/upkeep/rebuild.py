"""Rebuild the indexes from the records, when a declaration changed what is to be found."""

import orjson

from pdpp_server.store.engine import Writing
from pdpp_server.store.layout import NEW_GENERATION, LayoutCache, first_rid
from pdpp_server.store.records.ingest import desks, index_records

_CLEAR_VALUES = "delete from field_values; delete from positions; delete from blob_refs"
_RECORDS = "select rid, key, data from records where rid >= ? and rid < ? and data is not null order by rid limit 2000"


def rebuild_words(writer: Writing) -> None:
    """Everything anew, in the caller's transaction: nobody sees a half-built index."""
    writer.index.clear_words()
    writer.run(_CLEAR_VALUES)
    uncommitted = LayoutCache()  # what a rollback would undo must not be remembered by the readers
    for connection in uncommitted.of(writer).connections.values():
        for desk in desks(uncommitted.declaration(writer, connection.declaration), connection).values():
            start, end = first_rid(desk.place.sid), first_rid(desk.place.sid + 1)
            while batch := writer.rows(_RECORDS, (start, end)):
                index_records(writer, desk, [(rid, key, orjson.loads(data)) for rid, key, data in batch])
                start = batch[-1][0] + 1
    while writer.merge_words():
        pass
    writer.run(NEW_GENERATION)
