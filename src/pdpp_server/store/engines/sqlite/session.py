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

_COUNTED = "select name, seq from sqlite_sequence union all select 'fields', coalesce(max(fid), 0) from fields"
_COUNT_ON = """
update sqlite_sequence set seq = max(seq, :last) where name = :name;
insert into sqlite_sequence(name, seq) select name, :last from sqlite_schema
where name = :name and sql like '%autoincrement%' and not exists(select 1 from sqlite_sequence where name = :name)
"""


class SqliteSession:
    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._execute = connection.execute
        self._at_once = connection.cursor().execute  # for what is over when it returns: a cursor is dear to make

    def rows(self, statement: str, values: Values = ()) -> list[Any]:
        return self._execute(statement, values).fetchall()

    def one(self, statement: str, values: Values = ()) -> Any:
        return self._at_once(statement, values).get

    def each(self, statement: str, values: Values = ()) -> Iterator[Any]:
        return self._execute(statement, values)

    stream = each


class SqliteChanging(SqliteSession):
    def run(self, statement: str, values: Values = ()) -> None:
        self._execute(statement, values)

    def run_many(self, statement: str, values: Iterable[Values]) -> None:
        self.connection.executemany(statement, values)


class SqliteWriting(SqliteChanging):
    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self.index = SqliteIndex(connection)
        self.meanings = TableMeanings(self, self.numbers("numbers"))

    def texts(self, name: str) -> str:
        return LIST.format(name=name)

    numbers = texts

    def counted(self) -> dict[str, int]:
        return dict(self.rows(_COUNTED))

    def count_on(self, counted: dict[str, int]) -> None:
        self.run_many(_COUNT_ON, [{"name": name, "last": last} for name, last in counted.items()])

    def note_erasure(self) -> None:
        note_erasure(self.connection)

    def merge_words(self) -> bool:
        return merge_some(self.connection)
