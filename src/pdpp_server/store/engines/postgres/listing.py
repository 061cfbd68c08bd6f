"""Many rows as one statement: an insertion that is said for each row becomes one that reads them from a list."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import orjson

from pdpp_server.store.engines.postgres.values import bytes_text

PARCEL_BYTES = 8 * 1024 * 1024  # of a list: neither side holds much more than that beside the rows
ROWS_AT_ONCE = 16  # are written; a record has a megabyte at most

_ADDING = re.compile(r"\s*insert into (\w+)\(([\w\s,]+)\)\s*values\(((?:\?|:\w+)(?:,\s*(?:\?|:\w+))*)\)(.*)", re.DOTALL)
_REPLACING = re.compile(r"on conflict\(([\w\s,]+)\) do update")
_LISTED = """
insert into {table}({columns}) select {columns} from json_populate_recordset(null::{table}, $1::json) {otherwise}
"""


class ListedInsert(NamedTuple):
    """The types of the columns are those of the table, so nobody has to name them. There are thousands of rows in a
    batch, so what is done for each is done by loops in C."""

    statement: str
    columns: tuple[str, ...]
    values: tuple[str, ...] | None  # the name of each, where they have names
    unique: tuple[int, ...]  # the places of the columns by which a row replaces what is there

    def in_columns(self, said: Sequence[Any]) -> Sequence[Sequence[Any]]:
        """Of each row the values of its columns; whether something is true is a number in our tables."""
        rows: Sequence[Sequence[Any]] = said if self.values is None else [*map(_taking(self.values), said)]
        if bool in {*map(type, chain.from_iterable(rows))}:
            return [[int(value) if isinstance(value, bool) else value for value in row] for row in rows]
        return rows

    def takes(self, rows: Sequence[Sequence[Any]]) -> bool:
        """Whether no row replaces another of the list: one statement cannot change a row twice."""
        return not self.unique or len({*map(_taking(self.unique), rows)}) == len(rows)

    def parcels(self, rows: Sequence[Sequence[Any]]) -> Iterator[bytes]:
        """Them as lists of JSON, each of which is not too long."""
        parts: list[bytes] = []
        size = 0
        for start in range(0, len(rows), ROWS_AT_ONCE):
            named = [dict(zip(self.columns, row, strict=True)) for row in rows[start : start + ROWS_AT_ONCE]]
            part = orjson.dumps(named, default=_told)[1:-1]
            if parts and size + len(part) > PARCEL_BYTES:
                yield _list(parts)
                parts, size = [], 0
            parts.append(part)
            size += len(part)
        yield _list(parts)


@lru_cache(maxsize=1000)
def listed(statement: str) -> ListedInsert | None:
    """None where it is no mere insertion of what is given."""
    found = _ADDING.fullmatch(statement)
    if found is None:
        return None
    table, columns, marks, otherwise = found.groups()
    names = [mark.strip().removeprefix(":") for mark in marks.split(",")]
    replacing = _REPLACING.search(otherwise)
    return ListedInsert(
        _LISTED.format(table=table, columns=columns, otherwise=otherwise),
        _split(columns),
        None if "?" in names else tuple(names),
        tuple(_split(columns).index(name) for name in _split(replacing[1])) if replacing else (),
    )


def _taking(keys: Sequence[Any]) -> Callable[[Any], Sequence[Any]]:
    """Of one alone an `itemgetter` would make no tuple."""
    return itemgetter(*keys) if len(keys) > 1 else lambda row: (row[keys[0]],)


def _list(parts: Sequence[bytes]) -> bytes:
    return b"[%b]" % b",".join(parts)


def _told(value: object) -> str:
    assert isinstance(value, bytes)
    return bytes_text(value)


def _split(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(","))
