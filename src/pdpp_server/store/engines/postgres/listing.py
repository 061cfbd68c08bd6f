"""Many rows as one statement: an insertion that is said for each row becomes one that reads them from a list."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

import orjson

from pdpp_server.store.engines.postgres.values import bytes_text

PARCEL_BYTES = 8 * 1024 * 1024  # of a list: neither side holds much more than that beside the rows

_ADDING = re.compile(r"\s*insert into (\w+)\(([\w\s,]+)\)\s*values\(((?:\?|:\w+)(?:,\s*(?:\?|:\w+))*)\)(.*)", re.DOTALL)
_REPLACING = re.compile(r"on conflict\(([\w\s,]+)\) do update")
_LISTED = """
insert into {table}({columns}) select {columns} from json_populate_recordset(null::{table}, (:rows)::json) {otherwise}
"""


class ListedInsert(NamedTuple):
    """The types of the columns are those of the table, so nobody has to name them."""

    statement: str
    columns: tuple[str, ...]
    values: tuple[str, ...] | None  # the name of each, where they have names
    unique: tuple[str, ...]  # the columns by which a row replaces what is there

    def takes(self, rows: Sequence[Any]) -> bool:
        """Whether no row replaces another of the list: one statement cannot change a row twice."""
        if not self.unique:
            return True
        key = itemgetter(*[self._taken[self.columns.index(name)] for name in self.unique])
        return len({key(row) for row in rows}) == len(rows)

    def named(self, rows: Iterable[Any]) -> Iterator[dict[str, Any]]:
        """Each row with the names of its columns."""
        for row in rows:
            told = row if self.values is None else [row[name] for name in self.values]
            yield dict(zip(self.columns, told, strict=True))

    @property
    def _taken(self) -> Sequence[Any]:
        """Under what each column finds its value in a row."""
        return range(len(self.columns)) if self.values is None else self.values


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
        _split(replacing[1]) if replacing else (),
    )


def parcels(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The rows as lists of JSON, each of which is not too long."""
    parts: list[bytes] = []
    size = 0
    for row in rows:
        part = orjson.dumps(row, default=_told)
        if parts and size + len(part) > PARCEL_BYTES:
            yield _list(parts)
            parts, size = [], 0
        parts.append(part)
        size += len(part)
    yield _list(parts)


def _list(parts: Sequence[bytes]) -> str:
    return "[" + b",".join(parts).decode() + "]"


def _told(value: object) -> str:
    assert isinstance(value, bytes)
    return bytes_text(value)


def _split(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(","))
