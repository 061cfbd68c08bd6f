"""What records mean, in tables that every engine here has."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Protocol

import orjson

from pdpp_server.meaning.blocks import block_of, new_block, without
from pdpp_server.store.records.reach import Reach
from pdpp_server.store.session import Session, Values

_MODEL = "select identity from meaning_model"
_BLOCKS = "select block, lines from meaning_blocks where block >= ? and block < ? order by block"
_OF = "select rid, passages from meanings where rid in {rids}"
_AT_EDGES = """
select r.rid from records r where {where} and r.data is not null and (r.rid < :inner_low or r.rid >= :inner_high)
"""
_SOME_BLOCKS = "select block, lines from meaning_blocks where block in {blocks}"
_KEEP_BLOCK = """
insert into meaning_blocks(block, lines) values(?, ?) on conflict(block) do update set lines = excluded.lines
"""
_DROP_BLOCK = "delete from meaning_blocks where block = ?"
_DROP_BLOCKS = "delete from meaning_blocks where block >= ? and block < ?"
_KEEP = "insert into meanings(rid, passages) values(?, ?)"
_DROP = "delete from meanings where rid = ?"
_DROP_BETWEEN = "delete from meanings where rid >= ? and rid < ?"
_FORGET_MODEL = "delete from meaning_model"
_NEW_MODEL = "insert into meaning_model(identity) values(?)"
_ALL = (0, (1 << 63) - 1)
SEEN_BYTES = 32_000_000  # that a connection keeps, about half a million passages; as much as it keeps of its pages


class Narrowing(Protocol):
    """As much of the tables of records as is needed here."""

    def narrowing(self, reach: Reach, rid: str) -> str: ...

    def numbers(self, name: str) -> str: ...


class Writes(Session, Protocol):
    """As much of a writing."""

    def run(self, statement: str, values: Values = ()) -> None: ...

    def run_many(self, statement: str, values: Iterable[Values]) -> None: ...


class KeptMeanings:
    """In one snapshot; with what was made of an earlier one, where the `state` of the database is still the same."""

    def __init__(self, session: Session, tables: Narrowing, state: Callable[[], int] | None = None) -> None:
        self._session, self._tables, self._state = session, tables, state
        self._as_of: int | None = None
        self._seen: dict[Hashable, Any] = {}

    def model(self) -> str | None:
        return self._session.one(_MODEL)

    def blocks(self, low: int, high: int) -> list[tuple[int, bytes]]:
        return self._session.rows(_BLOCKS, (block_of(low), block_of(high - 1) + 1))

    def seen(self, whose: Hashable, see: Callable[[], Any]) -> Any:
        if self._state is None:
            return see()
        as_of = self._state()
        if as_of != self._as_of:
            self._as_of = as_of
            self._seen.clear()
        if whose in self._seen:
            return self._seen[whose]
        found = see()
        if found.size + sum(kept.size for kept in self._seen.values()) > SEEN_BYTES:
            self._seen.clear()
        if found.size <= SEEN_BYTES:
            self._seen[whose] = found
        return found

    def of(self, rids: Iterable[int]) -> list[tuple[int, bytes]]:
        statement = _OF.format(rids=self._tables.numbers("rids"))
        return self._session.rows(statement, {"rids": orjson.dumps(sorted(rids)).decode()})

    def at_edges(self, reach: Reach) -> list[int]:
        statement = _AT_EDGES.format(where=self._tables.narrowing(reach, "r.rid"))
        return [rid for (rid,) in self._session.rows(statement, reach.values)]


class TableMeanings:
    """In one transaction."""

    def __init__(self, writing: Writes, numbers: str) -> None:
        """`numbers` is how a list of numbers stands in a statement that binds it as `numbers`."""
        self._writing, self._numbers = writing, numbers

    def put(self, dimensions: int, rows: Sequence[tuple[int, bytes, bytes]]) -> None:
        self.drop([rid for rid, _, _ in rows])
        blocks = self._blocks({block_of(rid) for rid, _, _ in rows})
        for rid, _, lines in sorted(rows):
            kept = blocks.get(block_of(rid)) or new_block(dimensions)
            blocks[block_of(rid)] = kept + lines
        self._writing.run_many(_KEEP, [row[:2] for row in sorted(rows)])
        self._writing.run_many(_KEEP_BLOCK, sorted(blocks.items()))

    def drop(self, rids: Sequence[int]) -> None:
        by_block: dict[int, list[int]] = {}
        for rid in rids:
            by_block.setdefault(block_of(rid), []).append(rid)
        for number, block in self._blocks(by_block).items():
            left = without(block, by_block[number])
            if left:
                self._writing.run(_KEEP_BLOCK, (number, left))
            else:
                self._writing.run(_DROP_BLOCK, (number,))
        self._writing.run_many(_DROP, [(rid,) for rid in rids])

    def drop_between(self, low: int, high: int) -> None:
        self._writing.run(_DROP_BETWEEN, (low, high))
        self._writing.run(_DROP_BLOCKS, (block_of(low), block_of(high)))

    def begin(self, identity: str | None) -> None:
        if self._writing.one(_MODEL) == identity:
            return
        self.drop_between(*_ALL)
        self._writing.run(_FORGET_MODEL)
        if identity is not None:
            self._writing.run(_NEW_MODEL, (identity,))

    def _blocks(self, numbers: Iterable[int]) -> dict[int, bytes]:
        asked: dict[str, Any] = {"numbers": orjson.dumps(sorted(numbers)).decode()}
        return dict(self._writing.rows(_SOME_BLOCKS.format(blocks=self._numbers), asked))
