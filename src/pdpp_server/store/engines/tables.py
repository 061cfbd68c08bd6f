"""Records in tables, in the SQL that every engine here understands; what differs between them is a hook."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import orjson

from pdpp_server.store.layout import first_rid
from pdpp_server.store.records.by_key import RECORD_BY_KEY
from pdpp_server.store.records.reach import BoundValue, IndexedRange, Reach
from pdpp_server.store.session import Session

V = TypeVar("V")

NO_VALUE = b""  # of a record without a value in positions; behind every number and text

_EARLIER = """
select version, at, emitted_at, data from history
where sid = ? and key = ? and version < ? and live <> 0 order by version desc limit 1
"""
_RIDS_OF = """
select r.rid from json_each(:keys) named cross join records r on r.sid = :sid and r.key = named.value
where r.data is not null and (:since is null or r.at >= :since) and (:until is null or r.at < :until) order by r.rid
"""
_NAMED = """
select r.rid, r.key, r.version, r.revised, r.emitted_at, r.at
from json_each(:keys) named cross join records r on r.sid = :sid and r.key = named.value
where r.data is not null
"""
_KEYS = "select rid, key, at from records where rid in {rids} and data is not null"
_STORED = "select rid, key, version, revised, emitted_at, data from records where rid in {rids} and data is not null"
_VISIBLE = "select rid, key, version, revised, emitted_at, data from records where {where} and data is not null"
_DATA = "select data from records where rid = ?"
_HAVING = """
select r.data from field_values i join records r on r.rid = i.rid
where i.fid = ? and i.value = ? and r.data is not null order by r.rid
"""

# `cross join`: in that order, an index first, then what it leads to.
_PAGE = """
select p.value, r.rid, p.key, r.version, r.revised, r.emitted_at, r.data
from positions p cross join records r on r.rid = p.rid
where p.fid = :fid and (p.value, p.key) {beyond} (:value, :key) and p.value >= :least and p.value <= :most and {where}
order by p.value {order}, p.key {order} limit :chunk
"""
_RANKED = """
select i.value, r.rid, r.key, r.version, r.revised, r.emitted_at, r.data
from {index} i cross join records r on r.rid = i.rid
where i.fid = :fid and i.value {beyond} :value and i.value < :nothing and {where} and r.data is not null
order by i.value {order} limit :chunk
"""
_PAGE_BY_KEY = """
select r.rid, r.key, r.version, r.revised, r.emitted_at, r.data from records r
where r.sid = :sid and r.key {beyond} :key and {where} and r.data is not null order by r.key {order} limit :chunk
"""
_RIDS_BY_KEY = """
select {listed}, min(found.key), count(*) from (
    select rid, key from records where sid = :sid and key < :key order by key desc limit :most) found
"""
_ASCENDING, _DESCENDING = {"beyond": ">", "order": "asc"}, {"beyond": "<", "order": "desc"}
_AT_VALUE = "select value, key from positions where fid = ? and value >= ? and value <= ? order by value, key"
_AT_KEY = "select key from records where sid = ? and key >= ? and key <= ? and data is not null order by key"

_BETWEEN = "i.fid = :fid and i.value >= :least and i.value <= :most"
_EQUAL = "i.fid = :fid and i.value = :least"  # said so, the index goes on in the order of rids
_ENTRIES = """
select count(*) from (
    select 1 from {index} i where {between} and i.rid >= :low and i.rid < :high limit :enough) counted
