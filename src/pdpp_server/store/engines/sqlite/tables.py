"""What SQLite says in its own way: a list in a statement, and the narrowing by grant."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from typing import Any, TypeVar

import apsw
import orjson

from pdpp_server.store.engines.sqlite.counted import Counted, CountedOfRecords
from pdpp_server.store.engines.sqlite.mapped import MAPPED, is_mapped, look_up_in_maps, mapped
from pdpp_server.store.engines.tables import Tables
from pdpp_server.store.records.asked import Where
from pdpp_server.store.records.reach import IndexedRange, Reach, ReachShown
from pdpp_server.store.session import Session

# The one narrowing of records; `{rid}` is the column that holds the rid in the statement at hand.
# Days that lie wholly inside the time bounds need no look at the record; the first and the last day do.
_WHOLE = "{rid} >= :low and {rid} < :high"
_TIMED = """{rid} >= :low and {rid} < :high and (({rid} >= :inner_low and {rid} < :inner_high) or exists(
    select 1 from records bounded where bounded.rid = {rid} and bounded.at >= :since and bounded.at < :until))"""
# The plus takes the affinity from `at`: compared with it, the index of values could not be used.
_BESIDE = """
select c.rid, (select json_group_array(rid) from (
    select p.rid from positions p
    where p.fid = :fid and (p.value, p.key) < (+c.at, c.key) and p.value >= c.at - :silence and {where}
    order by p.value desc, p.key desc limit :most)),
(select json_group_array(rid) from (
    select p.rid from positions p
    where p.fid = :fid and (p.value, p.key) > (+c.at, c.key) and p.value <= c.at + :silence and {where}
    order by p.value, p.key limit :most))
from records c where c.rid in (select value from json_each(:sources)) and c.at is not null
"""
_FIELD_OF = "select rid, data ->> :field from records where rid in (select value from json_each(:rids))"
LIST = "(select value from json_each(:{name}))"
_FEW = "{rid} in (select value from json_each(:rids))"
_MANY = "{rid} >= :low and {rid} < :high and +{rid} in (select value from json_each(:rids))"
# For each connection, in things of about 150 bytes: what is told of records, what filters leave, counts, other facts.
TOLD_KEPT, LEFT_KEPT, COUNTS_KEPT, FACTS_KEPT = 200_000, 100_000, 10_000, 20_000
_NARROWING: dict[ReachShown, str] = {"whole": _WHOLE, "timed": _TIMED, "few": _FEW, "many": _MANY}


V = TypeVar("V")
_Sides = tuple[list[int], list[int]]  # what stands before a record and after it, from the nearest on


class SqliteTables(Tables):
    def __init__(self, connection: apsw.Connection, session: Session) -> None:
        super().__init__(session)
        self._told = CountedOfRecords[Any](connection, session, TOLD_KEPT)
        self._counts = Counted[int](connection, session, COUNTS_KEPT)
        self._left = Counted[Reach](connection, session, LEFT_KEPT, lambda left: len(left.rids or ()))
        self._facts = Counted[Any](connection, session, FACTS_KEPT, _listed_size)
        look_up_in_maps(connection)

    def left(self, reach: Reach, asked: Hashable, find: Callable[[], Reach]) -> Reach:
        """A model asks several questions with one filter, so what it leaves is kept: of which records, and as a map."""
        left = self._left.of(Where([reach], (), is_part=False), asked, lambda: mapped(find()))
        return replace(reach, shown=left.shown, values=left.values, rids=left.rids)

    def known(self, reach: Reach, asked: Hashable, find: Callable[[], V]) -> V:
        return self._facts.of(Where([reach], (), is_part=False), asked, find)

    def told(
        self, reach: Reach, asked: Hashable, rids: Sequence[int], find: Callable[[Sequence[int]], Mapping[int, V]]
    ) -> Mapping[int, V]:
        return self._told.of(reach, asked, rids, find)

    def passing_count(self, reach: Reach, bounds: IndexedRange, *also: IndexedRange) -> int:
        """Every entry of an index has to be passed for it: once, until something changes."""
        where = Where([reach], (), is_part=False)
        count = super().passing_count
        return self._counts.of(where, (bounds, *also), lambda: count(reach, bounds, *also))

    def narrowing(self, reach: Reach, rid: str) -> str:
        narrowing = MAPPED if is_mapped(reach) else _NARROWING[reach.shown]
        return narrowing.format(rid=rid)

    def listed(self, column: str) -> str:
        return f"json_group_array({column})"

    def numbers(self, name: str) -> str:
        return LIST.format(name=name)

    texts = numbers

    def beside(
        self, reach: Reach, fid: int, rids: Sequence[int], silence: int, most: int
    ) -> Iterator[tuple[int, list[int], list[int]]]:
        """Questions of one grant find the same records again and again, so what stands beside them is kept."""

        def find(unknown: Sequence[int]) -> dict[int, _Sides]:
            return self._find_beside(reach, fid, unknown, silence, most)

        beside = self._told.of(reach, (fid, silence, most), rids, find)
        return ((rid, *beside[rid]) for rid in rids)

    def _find_beside(self, reach: Reach, fid: int, rids: Sequence[int], silence: int, most: int) -> dict[int, _Sides]:
        statement = _BESIDE.format(where=self.narrowing(reach, "p.rid"))
        asked = {"fid": fid, "silence": silence, "most": most, "sources": orjson.dumps(rids).decode()}
        found: dict[int, _Sides] = {rid: ([], []) for rid in rids}  # those without a time have nothing beside them
        for rid, before, after in self._session.rows(statement, {**reach.values, **asked}):
            found[rid] = (orjson.loads(before), orjson.loads(after))
        return found

    def field_of(self, rids: Sequence[int], field: str) -> dict[int, object]:
        return dict(self._session.rows(_FIELD_OF, {"field": field, "rids": orjson.dumps(rids).decode()}))


def _listed_size(fact: Any) -> int:
    """Most facts are a number or a time, and some are a list of records."""
    return len(fact) if isinstance(fact, Sized) and not isinstance(fact, str) else 0
