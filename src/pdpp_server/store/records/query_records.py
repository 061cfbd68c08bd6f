"""A page of one stream, in one order over all its connections."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, NamedTuple

import orjson

from pdpp_server.errors import InvalidCursor
from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.queries import RecordsQuery
from pdpp_server.model.records import Record, Span
from pdpp_server.model.streams import Field
from pdpp_server.store.engine import Reading
from pdpp_server.store.records.conditions import GATHERED, bounds_of, fewest, index_of, passes, passing, within_grant
from pdpp_server.store.records.count import count, passing_each, span
from pdpp_server.store.records.expand import expanded
from pdpp_server.store.records.fetch import require_declared
from pdpp_server.store.records.ingest import NO_VALUE, indexed_value
from pdpp_server.store.records.reach import BoundValue, IndexedRange, Reach
from pdpp_server.store.records.scope import reaches
from pdpp_server.store.records.showing import Showing, StoredRow
from pdpp_server.wire.cursors import OrderedPlace, Place, connection_digest, digest_of

CHUNK_MAX = 1000
_BEFORE_KEYS, _BEHIND_KEYS = "", b""  # in the order of SQLite
_LAST_CHARACTER = "\U0010ffff"
_NUMBERS_FROM = float("-inf")
_BEHIND_TEXTS = _LAST_CHARACTER * 4


class PageEntry(NamedTuple):
    """A record of a page before it is shown, and the value that gives it its place."""

    reach: Reach
    value: BoundValue
    row: StoredRow
    rank: BoundValue | None = None  # where another field orders the page; ties are in the order of the stream

    @property
    def mark(self) -> Place | OrderedPlace:
        """What a cursor keeps of it."""
        return self.place if self.rank is None else OrderedPlace(self.rank, self.place)

    @property
    def place(self) -> Place:
        return Place(self.value, connection_digest(self.reach.origin.connection_id), self.row.key)


@dataclass(frozen=True, slots=True)
class Listed:
    """Records in order, and what they were made from; `has_more` where the page is not the last."""

    records: tuple[Record, ...]
    entries: list[PageEntry]
    has_more: bool
    count: int | None
    span: Span | None
    passing_each: tuple[tuple[str, int], ...]  # where nothing passes the filter, how many pass what is asked of a field


class _Start(NamedTuple):
    """Where a walk through one connection begins: behind this value and key."""

    value: BoundValue
    key: str | bytes


Chunk = Callable[[_Start, int], list[Any]]  # so many rows from there on


def is_ranked(permitted: Permitted[RecordsQuery]) -> bool:
    """Whether another field than the stream's own orders the page."""
    sort = permitted.query.sort
    return sort is not None and any(scope.stream.position_field != sort for scope in permitted.scopes)


def query_records(reading: Reading, permitted: Permitted[RecordsQuery], after: Place | OrderedPlace | None) -> Listed:
    query = permitted.query
    reached = [reach for scope in permitted.scopes for reach in reaches(reading, scope)]
    require_declared(reading.layout, permitted)
    if isinstance(after, OrderedPlace) or is_ranked(permitted):
        assert not isinstance(after, Place)
        mark = after and after._replace(place=_whole(reading, reached, after.place))
        walks = [_ranked(reading, reach, query, mark) for reach in reached]
    else:
        place = after and _whole(reading, reached, after)
        walks = [_walk(reading, reach, query, place) for reach in reached]
    found = list(islice(_merged(walks, query.ascending), query.limit + 1))
    shown = found[: query.limit]
    records = records_of(reading, shown)
    if permitted.related:
        records = expanded(reading, permitted.related, records, [entry.row for entry in shown])
    conditions = query.conditions
    return Listed(
        tuple(records),
        shown,
        len(found) > query.limit,
        sum(count(reading, reach, conditions) for reach in reached) if query.count else None,
        span(reading, reached, conditions) if query.window else None,
        () if found or after else passing_each(reading, reached, conditions),
    )


def _merged(walks: list[Iterator[PageEntry]], ascending: bool) -> Iterator[PageEntry]:
    if len(walks) == 1:
        return walks[0]
    return merge(*walks, key=lambda entry: _order(entry, ascending), reverse=not ascending)


def _order(entry: PageEntry, ascending: bool) -> tuple[Any, ...]:
    ranked = () if entry.rank is None else value_order(entry.rank, ascending)
    return (*ranked, *value_order(entry.value, ascending), entry.reach.origin.connection_id, entry.row.key)