"""
_HOLDING = """
select r.rid, r.key, r.version, r.revised, r.emitted_at, r.data from {index} i cross join records r on r.rid = i.rid
where {between} and {where} and r.data is not null
"""
# What stands in an index alone. Every other value is looked up in its own index, at the rid.
_PASSING = "select i.rid from {index} i where {within} and {where}{also}"
_ALSO = " and exists(select 1 from {index} o where o.fid = :fid{n} and o.value = :value{n} and o.rid = i.rid)"
_PASSING_RIDS = "select {listed} from ({passing}) found"
_PASSING_COUNT = "select count(*) from ({passing}) found"
_BY_DAY = """
select r.rid, r.key, r.version, r.revised, r.emitted_at, r.data from {index} i cross join records r on r.rid = i.rid
where {equal} and {where} and r.data is not null order by i.rid {order} limit :chunk
"""
_TALLIES = "select i.value, count(*) from {index} i where {within} and {where} group by i.value order by i.value"
_EDGE = """
select i.value from {index} i
where i.fid = :fid and i.value >= :least and i.value < :beyond and {where} order by i.value {order} limit 1
"""

_LIVE = "select live from streams where sid = ?"
_DAYS = "select day, live from days where sid = ? and day > ? and day < ? and live > 0 order by day"
_DAYS_TOTAL = "select cast(coalesce(sum(live), 0) as bigint) from days where sid = ? and day > ? and day < ?"
_HAS_DAYS = "select 1 from days where sid = ? and day >= ? and day < ? and live > 0 limit 1"
_ON_DAY = """
select count(*) from records
where rid >= :first_of_day and rid < :first_of_next and {where} and data is not null
"""
_NEWEST = """
select version, emitted_at from newest_changes
where sid = :sid and what in {kinds} and shift = :shift and place >= :first and place < :end
order by version desc limit 1
"""


class Tables(ABC):
    """What one snapshot reads of records, values and days."""

    def __init__(self, session: Session) -> None:
        self._session = session
        numbers = self.numbers("rids")
        self._keys, self._stored = _KEYS.format(rids=numbers), _STORED.format(rids=numbers)
        self._newest = _NEWEST.format(kinds=self.texts("kinds"))

    # What an engine says --------------------------------------------------------------------------------------------

    @abstractmethod
    def narrowing(self, reach: Reach, rid: str) -> str:
        """The one WHERE that narrows by grant, in a statement whose column `rid` holds the rid."""

    @abstractmethod
    def numbers(self, name: str) -> str:
        """The numbers in a list that is bound under that name as JSON."""

    @abstractmethod
    def listed(self, column: str) -> str:
        """A column of all rows as one JSON list; nothing or an empty one where there are none."""

    @abstractmethod
    def texts(self, name: str) -> str:
        """The texts in such a list."""

    def kept(self, value: BoundValue) -> Any:
        """A value as it lies in its index: numbers before texts, and behind both what is none."""
        return value

    def decoded_each(self, rows: Iterator[Any]) -> Iterator[Any]:
        """The same rows with the value that is their first column as it was given."""
        return rows

    def decoded(self, rows: list[Any]) -> list[Any]:
        return rows

    def kept_key(self, key: str | bytes) -> Any:
        """Bytes stand behind every key."""
        return key

    # Records --------------------------------------------------------------------------------------------------------

    def get(self, sid: int, key: str) -> tuple[int, int, int, str, str, int | None] | None:
        return self._session.one(RECORD_BY_KEY, (sid, key))

    def earlier(self, sid: int, key: str, version: int) -> tuple[int, int | None, str | None, str | None] | None:
        return self._session.one(_EARLIER, (sid, key, version))

    def rids_of(self, sid: int, keys: Iterable[str], since: int | None, until: int | None) -> list[int]:
        asked = {"sid": sid, "keys": _keys_listed(keys), "since": since, "until": until}
        return [rid for (rid,) in self._session.rows(_RIDS_OF, asked)]

    def named(self, sid: int, keys: Iterable[str]) -> list[tuple[int, str, int, int, str, int | None]]:
        return self._session.rows(_NAMED, {"sid": sid, "keys": _keys_listed(keys)})

    def keys(self, rids: Iterable[int]) -> list[tuple[int, str, int | None]]:
        return self._session.rows(self._keys, {"rids": _json([*rids])})

    def stored(self, rids: Iterable[int]) -> list[tuple[int, str, int, int, str, str]]:
        return self._session.rows(self._stored, {"rids": _json([*rids])})

    def data(self, rid: int) -> str:
        return self._session.one(_DATA, (rid,))

    def visible(self, reach: Reach) -> Iterator[tuple[int, str, int, int, str, str]]:
        return self._session.each(_VISIBLE.format(where=self.narrowing(reach, "records.rid")), reach.values)

    def page(
        self,
        reach: Reach,
        fid: int,
        start: tuple[BoundValue, str | bytes],
        within: tuple[BoundValue, BoundValue],
        *,
        ascending: bool,
        chunk: int,
    ) -> list[tuple[BoundValue, int, str, int, int, str, str]]:
        order = _ASCENDING if ascending else _DESCENDING
        statement = _PAGE.format(where=self.narrowing(reach, "p.rid"), **order)
        (value, key), (least, most) = start, within
        asked = {
            **reach.values,
            "fid": fid,
            "value": self.kept(value),
            "key": self.kept_key(key),
            "least": self.kept(least),
            "most": self.kept(most),
            "chunk": chunk,
        }
        return self.decoded(self._session.rows(statement, asked))

    def page_by_key(
        self, reach: Reach, start: str | bytes, *, ascending: bool, chunk: int
    ) -> list[tuple[BoundValue, int, str, int, int, str, str]]:
        order = _ASCENDING if ascending else _DESCENDING
        statement = _PAGE_BY_KEY.format(where=self.narrowing(reach, "r.rid"), **order)
        asked = {**reach.values, "sid": reach.place.sid, "key": self.kept_key(start), "chunk": chunk}
        return [(NO_VALUE, *row) for row in self._session.rows(statement, asked)]

    def rids_by_key(self, sid: int, before: str, most: int) -> tuple[list[int], str | None]:
        key = self.kept_key(before or NO_VALUE)
        statement = _RIDS_BY_KEY.format(listed=self.listed("rid"))
        rids, last, number = self._session.one(statement, {"sid": sid, "key": key, "most": most})
        return orjson.loads(rids or "[]"), last if number == most else None

    def ranked(
        self, reach: Reach, table: str, fid: int, start: BoundValue, *, ascending: bool, chunk: int
    ) -> list[tuple[BoundValue, int, str, int, int, str, str]]:
        order = _ASCENDING if ascending else _DESCENDING
        statement = _RANKED.format(index=table, where=self.narrowing(reach, "i.rid"), **order)
        asked = {"fid": fid, "value": self.kept(start), "nothing": self.kept(NO_VALUE), "chunk": chunk}
        return self.decoded(self._session.rows(statement, {**reach.values, **asked}))

    def beginning(self, fid: int, value: BoundValue, most: BoundValue) -> list[tuple[BoundValue, str]]:
        return self.decoded(self._session.rows(_AT_VALUE, (fid, self.kept(value), self.kept(most))))

    def beginning_by_key(self, sid: int, key: str, most: str) -> list[tuple[BoundValue, str]]:
        return [(NO_VALUE, found) for (found,) in self._session.rows(_AT_KEY, (sid, key, most))]

    # Values ---------------------------------------------------------------------------------------------------------

    def entries(self, reach: Reach, bounds: IndexedRange, enough: int) -> int:
        statement = _ENTRIES.format(index=bounds.table, between=_between(bounds))
        span = {"low": reach.values["low"], "high": reach.values["high"], "enough": enough}
        return self._session.one(statement, {**self._bound(bounds), **span})

    def holding(self, reach: Reach, bounds: IndexedRange) -> Iterator[tuple[int, str, int, int, str, str]]:
        where = self.narrowing(reach, "i.rid")
        statement = _HOLDING.format(index=bounds.table, between=_between(bounds), where=where)
        return self._session.each(statement, {**reach.values, **self._bound(bounds)})

    def passing(self, reach: Reach, bounds: IndexedRange, *also: IndexedRange) -> list[int]:
        passing, values = self._passing(reach, bounds, also)
        found: str | None = self._session.one(_PASSING_RIDS.format(listed=self.listed("rid"), passing=passing), values)
        return orjson.loads(found or "[]")

    def passing_count(self, reach: Reach, bounds: IndexedRange, *also: IndexedRange) -> int:
        passing, values = self._passing(reach, bounds, also)
        return self._session.one(_PASSING_COUNT.format(passing=passing), values)

    def left(self, reach: Reach, asked: Hashable, find: Callable[[], Reach]) -> Reach:
        return find()

    def known(self, reach: Reach, asked: Hashable, find: Callable[[], V]) -> V:
        return find()

    def told(
        self, reach: Reach, asked: Hashable, rids: Sequence[int], find: Callable[[Sequence[int]], Mapping[int, V]]
    ) -> Mapping[int, V]:
        return find(rids)

    def _passing(self, reach: Reach, bounds: IndexedRange, also: Sequence[IndexedRange]) -> tuple[str, dict[str, Any]]:
        values = {**reach.values, **self._bound(bounds)}
        exists = ""
        for n, other in enumerate(also):
            exists += _ALSO.format(index=other.table, n=n)
            values |= {f"fid{n}": other.fid, f"value{n}": self.kept(other.least)}
        where = self.narrowing(reach, "i.rid")
        return _PASSING.format(index=bounds.table, within=_within(bounds), where=where, also=exists), values

    def by_day(
        self, reach: Reach, bounds: IndexedRange, *, ascending: bool, chunk: int
    ) -> list[tuple[int, str, int, int, str, str]]:
        order, where = "asc" if ascending else "desc", self.narrowing(reach, "i.rid")
        statement = _BY_DAY.format(index=bounds.table, equal=_EQUAL, where=where, order=order)
        asked = {"fid": bounds.fid, "least": self.kept(bounds.least), "chunk": chunk}
        return self._session.rows(statement, {**reach.values, **asked})

    def tallies(self, reach: Reach, bounds: IndexedRange) -> Iterator[tuple[BoundValue, int]]:
        where = self.narrowing(reach, "i.rid")
        statement = _TALLIES.format(index=bounds.table, within=_within(bounds), where=where)
        return self.decoded_each(self._session.each(statement, {**reach.values, **self._bound(bounds)}))

    def edges(self, reach: Reach, bounds: IndexedRange) -> list[BoundValue]:
        asked = {**reach.values, "fid": bounds.fid, "least": self.kept(bounds.least), "beyond": self.kept(bounds.most)}
        where = self.narrowing(reach, "i.rid")
        statements = [_EDGE.format(index=bounds.table, where=where, order=order) for order in ("asc", "desc")]
        found = [row for statement in statements for row in self._session.rows(statement, asked)]
        return [value for (value,) in self.decoded(found)]

    def _bound(self, bounds: IndexedRange) -> dict[str, Any]:
        return {"fid": bounds.fid, "least": self.kept(bounds.least), "most": self.kept(bounds.most)}

    # Counts ---------------------------------------------------------------------------------------------------------

    def live(self, sid: int) -> int:
        return self._session.one(_LIVE, (sid,))

    def days(self, sid: int, after: int, before: int) -> list[tuple[int, int]]:
        return self._session.rows(_DAYS, (sid, after, before))

    def days_total(self, sid: int, after: int, before: int) -> int:
        return self._session.one(_DAYS_TOTAL, (sid, after, before))

    def having(self, fid: int, value: BoundValue) -> list[str]:
        return [data for (data,) in self._session.rows(_HAVING, (fid, self.kept(value)))]

    def has_days(self, sid: int, first: int, end: int) -> bool:
        return self._session.one(_HAS_DAYS, (sid, first, end)) is not None

    def on_day(self, reach: Reach, day: int) -> int:
        sid = reach.place.sid
        span = {"first_of_day": first_rid(sid, day), "first_of_next": first_rid(sid, day + 1)}
        statement = _ON_DAY.format(where=self.narrowing(reach, "records.rid"))
        return self._session.one(statement, {**reach.values, **span})

    def newest_change(self, sid: int, kinds: Iterable[str], shift: int, first: int, end: int) -> tuple[int, str] | None:
        asked = {"sid": sid, "kinds": _json(sorted(kinds)), "shift": shift, "first": first, "end": end}
        return self._session.one(self._newest, asked)


def _between(bounds: IndexedRange) -> str:
    return _EQUAL if bounds.is_one_value else _BETWEEN


def _within(bounds: IndexedRange) -> str:
    """The same without the ends, where they do not belong to it."""
    above = " and i.value > :least" if bounds.is_above else ""
    below = " and i.value < :most" if bounds.is_below else ""
    return _between(bounds) + above + below


def _json(values: list[Any]) -> str:
    return orjson.dumps(values).decode()


def _keys_listed(keys: Iterable[str]) -> str:
    """No record has a key with a NUL, and not every engine can be asked for one."""
    return _json(sorted(key for key in keys if "\0" not in key))
