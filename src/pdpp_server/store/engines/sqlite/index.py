"""What makes records findable by their words and values, kept in the transaction that brings them."""

from collections.abc import Sequence
from functools import lru_cache

import apsw

from pdpp_server.store.layout import StreamPlace
from pdpp_server.store.records.reach import BoundValue
from pdpp_server.store.records.words import WordsOfRecord

_NEW_VALUE = "insert or ignore into field_values(fid, value, rid) values(?, ?, ?)"
_DROP_VALUE = "delete from field_values where fid = ? and value = ? and rid = ?"
_NEW_POSITION = "insert into positions(fid, value, key, rid) values(?, ?, ?, ?)"
_DROP_POSITION = "delete from positions where fid = ? and value = ? and key = ?"
_CLEAR_WORDS = "insert into words(words) values('delete-all')"
_NEW_WORDS = "insert into words(rowid, {columns}) values(?, {marks})"
_DROP_WORDS = "insert into words(words, rowid, {columns}) values('delete', ?, {marks})"


@lru_cache(maxsize=1000)
def _on_words(statement: str, slots: tuple[int, ...]) -> str:
    return statement.format(columns=", ".join(f"s{slot}" for slot in slots), marks=", ".join("?" for _ in slots))


class SqliteIndex:
    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def add_words(self, place: StreamPlace, rows: Sequence[WordsOfRecord]) -> None:
        self._connection.executemany(_on_words(_NEW_WORDS, tuple(place.slots.values())), rows)

    def drop_words(self, place: StreamPlace, rows: Sequence[WordsOfRecord]) -> None:
        """The index keeps no text: what is taken out is shown to it once more."""
        self._connection.executemany(_on_words(_DROP_WORDS, tuple(place.slots.values())), rows)

    def clear_words(self) -> None:
        self._connection.execute(_CLEAR_WORDS)

    def add_values(self, rows: Sequence[tuple[int, BoundValue, int]]) -> None:
        self._connection.executemany(_NEW_VALUE, rows)

    def drop_values(self, rows: Sequence[tuple[int, BoundValue, int]]) -> None:
        self._connection.executemany(_DROP_VALUE, rows)

    def add_positions(self, rows: Sequence[tuple[int, BoundValue, str, int]]) -> None:
        self._connection.executemany(_NEW_POSITION, rows)

    def drop_positions(self, rows: Sequence[tuple[int, BoundValue, str]]) -> None:
        self._connection.executemany(_DROP_POSITION, rows)