def value_order(value: BoundValue, ascending: bool) -> tuple[Any, ...]:
    """Numbers before text; a record without a value stands last in both directions."""
    is_last = isinstance(value, bytes)
    return is_last if ascending else not is_last, isinstance(value, str), value


def records_of(reading: Reading, entries: list[PageEntry]) -> list[Record]:
    showings = {
        id(reach): Showing(reading, reach.scope, reach.origin, reach.place.sid).record
        for reach in {id(entry.reach): entry.reach for entry in entries}.values()
    }
    return [showings[id(entry.reach)](entry.row) for entry in entries]


# One connection ---------------------------------------------------------------------------------------------------


def _walk(reading: Reading, reach: Reach, query: RecordsQuery, after: Place | None) -> Iterator[PageEntry]:
    """The visible records that pass, in order, from the place on."""
    start = _start(reach, query, after)
    few = reach.scope.resources is not None or (
        bool(query.conditions) and fewest(reading, reach, query.conditions)[1] <= GATHERED
    )
    return _gathered(reading, reach, query, start) if few else _walked(reading, reach, query, start)


def _start(reach: Reach, query: RecordsQuery, after: Place | None) -> _Start | None:
    """Equal values are ordered by connection, so another connection begins before or behind all its keys."""
    if after is None:
        return None
    mine = reach.origin.connection_id
    theirs = next((name for name in reach.scope.connections if connection_digest(name) == after.connection), None)
    if theirs is None:
        raise InvalidCursor("The connection at which the cursor stands is gone.", param="cursor")
    if mine == theirs:
        return _Start(after.value, after.key)
    is_behind = mine < theirs if query.ascending else mine > theirs  # everything of this value was shown before
    return _Start(after.value, _BEHIND_KEYS if is_behind == query.ascending else _BEFORE_KEYS)


def position_field(reach: Reach) -> str | None:
    """The field that orders the page; one that the grant hides must not show itself in the order."""
    name = reach.place.position
    return name if name in reach.scope.granted and index_of(reach.place, reach.scope.stream.fields[name]) else None


def entry_of(reach: Reach, row: StoredRow) -> PageEntry:
    """A record with the value that gives it its place."""
    name = position_field(reach)
    field = reach.scope.stream.fields[name] if name else None
    value = indexed_value(field, row.data.get(field.name)) if field else None
    return PageEntry(reach, NO_VALUE if value is None else value, row)


def line(reading: Reading, reach: Reach, query: RecordsQuery, place: Place) -> Iterator[PageEntry]:
    """From a place on through the one line that the ascending order is, forwards or back; nearest first."""
    return _chunks(reach, query, _by_order(reading, reach, query), _Start(place.value, place.key))


def _gathered(reading: Reading, reach: Reach, query: RecordsQuery, start: _Start | None) -> Iterator[PageEntry]:
    """Few records: read them all and sort them."""
    ascending = query.ascending
    found = [entry_of(reach, row) for row in passing(reading, reach, query.conditions)]
    found.sort(key=lambda entry: _order(entry, ascending), reverse=not ascending)
    return (entry for entry in found if start is None or _is_behind(entry, start, ascending))


def _is_behind(entry: PageEntry, start: _Start, ascending: bool) -> bool:
    value, started_at = value_order(entry.value, ascending), value_order(start.value, ascending)
    if value != started_at:
        return value > started_at if ascending else value < started_at
    if isinstance(start.key, bytes):  # behind all keys of this value
        return not ascending
    return entry.row.key > start.key if ascending else entry.row.key < start.key


# In the order of another field --------------------------------------------------------------------------------------


def _ranked(reading: Reading, reach: Reach, query: RecordsQuery, after: OrderedPlace | None) -> Iterator[PageEntry]:
    """The visible records that pass, by the value of the field, from the mark on; those without one stand last."""
    assert query.sort is not None
    field = reach.scope.stream.fields[query.sort]
    table = index_of(reach.place, field)
    few = reach.scope.resources is not None or fewest(reading, reach, query.conditions)[1] <= GATHERED
    if few or table is None or _is_small(reading, reach):
        return _ranked_at_once(reading, reach, query, field, after)
    return _ranked_by_index(reading, reach, query, _Ranking(field, table, reach.place.fids[field.name]), after)


def _is_small(reading: Reading, reach: Reach) -> bool:
    """Whether all that is visible can be looked at: the index of another field passes over what is hidden."""
    return not reach.is_whole and count(reading, reach) <= GATHERED


