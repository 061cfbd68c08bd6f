"""What makes records findable by their words and values, kept in the transaction that brings them."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Protocol

from pdpp_server.store.engines.postgres.values import kept
from pdpp_server.store.engines.postgres.words import LENGTHS, PostingEntry, read, written
from pdpp_server.store.engines.sqlite.cutting import Fts5Cutter, cutter_in_memory
from pdpp_server.store.layout import DAY_BITS, StreamPlace, day_in
from pdpp_server.store.records.reach import BoundValue
from pdpp_server.store.session import Values

_BLOCK = "select places from words where sid = ? and term = ? and day = ?"
_ADD_TO_BLOCK = """
insert into words(sid, term, day, places) values(?, ?, ?, ?)
on conflict(sid, term, day) do update set places = words.places || excluded.places
"""
_KEEP_BLOCK = "update words set places = ? where sid = ? and term = ? and day = ?"
_DROP_BLOCK = "delete from words where sid = ? and term = ? and day = ?"
_CLEAR_WORDS = "delete from words"
_NEW_VALUE = "insert into field_values(fid, value, rid) values(?, ?, ?) on conflict do nothing"
_DROP_VALUE = "delete from field_values where fid = ? and value = ? and rid = ?"
_NEW_POSITION = "insert into positions(fid, value, key, rid) values(?, ?, ?, ?)"
_DROP_POSITION = "delete from positions where fid = ? and value = ? and key = ?"


class IndexWriting(Protocol):
    """As much of a writing as an index needs."""

    def one(self, statement: str, values: Values = ()) -> Any: ...

    def run(self, statement: str, values: Values = ()) -> None: ...

    def run_many(self, statement: str, values: Iterable[Values]) -> None: ...


def _sequence_in(rid: int) -> int:
    return rid & ((1 << DAY_BITS) - 1)


class PostgresIndex:
    def __init__(self, writing: IndexWriting) -> None:
        self._writing = writing

    @cached_property
    def _cutter(self) -> Fts5Cutter:
        """Dear to make, and most transactions bring no words."""
        return cutter_in_memory()

    def add_words(self, place: StreamPlace, rows: Iterable[tuple[int, Sequence[str]]]) -> None:
        fresh: dict[tuple[str, int], list[PostingEntry]] = {}
        for rid, words in rows:
            for term, entries in self._entries(place, rid, words).items():
                fresh.setdefault((term, day_in(rid)), []).extend(entries)
        added = [(place.sid, term, day, written(entries)) for (term, day), entries in sorted(fresh.items())]
        self._writing.run_many(_ADD_TO_BLOCK, added)

    def drop_words(self, place: StreamPlace, rid: int, words: Sequence[str]) -> None:
        day, sequence = day_in(rid), _sequence_in(rid)
        for term in self._entries(place, rid, words):
            block = (place.sid, term, day)
            raw = self._writing.one(_BLOCK, block)
            left = [entry for entry in read(raw or b"") if entry[0] != sequence]
            if left:
                self._writing.run(_KEEP_BLOCK, (written(left), *block))
            else:
                self._writing.run(_DROP_BLOCK, block)

    def _entries(self, place: StreamPlace, rid: int, words: Sequence[str]) -> dict[str, list[PostingEntry]]:
        """Of each term, for each column: the number of the record in its day, the column, the positions."""
        entries: dict[str, list[PostingEntry]] = {}
        for slot, fed in zip(place.slots.values(), words, strict=True):
            terms = self._cutter.terms(fed.encode())
            positions: dict[str, list[int]] = {LENGTHS: [len(terms)]} if terms else {}
            for position, term in enumerate(terms):
                positions.setdefault(term, []).append(position)
            for term, places in positions.items():
                entries.setdefault(term, []).append([_sequence_in(rid), slot, *places])
        return entries

    def clear_words(self) -> None:
        self._writing.run(_CLEAR_WORDS)

    def add_values(self, rows: Sequence[tuple[int, BoundValue, int]]) -> None:
        self._writing.run_many(_NEW_VALUE, [(fid, kept(value), rid) for fid, value, rid in rows])

    def drop_values(self, rows: Sequence[tuple[int, BoundValue, int]]) -> None:
        self._writing.run_many(_DROP_VALUE, [(fid, kept(value), rid) for fid, value, rid in rows])

    def add_positions(self, rows: Sequence[tuple[int, BoundValue, str, int]]) -> None:
        self._writing.run_many(_NEW_POSITION, [(fid, kept(value), key, rid) for fid, value, key, rid in rows])

    def drop_position(self, fid: int, value: BoundValue, key: str) -> None:
        self._writing.run(_DROP_POSITION, (fid, kept(value), key))
