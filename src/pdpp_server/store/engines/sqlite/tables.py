"""What SQLite says in its own way: a list in a statement, and the narrowing by grant."""

from collections.abc import Iterator, Sequence

import orjson

from pdpp_server.store.engines.tables import Tables
from pdpp_server.store.records.reach import Reach, ReachShown

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
_NARROWING: dict[ReachShown, str] = {"whole": _WHOLE, "timed": _TIMED, "few": _FEW, "many": _MANY}


class SqliteTables(Tables):
    def narrowing(self, reach: Reach, rid: str) -> str:
        return _NARROWING[reach.shown].format(rid=rid)

    def listed(self, column: str) -> str:
        return f"json_group_array({column})"

    def numbers(self, name: str) -> str:
        return LIST.format(name=name)

    texts = numbers

    def beside(
        self, reach: Reach, fid: int, rids: Sequence[int], silence: int, most: int
    ) -> Iterator[tuple[int, list[int], list[int]]]:
        statement = _BESIDE.format(where=self.narrowing(reach, "p.rid"))
        asked = {"fid": fid, "silence": silence, "most": most, "sources": orjson.dumps(rids).decode()}
        for rid, before, after in self._session.rows(statement, {**reach.values, **asked}):
            yield rid, orjson.loads(before), orjson.loads(after)

    def field_of(self, rids: Sequence[int], field: str) -> dict[int, object]:
        return dict(self._session.rows(_FIELD_OF, {"field": field, "rids": orjson.dumps(rids).decode()}))