class _Ranking(NamedTuple):
    """A field that orders a page, and where its values lie."""

    field: Field
    table: str
    fid: int

    def of(self, row: StoredRow) -> BoundValue | None:
        return indexed_value(self.field, row.data.get(self.field.name))

    def at(self, value: Any) -> IndexedRange:
        return IndexedRange(self.table, self.fid, value, value)


def _ranked_at_once(
    reading: Reading, reach: Reach, query: RecordsQuery, field: Field, after: OrderedPlace | None
) -> Iterator[PageEntry]:
    found: list[PageEntry] = []
    for row in passing(reading, reach, query.conditions):
        rank = indexed_value(field, row.data.get(field.name))
        found.append(entry_of(reach, row)._replace(rank=NO_VALUE if rank is None else rank))
    return (entry for entry in _in_order(found, query.ascending) if _is_behind_mark(entry, reach, query, after))


def _in_order(entries: Iterable[PageEntry], ascending: bool) -> list[PageEntry]:
    return sorted(entries, key=lambda entry: _order(entry, ascending), reverse=not ascending)


def _is_behind_mark(entry: PageEntry, reach: Reach, query: RecordsQuery, after: OrderedPlace | None) -> bool:
    if after is None:
        return True
    assert entry.rank is not None
    rank, marked = value_order(entry.rank, query.ascending), value_order(after.rank, query.ascending)
    if rank != marked:
        return rank > marked if query.ascending else rank < marked
    start = _start(reach, query, after.place)
    return start is None or _is_behind(entry, start, query.ascending)


def _ranked_by_index(
    reading: Reading, reach: Reach, query: RecordsQuery, ranking: _Ranking, after: OrderedPlace | None
) -> Iterator[PageEntry]:
    """Value after value; of a value that many share, its records in the order of the stream."""
    ascending, test = query.ascending, passes(reach.scope.stream, query.conditions)
    behind: BoundValue = _NUMBERS_FROM if ascending else NO_VALUE
    if after is not None and isinstance(after.rank, bytes):
        yield from _without_rank(reading, reach, query, ranking, after.place)
        return
    if after is not None:
        behind = after.rank
        yield from _tied(reading, reach, query, ranking, behind, after.place)
    chunk, is_last = query.limit + 1, False
    while not is_last:
        rows = reading.records.ranked(reach, ranking.table, ranking.fid, behind, ascending=ascending, chunk=chunk)
        is_last = len(rows) < chunk
        groups = [(value, list(same)) for value, same in groupby(rows, key=itemgetter(0))]
        for value, same in groups if is_last else groups[:-1]:
            found = (StoredRow(*row[1:6], orjson.loads(row[6])) for row in same)
            entries = (entry_of(reach, row)._replace(rank=value) for row in found if test(row.data))
            yield from _in_order(entries, ascending)
        if not is_last:
            behind = groups[-1][0]
            yield from _tied(reading, reach, query, ranking, behind, None)
            chunk = min(chunk * 4, CHUNK_MAX)
    yield from _without_rank(reading, reach, query, ranking, None)


def _tied(
    reading: Reading, reach: Reach, query: RecordsQuery, ranking: _Ranking, rank: BoundValue, place: Place | None
) -> Iterator[PageEntry]:
    """The records of one value, in the order of the stream, from a place on."""
    of = ranking.at(rank)
    if reading.records.entries(reach, of, GATHERED + 1) > GATHERED:
        walk = _walk(reading, reach, query, place)
        return (entry._replace(rank=rank) for entry in walk if ranking.of(entry.row) == rank)
    entries: list[PageEntry] = []
    test = passes(reach.scope.stream, query.conditions)
    for stored in reading.records.holding(reach, of):
        row = StoredRow(*stored[:5], orjson.loads(stored[5]))
        if test(row.data):
            entries.append(entry_of(reach, row)._replace(rank=rank))
    ordered = _in_order(entries, query.ascending)
    start = _start(reach, query, place)
    return (entry for entry in ordered if start is None or _is_behind(entry, start, query.ascending))


def _without_rank(
    reading: Reading, reach: Reach, query: RecordsQuery, ranking: _Ranking, place: Place | None
) -> Iterator[PageEntry]:
    """The records without a value, of which there are mostly none: then nobody looks for them."""
    every_value = IndexedRange(ranking.table, ranking.fid, _NUMBERS_FROM, _BEHIND_TEXTS)
    visible = count(reading, reach)
    if reach.is_whole and reading.records.entries(reach, every_value, visible) >= visible:
        return
    for entry in _walk(reading, reach, query, place):
        if ranking.of(entry.row) is None:
            yield entry._replace(rank=NO_VALUE)


