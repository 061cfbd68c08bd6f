"""Whether the indexes find every record and nothing else."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import SID_BITS, first_rid
from pdpp_server.store.records.ingest import Desk, Findable, desks
from pdpp_server.store.records.words import spaced

SAMPLE = 50
BATCH_RECORDS = 2_000
PHRASE_CHARS = 200

_RECORDS = """
select rid, key, data from records where rid >= ? and rid < ? and data is not null order by rid limit ?
"""
_LIVE = "select coalesce(sum(live), 0) from streams"
_INDEXED_WORDS = "select id from words_docsize where id >= ? and id < ?"
_LOST_WORDS = """
select count(*) from words_docsize
where id >> :bits not in (select value from json_each(:declared))
and not exists(select 1 from records where rid = id and data is not null)
"""
_MATCHES = "select 1 from words where words match ? and rowid = ?"
_HAS_VALUE = "select 1 from field_values where fid = ? and value = ? and rid = ?"
_VALUES = "select count(*) from field_values where fid = ?"
_LOST_VALUES = "select count(*) from field_values where fid not in (select fid from fields where indexed = 1)"
_HAS_POSITION = "select 1 from positions where fid = ? and value = ? and key = ? and rid = ?"
_POSITIONS = "select count(*) from positions where fid = ?"
_LOST_POSITIONS = "select count(*) from positions where fid not in (select fid from fields where indexed = 2)"
_HAS_BLOB_REF = "select 1 from blob_refs where blob_id = ? and sid = ? and field = ? and rid = ?"
_BLOB_REFS = "select count(*) from blob_refs where sid = ?"


class IndexFaults(NamedTuple):
    """How many entries are missing, how many belong to nothing, and how many of a sample are found by other words."""

    missing: int = 0
    surplus: int = 0
    differing: int = 0


def index_faults(reading: Reading) -> IndexFaults:
    """Every record of a declared stream against the rows that make it findable, and every row against its record."""
    check = _IndexCheck(reading)
    for desk in _desks(reading):
        check.look_at(desk)
    check.look_elsewhere()
    return IndexFaults(check.missing, check.surplus, check.differing)


def _desks(reading: Reading) -> Iterator[Desk]:
    for connection in reading.layout.connections.values():
        declaration = reading.layouts.declaration(reading, connection.declaration)
        yield from desks(declaration, connection).values()


class _IndexCheck:
    def __init__(self, reading: Reading) -> None:
        self._connection = reading
        self._tokenizer = reading.tokenizer
        self._step = max(1, reading.one(_LIVE) // SAMPLE)
        self._seen = 0
        self._declared: list[int] = []
        self.missing = self.surplus = self.differing = 0

    def look_at(self, desk: Desk) -> None:
        sid = desk.place.sid
        self._declared.append(sid)
        expected: Counter[int] = Counter()  # entries that must be and are, by field; those of blobs by -1
        start, end = first_rid(sid), first_rid(sid + 1)
        while batch := self._connection.rows(_RECORDS, (start, end, BATCH_RECORDS)):
            last = batch[-1][0] + 1 if len(batch) == BATCH_RECORDS else end
            found = [(rid, key, orjson.loads(data)) for rid, key, data in batch]
            self._compare_words({rid for rid, *_ in desk.words(found)}, start, last)
            self._look_at_batch(desk, found, expected)
            start = last
        if start < end:
            self._compare_words(set(), start, end)
        self._count_surplus(desk, expected)

    def look_elsewhere(self) -> None:
        declared = orjson.dumps(self._declared).decode()
        self.surplus += self._connection.one(_LOST_WORDS, {"bits": SID_BITS, "declared": declared})
        self.surplus += self._connection.one(_LOST_VALUES) + self._connection.one(_LOST_POSITIONS)

    def _look_at_batch(self, desk: Desk, batch: Sequence[Findable], expected: Counter[int]) -> None:
        for rid, key, data in batch:
            for row in desk.values([(rid, key, data)]):
                expected[row[0]] += self._has(_HAS_VALUE, row)
            for position in desk.positions([(rid, key, data)]):
                expected[position[0]] += self._has(_HAS_POSITION, position)
            for name, blob_id in dict.fromkeys(desk.blob_refs(data)):
                expected[-1] += self._has(_HAS_BLOB_REF, (blob_id, desk.place.sid, name, rid))
            self._seen += 1
            if self._seen % self._step == 0:
                self.differing += not self._is_found(desk, rid, data)

    def _compare_words(self, expected: set[int], start: int, end: int) -> None:
        found = {rid for (rid,) in self._connection.each(_INDEXED_WORDS, (start, end))}
        self.missing += len(expected - found)
        self.surplus += len(found - expected)

    def _has(self, statement: str, row: tuple[Any, ...]) -> bool:
        found = self._connection.one(statement, row) is not None
        self.missing += not found
        return found

    def _is_found(self, desk: Desk, rid: int, data: Mapping[str, Any]) -> bool:
        """Whether the index finds the record by the words with which each of its fields begins."""
        for name, slot in desk.place.slots.items():
            phrase = _beginning(data.get(name))
            if phrase and self._tokenizer.tokens(phrase):
                match = f's{slot} : "{phrase.replace(chr(34), chr(34) * 2)}"'
                if self._connection.one(_MATCHES, (match, rid)) is None:
                    return False
        return True

    def _count_surplus(self, desk: Desk, expected: Counter[int]) -> None:
        place = desk.place
        for name, fid in place.fids.items():
            found = self._connection.one(_POSITIONS if name == place.position else _VALUES, (fid,))
            self.surplus += found - expected[fid]
        self.surplus += self._connection.one(_BLOB_REFS, (place.sid,)) - expected[-1]


def _beginning(value: object) -> str:
    """Whole words from the start of a text, as the index was fed with them."""
    if not isinstance(value, str):
        return ""
    text = spaced(value)
    return text if len(text) <= PHRASE_CHARS else text[:PHRASE_CHARS].rpartition(" ")[0]
