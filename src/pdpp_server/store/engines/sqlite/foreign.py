"""Tables of a SQLite file that is not ours: read only, bounded, and nothing in it is run."""

import math
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import apsw

from pdpp_server.errors import InvalidRequest
from pdpp_server.store.engines.sqlite.rows import one, rows

VALUE_BYTES_MAX = 16 * 1024 * 1024
COLUMNS_MAX = 200

ForeignValue = str | int | float | bytes | None

_SWITCHES = {
    apsw.SQLITE_DBCONFIG_DEFENSIVE: 1,
    apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_VIEW: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION: 0,
}
_READ_ONLY = "pragma query_only = on; pragma cell_size_check = on; pragma mmap_size = 0; pragma temp_store = memory"
_CHECK = "pragma quick_check(1)"
_ENCODING = "pragma encoding"
_TABLES = """
select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite@_%' escape '@'
order by name
"""
_COLUMNS = "select name, pk from pragma_table_xinfo(?1) where hidden = 0"  # the others are reckoned from these


_VALUE = "case typeof({0}) when 'text' then cast({0} as blob) else {0} end, typeof({0}) = 'text'"
_CODECS = {"UTF-8": "utf-8", "UTF-16le": "utf-16-le", "UTF-16be": "utf-16-be"}


class ForeignTable(NamedTuple):
    name: str
    columns: tuple[str, ...]
    key: str | None  # the one column that it says is its key


class ForeignFile:
    def __init__(self, connection: apsw.Connection, name: str) -> None:
        self._connection, self._name = connection, name
        self._encoding = _CODECS[one(connection, _ENCODING)]

    def tables(self) -> list[ForeignTable]:
        """Those that hold rows of their own: no views, no tables that a program would have to reckon."""
        with _troubles(self._name):
            return [self._table(str(name)) for (name,) in rows(self._connection, _TABLES)]

    def _table(self, name: str) -> ForeignTable:
        told = [(str(column), int(place)) for column, place in rows(self._connection, _COLUMNS, (name,))]
        keys = [column for column, place in told if place]
        columns = tuple(column for column, _ in told[:COLUMNS_MAX])
        return ForeignTable(name, columns, keys[0] if len(keys) == 1 else None)

    def rows_of(self, table: ForeignTable) -> Iterator[dict[str, ForeignValue]]:
        """By column; what is empty is left out. Text that is broken costs the characters that are."""
        chosen = ", ".join(_VALUE.replace("{0}", _quoted(column)) for column in table.columns)
        statement = f"select {chosen} from {_quoted(table.name)}"  # noqa: S608 - names, quoted
        with _troubles(self._name):
            for row in self._connection.execute(statement):
                told: dict[str, ForeignValue] = {}
                for column, stored, is_text in zip(table.columns, row[::2], row[1::2], strict=True):
                    value = self._text(stored) if is_text else stored
                    if not _is_nothing(value):
                        told[column] = value
                yield told

    def _text(self, value: object) -> str:
        return value.decode(self._encoding, "replace") if isinstance(value, bytes) else ""


@contextmanager
def opened(path: Path, *, is_own_copy: bool) -> Generator[ForeignFile, None, None]:
    """A copy of ours may be mended from its log; the owner's own file is never written to, nor anything beside it.

    Raises: InvalidRequest where it is no database, or a damaged one.
    """
    how = "mode=rw" if is_own_copy else "mode=ro&immutable=1"
    with _troubles(path.name):
        flags = apsw.SQLITE_OPEN_URI | (apsw.SQLITE_OPEN_READWRITE if is_own_copy else apsw.SQLITE_OPEN_READONLY)
        connection = apsw.Connection(f"file:{quote(str(path.resolve()))}?{how}", flags=flags)
        try:
            for switch, value in _SWITCHES.items():
                connection.config(switch, value)
            connection.limit(apsw.SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)
            connection.limit(apsw.SQLITE_LIMIT_ATTACHED, 0)
            connection.execute(_READ_ONLY).fetchall()
            told = one(connection, _CHECK)  # a tree that leads back into itself would never end
            if told != "ok":
                raise _damaged(path.name, str(told))
            yield ForeignFile(connection, path.name)
        finally:
            connection.close()


@contextmanager
def _troubles(name: str) -> Generator[None, None, None]:
    try:
        yield
    except apsw.Error as error:
        raise _damaged(name, str(error)) from error


def _damaged(name: str, why: str) -> InvalidRequest:
    return InvalidRequest(
        f"{name} cannot be read as a SQLite database ({why}).",
        remedy="If it is one, close the program that it belongs to and try again, or mend a copy of it with "
        "`sqlite3 FILE .recover`.",
    )


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