# In the order of the stream -----------------------------------------------------------------------------------------


def newest_of(reading: Reading, reach: Reach, most: int) -> list[StoredRow]:
    """The newest records of a reach, or the last by their keys where no time orders them that the grant shows."""
    query = RecordsQuery(reach.scope.stream.name, limit=most, ascending=False)
    return [entry.row for entry in islice(_walked(reading, reach, query, None), most)]


def _walked(reading: Reading, reach: Reach, query: RecordsQuery, start: _Start | None) -> Iterator[PageEntry]:
    """Many records: follow the index, in chunks that grow, and stop when nobody asks for more."""
    name = position_field(reach)
    in_order = _by_order(reading, reach, query)
    if name is None or query.ascending:
        yield from _chunks(reach, query, in_order, start)
        return
    if start is None or not isinstance(start.value, bytes):
        yield from _chunks(reach, query, in_order, start or _Start(NO_VALUE, _BEFORE_KEYS))
        start = None
    if _bounds(reach, query, name)[1] == NO_VALUE:
        behind = start or _Start(NO_VALUE, _BEHIND_KEYS)
        yield from _chunks(reach, query, _by_order(reading, reach, query, least=NO_VALUE), behind)


def _by_order(reading: Reading, reach: Reach, query: RecordsQuery, *, least: BoundValue | None = None) -> Chunk:
    """Chunks of one connection in the order of its pages; from `least` on, where that is more than the filter says."""
    name, ascending, records = position_field(reach), query.ascending, reading.records
    if name is None:
        return lambda start, chunk: records.page_by_key(reach, start.key, ascending=ascending, chunk=chunk)
    fid = reach.place.fids[name]
    first, most = _bounds(reach, query, name)
    within = (first if least is None else least, most)
    return lambda start, chunk: records.page(reach, fid, start, within, ascending=ascending, chunk=chunk)


def _bounds(reach: Reach, query: RecordsQuery, name: str) -> tuple[Any, Any]:
    """The part of the index in which anything can be found: what the filter and the grant's own time leave."""
    bounds = bounds_of(reach, query.conditions, name)
    least: Any = bounds.least if bounds else _NUMBERS_FROM
    most: Any = bounds.most if bounds else NO_VALUE
    if name == reach.scope.stream.order_field:
        least, most = within_grant(reach.scope, least, most)
    return least, most


def _chunks(reach: Reach, query: RecordsQuery, page: Chunk, start: _Start | None) -> Iterator[PageEntry]:
    test = passes(reach.scope.stream, query.conditions)
    if start is None:
        start = _Start(_NUMBERS_FROM, _BEFORE_KEYS) if query.ascending else _Start(NO_VALUE, _BEHIND_KEYS)
    chunk = query.limit + 1
    while True:
        found = page(start, chunk)
        for value, rid, key, version, revised, emitted_at, text in found:
            data = orjson.loads(text)
            if not query.conditions or test(data):
                yield PageEntry(reach, value, StoredRow(rid, key, version, revised, emitted_at, data))
        if len(found) < chunk:
            return
        start = _Start(found[-1][0], found[-1][2])
        chunk = min(chunk * 4, CHUNK_MAX)


def _whole(reading: Reading, reached: list[Reach], place: Place) -> Place:
    return place if place.is_whole else restored(reading, reached, place)


def restored(reading: Reading, reached: list[Reach], cut: Place) -> Place:
    """The whole place of which a cursor could keep only the beginning; that beginning where the record is gone."""
    for reach in reached:
        if connection_digest(reach.origin.connection_id) != cut.connection:
            continue
        for value, key in _beginning_with(reading, reach, cut):
            if digest_of(value, key) == cut.digest:
                return cut._replace(value=value, key=key)
    return cut


def _beginning_with(reading: Reading, reach: Reach, cut: Place) -> list[tuple[BoundValue, str]]:
    name = position_field(reach)
    if name is None:
        return reading.records.beginning_by_key(reach.place.sid, cut.key, cut.key + _LAST_CHARACTER)
    most = cut.value + _LAST_CHARACTER if isinstance(cut.value, str) else cut.value
    return reading.records.beginning(reach.place.fids[name], cut.value, most)
