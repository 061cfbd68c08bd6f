"""Which records wait for their meaning to be indexed, and what is kept of those that do no longer."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import orjson

from pdpp_server.meaning.blocks import BLOCK_BITS, places
from pdpp_server.store.engine import Reading, Writing
from pdpp_server.store.layout import first_rid
from pdpp_server.store.session import Session

BATCH_RECORDS = 200

_CLOCK = "select version from clock"
_WAITING = """
select r.rid, r.version, r.data from records r
where r.rid >= ? and r.rid < ? and r.data is not null and not exists(select 1 from meanings m where m.rid = r.rid)
order by r.rid desc limit ?
"""
_LIVE = "select live from streams where sid = ?"
_INDEXED = "select count(*) from meanings where rid >= ? and rid < ?"
_SIZES = "select count(*), coalesce(sum(length(passages)), 0) from meanings"
_BLOCK_BYTES = "select coalesce(sum(length(lines)), 0) from meaning_blocks"
_RIDS = "select rid from meanings"
_ALL_BLOCKS = "select block, lines from meaning_blocks"
_ORPHANS = """
select m.rid from meanings m where not exists(select 1 from records r where r.rid = m.rid and r.data is not null)
"""
_VERSIONS = "select rid, version from records where rid in {rids} and data is not null"


class Waiting(NamedTuple):
    """A record whose meaning is not indexed yet, as it was when it was read."""

    rid: int
    version: int
    texts: tuple[tuple[str, str], ...]  # field and text


class MeantRecord(NamedTuple):
    """What is kept of one: its passages, and what its block says of it."""

    rid: int
    version: int
    passages: bytes
    lines: bytes


class Extent(NamedTuple):
    """How far the index is: records whose meaning it has, those that wait, and its bytes."""

    records: int
    waiting: int
    size: int


class MeantStream(NamedTuple):
    sid: int
    fields: tuple[str, ...]


def clock(session: Session) -> int:
    """Counts every change of a record."""
    return session.one(_CLOCK)


def meant_streams(reading: Reading) -> list[MeantStream]:
    """The streams that declare in which fields their meaning is."""
    found: list[MeantStream] = []
    for connection in reading.layout.connections.values():
        declared = reading.layouts.declaration(reading, connection.declaration).streams
        places = connection.streams.items()
        told = [(place.sid, declared[name].semantic_fields) for name, place in places if name in declared]
        found += [MeantStream(sid, fields) for sid, fields in told if fields]
    return found


def waiting(reading: Reading, stream: MeantStream, below: int | None = None) -> list[Waiting]:
    """The next ones, newest first: those of a smaller rid."""
    low, high = first_rid(stream.sid), first_rid(stream.sid + 1)
    rows = reading.rows(_WAITING, (low, high if below is None else below, BATCH_RECORDS))
    return [Waiting(rid, version, tuple(_texts(stream, orjson.loads(data)))) for rid, version, data in rows]


def _texts(stream: MeantStream, data: dict[str, object]) -> Iterator[tuple[str, str]]:
    for name in stream.fields:
        if isinstance(text := data.get(name), str):
            yield name, text


def keep(writing: Writing, model: str, dimensions: int, made: Sequence[MeantRecord]) -> int:
    """Keep what was made of records that are still as they were; how many that is."""
    writing.meanings.begin(model)
    rids = orjson.dumps([record.rid for record in made]).decode()
    now = dict(writing.rows(_VERSIONS.format(rids=writing.numbers("rids")), {"rids": rids}))
    same = [record for record in made if now.get(record.rid) == record.version]
    writing.meanings.put(dimensions, [(record.rid, record.passages, record.lines) for record in same])
    return len(same)


def differing_meanings(reading: Reading) -> int:
    """Of how many records the index says one thing here and another there, or which are none."""
    kept = {rid for (rid,) in reading.rows(_RIDS)}
    listed = {(block << BLOCK_BITS) + place for block, lines in reading.rows(_ALL_BLOCKS) for place in places(lines)}
    orphans = {rid for (rid,) in reading.rows(_ORPHANS)}
    return len((kept ^ listed) | orphans)


def extent(reading: Reading, model: str | None) -> Extent:
    """By that model: what another has made is worth nothing."""
    streams = meant_streams(reading)
    live = sum(reading.one(_LIVE, (stream.sid,)) for stream in streams)
    if model is None or reading.meanings.model() != model:
        return Extent(0, live, 0)
    indexed = sum(reading.one(_INDEXED, (first_rid(s.sid), first_rid(s.sid + 1))) for s in streams)
    _, size = reading.one(_SIZES)
    return Extent(indexed, live - indexed, size + reading.one(_BLOCK_BYTES))
