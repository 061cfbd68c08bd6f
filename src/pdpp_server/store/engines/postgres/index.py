"""What makes records findable by their words and values, kept in the transaction that brings them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Protocol

import orjson

from pdpp_server.store.engines.postgres.postings import PostingRun, kept_run, kept_terms, runs
from pdpp_server.store.engines.postgres.values import kept
from pdpp_server.store.engines.postgres.words import LENGTHS, length_block
from pdpp_server.store.engines.sqlite.cutting import Fts5Cutter, cutter_in_memory
from pdpp_server.store.layout import StreamPlace
from pdpp_server.store.records.reach import BoundValue
from pdpp_server.store.records.words import WordsOfRecord
from pdpp_server.store.session import Values

# What a batch is given later joins its run, so that however often that was, one is read; lengths of several batches
# stand in one block, as a run for each.
_ADD = """
insert into words(sid, term, batch, first, last, places) values(?, ?, ?, ?, ?, ?)
on conflict(sid, term, batch) do update set first = least(words.first, excluded.first),
    last = greatest(words.last, excluded.last),
    places = case when words.term = '' then words.places || ',' || excluded.places
        else left(words.places, -2) || ',' || substr(excluded.places, strpos(excluded.places, ',') + 2) end
"""
# Beside the lengths: the batch that few records at a time still join, as `first`, and how many have, as `last`.
_JOIN = """
insert into words(sid, term, batch, first, last, places) values(:sid, '', -1, :batch, :records, '')
on conflict(sid, term, batch) do update set
    first = case when words.last + excluded.last > :most then excluded.first else words.first end,
    last = case when words.last + excluded.last > :most then excluded.last else words.last + excluded.last end
returning words.first
"""
_TAKE = """
delete from words using json_to_recordset((:blocks)::json) asked(term text, batch bigint)
where words.sid = :sid and words.term = asked.term and words.batch = asked.batch
returning words.term, words.batch, words.places
"""
_CLEAR_WORDS = "delete from words"
_NEW_VALUE = "insert into field_values(fid, value, rid) values(?, ?, ?) on conflict do nothing"
_DROP_VALUE = "delete from field_values where fid = ? and value = ? and rid = ?"
_NEW_POSITION = "insert into positions(fid, value, key, rid) values(?, ?, ?, ?)"
_DROP_POSITION = "delete from positions where fid = ? and value = ? and key = ?"

_Block = tuple[str, int]  # term and batch; of lengths, the first of the rids for which it has room
FEW_RECORDS = 32  # that are delivered together, or fewer, share their blocks with others
SHARED_RECORDS = 256  # have a batch in common; a block is written anew for each few of them


class IndexWriting(Protocol):
    """As much of a writing as an index needs."""

    def rows(self, statement: str, values: Values = ()) -> list[Any]: ...

    def run(self, statement: str, values: Values = ()) -> None: ...

    def run_many(self, statement: str, values: Iterable[Values]) -> None: ...


class PostgresIndex:
    def __init__(self, writing: IndexWriting) -> None:
        self._writing = writing

    @cached_property
    def _cutter(self) -> Fts5Cutter:
        """Dear to make, and most transactions bring no words."""
        return cutter_in_memory()

    def add_words(self, place: StreamPlace, rows: Sequence[WordsOfRecord]) -> None:
        """Of each term one block, however many records the batch has."""
        brought = sorted(rows)
        if not brought:
            return
        batch = self._batch(place.sid, brought[0][0], len(brought))
        terms: defaultdict[str, list[int]] = defaultdict(list)
        lengths: defaultdict[int, list[int]] = defaultdict(list)
        for rid, *texts in brought:
            offset = rid - batch
            for slot, cut in self._cut(place, texts):
                lengths[length_block(rid)].extend((offset, slot, len(cut)))
                for position, term in enumerate(cut):
                    terms[term].extend((offset, slot, position))
        added = [_row(place.sid, LENGTHS, block, batch, lengths[block]) for block in sorted(lengths)]
        added += [_row(place.sid, term, batch, batch, places) for term, places in sorted(terms.items())]
        self._writing.run_many(_ADD, added)

    def _batch(self, sid: int, first: int, records: int) -> int:
        """Named by the first of its records. What comes one by one shares one: a search would read a block of each."""
        if records > FEW_RECORDS:
            return first
        joining = {"sid": sid, "batch": first, "records": records, "most": SHARED_RECORDS}
        ((joined,),) = self._writing.rows(_JOIN, joining)
        return joined

    def drop_words(self, place: StreamPlace, rows: Sequence[WordsOfRecord]) -> None:
        """The blocks in which they stand are taken out, and what is left of them is put back."""
        gone: dict[int, set[str]] = {}
        for rid, *texts in rows:
            gone[rid] = set[str]().union(*[cut for _, cut in self._cut(place, texts)])
        if not gone:
            return
        lengths = self._taken(place.sid, {(LENGTHS, length_block(rid)) for rid in gone})
        blocks: set[_Block] = set()
        for _, run in lengths:
            for rid in gone.keys() & run.rids:
                blocks.update((term, run.batch) for term in gone[rid])
        words = self._taken(place.sid, blocks)
        left = [(block, run.without(gone)) for block, run in lengths + words]
        self._writing.run_many(_ADD, [_row(place.sid, *block, *run) for block, run in left if run.places])

    def _taken(self, sid: int, blocks: Iterable[_Block]) -> list[tuple[_Block, PostingRun]]:
        asked = orjson.dumps([{"term": term, "batch": batch} for term, batch in sorted(blocks)]).decode()
        found = self._writing.rows(_TAKE, {"sid": sid, "blocks": asked})
        return [((term, batch), run) for term, batch, old in found for run in runs([old])]

    def _cut(self, place: StreamPlace, texts: Sequence[str]) -> Iterable[tuple[int, Sequence[str]]]:
        """The terms of each column that has any."""
        for slot, fed in zip(place.slots.values(), texts, strict=True):
            if fed and (cut := self._cutter.terms(fed.encode())):
                yield slot, kept_terms(cut)

    def clear_words(self) -> None:
        self._writing.run(_CLEAR_WORDS)

    def add_values(self, rows: Sequence[tuple[int, BoundValue, int]]) -> None:
        self._writing.run_many(_NEW_VALUE, [(fid, kept(value), rid) for fid, value, rid in rows])

    def drop_values(self, rows: Sequence[tuple[int, BoundValue, int]]) -> None:
        self._writing.run_many(_DROP_VALUE, [(fid, kept(value), rid) for fid, value, rid in rows])

    def add_positions(self, rows: Sequence[tuple[int, BoundValue, str, int]]) -> None:
        self._writing.run_many(_NEW_POSITION, [(fid, kept(value), key, rid) for fid, value, key, rid in rows])

    def drop_positions(self, rows: Sequence[tuple[int, BoundValue, str]]) -> None:
        self._writing.run_many(_DROP_POSITION, [(fid, kept(value), key) for fid, value, key in rows])


def _row(sid: int, term: str, block: int, batch: int, places: list[int]) -> Values:
    return sid, term, block, batch + places[0], batch + places[-3], kept_run(batch, places)
