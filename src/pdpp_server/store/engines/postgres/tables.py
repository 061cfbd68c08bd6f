"""What PostgreSQL says in its own way: a list in a statement, the narrowing by grant, values in their order."""

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from pdpp_server.store.engines.postgres.values import bytes_text, given, kept
from pdpp_server.store.engines.tables import Tables
from pdpp_server.store.records.reach import BoundValue, Reach, ReachShown

_TIMED = """{rid} >= :low and {rid} < :high and (({rid} >= :inner_low and {rid} < :inner_high) or exists(
    select 1 from records bounded where bounded.rid = {rid} and bounded.at >= :since and bounded.at < :until))"""
NUMBERS = "(select cast(value as bigint) from json_each(:{name}))"
TEXTS = "(select value from json_each(:{name}))"
_NAMED = "{rid} >= :low and {rid} < :high and {rid} in " + NUMBERS.format(name="rids")
_NARROWING: dict[ReachShown, str] = {
    "whole": "{rid} >= :low and {rid} < :high",
    "timed": _TIMED,
    "few": _NAMED,
    "many": _NAMED,
}
_SOURCES = """
select rid, key, at from records where rid in (select cast(value as bigint) from json_each(:rids)) and at is not null
"""
_BESIDE = """
select c.rid, array(
    select p.rid from positions p
    where p.fid = :fid and (p.value, p.key) < (c.at, c.key) and p.value >= c.least and {where}
    order by p.value desc, p.key desc limit :beside), array(
    select p.rid from positions p
    where p.fid = :fid and (p.value, p.key) > (c.at, c.key) and p.value <= c.last and {where}
    order by p.value, p.key limit :beside)
from json_to_recordset((:sources)::json) c(rid bigint, key text, at bytea, least bytea, last bytea)
"""
_BEHIND_KEYS = "\U0010ffff" * 200  # no handle has room for such a key


class PostgresTables(Tables):
    def narrowing(self, reach: Reach, rid: str) -> str:
        return _NARROWING[reach.shown].format(rid=rid)

    def listed(self, column: str) -> str:
        return f"json_agg({column})::text"

    def numbers(self, name: str) -> str:
        return NUMBERS.format(name=name)

    def texts(self, name: str) -> str:
        return TEXTS.format(name=name)

    def kept(self, value: BoundValue) -> bytes:
        return kept(value)

    def decoded_each(self, rows: Iterator[Any]) -> Iterator[Any]:
        return ((given(row[0]), *row[1:]) for row in rows)

    def decoded(self, rows: list[Any]) -> list[Any]:
        return [*self.decoded_each(iter(rows))]

    def kept_key(self, key: str | bytes) -> str:
        return _BEHIND_KEYS if isinstance(key, bytes) else key

    def beside(
        self, reach: Reach, fid: int, rids: Sequence[int], silence: int, most: int
    ) -> Iterator[tuple[int, list[int], list[int]]]:
        """For all of them in one statement, which must know their times as the index keeps them."""
        found = self._session.rows(_SOURCES, {"rids": orjson.dumps(rids).decode()})
        sources = [
            {"rid": rid, "key": key, "at": _hex(at), "least": _hex(at - silence), "last": _hex(at + silence)}
            for rid, key, at in found
        ]
        asked = {"fid": fid, "sources": orjson.dumps(sources).decode(), "beside": most}
        yield from self._session.rows(_BESIDE.format(where=self.narrowing(reach, "p.rid")), {**reach.values, **asked})

    def field_of(self, rids: Sequence[int], field: str) -> dict[int, object]:
        return {rid: orjson.loads(data).get(field) for rid, *_, data in self.stored(rids)}


def _hex(at: int) -> str:
    """A time as it is kept."""
    return bytes_text(kept(at))
