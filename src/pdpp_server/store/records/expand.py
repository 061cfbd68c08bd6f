"""Related records: of the same connection, under the limits of their own stream."""

from collections.abc import Sequence

import orjson

from pdpp_server.grants.permitted import Related, Scope
from pdpp_server.model.records import Expanded, Record
from pdpp_server.store.engine import Reading
from pdpp_server.store.records.conditions import index_of
from pdpp_server.store.records.ingest import INDEXED_CHARS
from pdpp_server.store.records.reach import IndexedRange, Reach
from pdpp_server.store.records.scope import reaches, shows
from pdpp_server.store.records.showing import Showing, StoredRow


def expanded(
    reading: Reading, related: Sequence[Related], records: Sequence[Record], found: Sequence[StoredRow]
) -> list[Record]:
    """The same records with what they are related to; `found` is what they were made from."""
    reached = {
        (each.relationship.name, reach.origin.connection_id): reach
        for each in related
        for reach in reaches(reading, each.scope)
    }
    return [
        record._replace(
            expanded={
                each.relationship.name: _expanded(
                    reading, each, reached.get((each.relationship.name, record.id.connection_id)), row
                )
                for each in related
            },
        )
        for record, row in zip(records, found, strict=True)
    ]


def _expanded(reading: Reading, related: Related, there: Reach | None, row: StoredRow) -> Expanded:
    is_list = related.relationship.cardinality == "has_many"
    if there is None:  # the related stream is not in this connection, or not granted of it
        return Expanded((), is_list)
    if related.relationship.joins_there(there.scope.stream):
        found = _referring(reading, related, there, row.key)
    else:
        found = _named(reading, there, _key_in(row, related.relationship.foreign_key))
    most = related.limit if is_list else 1
    showing = Showing(reading, there.scope, there.origin, there.place.sid)
    shown = tuple(showing.record(each) for each in found[:most])
    return Expanded(shown, is_list, has_more=is_list and len(found) > most)


def _referring(reading: Reading, related: Related, there: Reach, key: str) -> list[StoredRow]:
    """Newest first; the index holds the beginning of a long key, so each record is asked for the whole of it."""
    name = related.relationship.foreign_key
    field = there.scope.stream.fields[name]
    index = index_of(there.place, field)
    value = field.literal(key)
    if index is None or value is None:
        return []
    cut = value[:INDEXED_CHARS] if isinstance(value, str) else value
    bounds = IndexedRange(index, there.place.fids[name], cut, cut)
    same: list[StoredRow] = []
    for *stored, text in reading.records.holding(there, bounds):
        row = StoredRow._make((*stored, orjson.loads(text)))
        if field.comparable(row.data.get(name)) == value:
            same.append(row)
    return sorted(same, key=lambda row: (_time(there.scope, row), row.key), reverse=True)


def _time(scope: Scope, row: StoredRow) -> int:
    """By the time that the grant shows; 0 where it shows none."""
    name = next((name for name in scope.stream.time_fields if name in scope.granted), None)
    at = scope.stream.fields[name].comparable(row.data.get(name)) if name else None
    return at if isinstance(at, int) else 0


def _key_in(row: StoredRow, field: str) -> str | None:
    value = row.data.get(field)
    return None if value is None or isinstance(value, dict | list) else str(value)


def _named(reading: Reading, there: Reach, key: str | None) -> list[StoredRow]:
    if key is None:
        return []
    found = reading.records.get(there.place.sid, key)
    if found is None or not shows(there.scope, key, found[5]):
        return []
    rid, version, revised, emitted_at, text, _ = found
    return [StoredRow(rid, key, version, revised, emitted_at, orjson.loads(text))]
