"""A connection to PostgreSQL, by what the rest of the store asks of it: plain SQL with `?` and `:name`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count
from operator import itemgetter
from typing import Any

import psycopg

from pdpp_server.errors import InvalidRequest
from pdpp_server.store.engines.meanings import TableMeanings
from pdpp_server.store.engines.postgres.connection import PostgresConnection, SentQuestion, question, question_of_text
from pdpp_server.store.engines.postgres.index import PostgresIndex
from pdpp_server.store.engines.postgres.listing import ListedInsert, listed
from pdpp_server.store.engines.postgres.tables import NUMBERS, TEXTS
from pdpp_server.store.session import Values

_PLACE = re.compile(r"%|\?|(?<![:\w]):(\w+)|\bon conflict\(|\bcross join\b|\bcollate binary\b")
# Where a list is joined, what the database guesses of it decides whether it reads all rows. An array is looked up.
# Where it guesses that a stream has fewer rows than an array elements, each is looked up by itself: by a `cross join`.
_IN_LIST = re.compile(r"(?<!not )\bin \((select (?:value|cast\(value as bigint\)) from json_each\((?:\?|:\w+)\))\)")
_OF_EACH = re.compile(r"(json_each\([^)]*\) \w+) cross join (\w+) (\w+) on ([^\n]+)")
_PLACEHOLDER = re.compile(r"%%|%s|%\((\w+)\)s")
_COUNTED = "select name, last from counters"
_COUNT_ON = """
insert into counters(name, last) values(:name, :last)
on conflict(name) do update set last = greatest(counters.last, excluded.last)
"""
_CURSORS = count(1)
STREAMED_ROWS = 2000


@lru_cache(maxsize=1000)
def translated(statement: str) -> str:
    """With the placeholders of psycopg, the owner first in every key, lists as arrays, and no order of joins."""

    def place(found: re.Match[str]) -> str:
        match found[0]:
            case "%":
                return "%%"
            case "?":
                return "%s"
            case "on conflict(":
                return "on conflict(owner, "
            case "cross join":
                return "join"
            case "collate binary":
                return 'collate "C"'
            case _:
                return f"%({found[1]})s"

    listed = _IN_LIST.sub(r"= any(array(\1))", statement)
    return _PLACE.sub(place, _OF_EACH.sub(r"\1, lateral (select * from \2 \3 where \4 offset 0) \3", listed))


@lru_cache(maxsize=1000)
def _numbered(statement: str) -> tuple[bytes, Callable[[Any], Sequence[Any]] | None]:
    """The same with placeholders that are numbers, and what takes their values in this order, where they have names."""
    names: list[str] = []
    places = count(1)

    def number(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        name = found[1]
        if name is None:
            return f"${next(places)}"
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    numbered = _PLACEHOLDER.sub(number, translated(statement)).encode()
    if len(names) == 1:  # of one an `itemgetter` gives no tuple
        return numbered, lambda values: (values[names[0]],)
    return numbered, itemgetter(*names) if names else None


def asking(statement: str, values: Values = ()) -> SentQuestion:
    """As it is asked of the database, with what it stands for."""
    numbered, in_order = _numbered(statement)
    said: Any = values
    return question(numbered, in_order(said) if in_order else said)


def _bound(values: Values) -> Any:
    """Truth is a number in our tables."""
    if bool not in map(type, _each(values)):
        return values
    if isinstance(values, Mapping):
        return {name: int(value) if isinstance(value, bool) else value for name, value in values.items()}
    return [int(value) if isinstance(value, bool) else value for value in values]


def is_typed(values: Values) -> bool:
    """What is none has no type, so a statement that asks about it must be said with it."""
    return None not in _each(values)


def holds_nul(values: Values) -> bool:
    """A text with such a character cannot be asked for there, and none can be kept."""
    return any(isinstance(value, str) and "\0" in value for value in _each(values))


def _each(values: Values) -> Iterable[Any]:
    return values.values() if isinstance(values, Mapping) else values


def sole(found: Sequence[Any]) -> Any:
    """The first row, or its only column."""
    if not found:
        return None
    row = found[0]
    return row if len(row) > 1 else row[0]


class PostgresSession:
    def __init__(self, connection: PostgresConnection) -> None:
        self.connection = connection

    def rows(self, statement: str, values: Values = ()) -> list[Any]:
        return [] if holds_nul(values) else self._found(statement, values)

    def one(self, statement: str, values: Values = ()) -> Any:
        return sole(self.rows(statement, values))

    def each(self, statement: str, values: Values = ()) -> Iterator[Any]:
        return iter(self.rows(statement, values))

    def stream(self, statement: str, values: Values = ()) -> Iterator[Any]:
        name, asking = f"streamed_{next(_CURSORS)}", psycopg.ClientCursor(self.connection)
        asking.execute(translated(f"declare {name} no scroll cursor for {statement}").encode(), _bound(values))
        while rows := asking.execute(f"fetch {STREAMED_ROWS} from {name}".encode()).fetchall():
            yield from rows
        asking.execute(f"close {name}".encode())

    def _found(self, statement: str, values: Values) -> list[Any]:
        return self._execute(statement, values).fetchall()

    def _execute(self, statement: str, values: Values) -> psycopg.Cursor[tuple[Any, ...]]:
        query = translated(statement).encode()
        return self.connection.execute(query, _bound(values))


class PostgresWriting(PostgresSession):
    def __init__(self, connection: PostgresConnection) -> None:
        super().__init__(connection)
        self.index = PostgresIndex(self)
        self.meanings = TableMeanings(self, self.numbers("numbers"))

    def texts(self, name: str) -> str:
        return TEXTS.format(name=name)

    def numbers(self, name: str) -> str:
        return NUMBERS.format(name=name)

    def run(self, statement: str, values: Values = ()) -> None:
        if holds_nul(values):
            raise InvalidRequest("A text holds a NUL character, which cannot be kept here.")
        self._execute(statement, values)

    def run_many(self, statement: str, values: Iterable[Values]) -> None:
        """Rows that are added are said as one list; of any other change the database hears one after the other."""
        rows = list(values)
        adding = listed(statement) if len(rows) > 1 else None
        if adding is not None and self._is_added(adding, rows):
            return
        query = translated(statement).encode()
        with psycopg.Cursor(self.connection) as cursor:  # which sends them all before it waits for an answer
            cursor.executemany(query, [_bound(row) for row in rows])

    def _is_added(self, adding: ListedInsert, said: Sequence[Values]) -> bool:
        rows = adding.in_columns(said)
        if not adding.takes(rows):
            return False
        query = translated(adding.statement).encode()
        for parcel in adding.parcels(rows):
            self.connection.tell(question_of_text(query, parcel))
        return True

    def counted(self) -> dict[str, int]:
        return dict(self.rows(_COUNTED))

    def count_on(self, counted: dict[str, int]) -> None:
        self.run_many(_COUNT_ON, [{"name": name, "last": last} for name, last in counted.items()])

    def note_erasure(self) -> None:
        """Vacuum takes what is dead out of the pages."""

    def merge_words(self) -> bool:
        return False
