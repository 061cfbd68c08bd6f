"""A connection, by what the rest of the store asks of it."""

from collections.abc import Iterable, Iterator
from typing import Any

import apsw

from pdpp_server.store.engines.meanings import TableMeanings
from pdpp_server.store.engines.sqlite.index import SqliteIndex
from pdpp_server.store.engines.sqlite.merging import merge_some
from pdpp_server.store.engines.sqlite.scrub import note_erasure
from pdpp_server.store.engines.sqlite.tables import LIST
from pdpp_server.store.session import Values


class SqliteSession:
    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._execute = connection.execute

    def rows(self, statement: str, values: Values = ()) -> list[Any]:
        return self._execute(statement, values).fetchall()

    def one(self, statement: str, values: Values = ()) -> Any:
        return self._execute(statement, values).get

    def each(self, statement: str, values: Values = ()) -> Iterator[Any]:
        return self._execute(statement, values)


class SqliteWriting(SqliteSession):
    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self.index = SqliteIndex(connection)
        self.meanings = TableMeanings(self, self.numbers("numbers"))

    def run(self, statement: str, values: Values = ()) -> None:
        self._execute(statement, values)

    def run_many(self, statement: str, values: Iterable[Values]) -> None:
        self.connection.executemany(statement, values)

    def texts(self, name: str) -> str:
        return LIST.format(name=name)

    numbers = texts

    def note_erasure(self) -> None:
        note_erasure(self.connection)

    def merge_words(self) -> bool:
        return merge_some(self.connection)
