"""The index of the disclosure log, derived from its segments."""

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import cast

import apsw
import orjson

from pdpp_server.evidence.activity import PREVIEW_CLIENT
from pdpp_server.model.activity import ClientDay, Day, Disclosure, Segment
from pdpp_server.model.times import instant, iso_micros
from pdpp_server.store.engines.sqlite.session import SqliteSession
from pdpp_server.store.log import NO_LINE, LogLine, disclosure_of, read_segment, segment_paths

BUSY_MILLISECONDS = 10_000
BATCH_LINES = 2_000  # one transaction: long enough to be fast, short enough for others to wait

_PRAGMAS = """
pragma journal_mode = wal;
pragma synchronous = normal;
pragma trusted_schema = off;
"""

# `read_to` is the offset up to which a segment was read; `n` and `digest` are those of the last line that continued its
# chain, so that verification can tell what a segment has lost since.
# `names` lists each disclosure under everything that it can be asked by: its request, client, grants and records.
_SCHEMA = """
create table if not exists segments(
    segment integer primary key,
    id text not null unique,
    read_to integer not null,
    n integer not null,
    digest text not null
);
create table if not exists disclosures(
    disclosure integer primary key,
    segment integer not null references segments,
    n integer not null,
    at text not null,
    records integer not null,
    line blob not null,
    unique(segment, n)
);
create index if not exists disclosures_by_time on disclosures(at);
create index if not exists disclosures_by_day on disclosures(substr(at, 1, 10), records);
create table if not exists names(
    kind text not null,
    name text not null,
    at text not null,
    disclosure integer not null references disclosures,
    records integer not null,
    primary key(kind, name, at, disclosure)
) without rowid;
"""

_INTEGRITY = "pragma integrity_check(20)"
_READ_TO = "select id, read_to from segments"
_SEEN = "select id, n, digest from segments where n >= 0 order by id"
_ADD_SEGMENT = """
insert into segments(id, read_to, n, digest) values(:id, 0, -1, :digest) on conflict do nothing
"""
_SEGMENT = "select segment, read_to, n, digest from segments where id = :id"
_ADVANCE = "update segments set read_to = :read_to, n = :n, digest = :digest where segment = :segment"
_ADD_DISCLOSURE = """
insert into disclosures(segment, n, at, records, line) values(:segment, :n, :at, :records, :line)
on conflict do nothing returning disclosure
"""
_ADD_NAME = """
insert into names(kind, name, at, disclosure, records) values(:kind, :name, :at, :disclosure, :records)
on conflict do nothing
"""

_RECENT = """
select d.line from disclosures d join segments s using (segment)
where d.at >= :since
    and (:until = '' or d.at < :until)
    and (:connection is null or exists (
        select 1 from json_each(cast(d.line as text), '$.connections') each where each.value = :connection))
    and (:own is null or :own = (
        cast(d.line as text) ->> '$.token_kind' = 'owner'
        or coalesce(cast(d.line as text) ->> '$.client_id', '') = :preview_client))
order by d.at desc, s.id desc, d.n desc limit :limit
"""
_RECENT_NAMED = """
select d.line from names k cross join disclosures d using (disclosure) join segments s using (segment)
where k.kind = :kind and k.name = :name and k.at >= :since and not exists (
    select 1 from json_each(:others) other where not exists (
        select 1 from names o
        where o.kind = other.key and o.name = other.value and o.at = k.at and o.disclosure = k.disclosure
    )
)
    and (:until = '' or d.at < :until)
    and (:connection is null or exists (
        select 1 from json_each(cast(d.line as text), '$.connections') each where each.value = :connection))
    and (:own is null or :own = (
        cast(d.line as text) ->> '$.token_kind' = 'owner'
        or coalesce(cast(d.line as text) ->> '$.client_id', '') = :preview_client))
order by k.at desc, s.id desc, d.n desc limit :limit
"""
_PER_DAY = """
select substr(at, 1, 10) as day, count(*), sum(records) from disclosures group by day order by day desc
"""
_PER_DAY_OF_GRANT = """
select substr(at, 1, 10) as day, count(*), sum(records) from names
where kind = 'grant' and name = :grant_id group by day order by day desc
"""

_PER_CLIENT_DAY = """
select substr(at, 1, 10) as day, name, count(*), sum(records) from names
where kind = 'client' and at >= :since group by day, name order by day desc, name
"""
_FIRST_READS = "select name, min(at) from names where kind = 'client' group by name"


class ActivityIndex(SqliteSession):
    """The opened index."""

    def close(self) -> None:
        self.connection.close()


def open_index(path: Path) -> ActivityIndex:
    """Open or create `activity.sqlite`, readable by its owner only."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    index = ActivityIndex(apsw.Connection(str(path)))
    index.connection.set_busy_timeout(
        BUSY_MILLISECONDS
    )  # before the first statement: even opening a WAL may have to wait
    index.connection.execute(_PRAGMAS).fetchall()  # a row that nobody fetches would stop before the next pragma
    with _transaction(index):
        index.connection.execute(_SCHEMA)
    return index


def catch_up(index: ActivityIndex, directory: Path) -> None:
    """Read what the segments gained since the last time; safe to repeat, and in several processes at once.

    A line that breaks its chain is listed too: what is wrong with it is for verification to say.
    """
    read_to = dict(cast("list[tuple[str, int]]", index.connection.execute(_READ_TO).fetchall()))
    for path in segment_paths(directory):
        if path.stat().st_size > read_to.get(path.stem, 0):
            while _read_batch(index, path):
                pass


def seen(index: ActivityIndex) -> list[Segment]:
    """How far each segment was intact when it was read: what verification compares it with."""
    return [Segment(*row) for row in cast("list[tuple[str, int, str]]", index.connection.execute(_SEEN).fetchall())]


def recent(
    index: ActivityIndex,
    *,
    grant_id: str | None = None,
    client_id: str | None = None,
    request_id: str | None = None,
    record: str | None = None,
    connection_id: str | None = None,
    since: str | None = None,
    until: str | None = None,
    own: bool | None = None,
    limit: int = 50,
) -> list[Disclosure]:
    """The newest disclosures first, narrowed by everything that is given. `own` are the owner's own looks."""
    asked = {"request": request_id, "record": record, "grant": grant_id, "client": client_id}  # rarest name first
    others = {kind: name for kind, name in asked.items() if name is not None}
    bindings: dict[str, str | int | None] = {"since": _utc(since), "until": _utc(until), "limit": limit}
    bindings |= {"connection": connection_id, "own": own, "preview_client": PREVIEW_CLIENT}
    if others:
        kind = next(iter(others))
        named = {"kind": kind, "name": others.pop(kind), "others": orjson.dumps(others).decode()}
        rows = index.connection.execute(_RECENT_NAMED, bindings | named).fetchall()
    else:
        rows = index.connection.execute(_RECENT, bindings).fetchall()
    found = (disclosure_of(orjson.loads(line)) for (line,) in cast("list[tuple[bytes]]", rows))
    return [disclosure for disclosure in found if disclosure]


def per_day(index: ActivityIndex, grant_id: str | None = None) -> list[Day]:
    """How many reads and records each day, newest day first; a read under several grants counts for each of them."""
    rows = index.rows(_PER_DAY) if grant_id is None else index.rows(_PER_DAY_OF_GRANT, {"grant_id": grant_id})
    return [Day(*row) for row in cast("list[tuple[str, int, int]]", rows)]


def per_client_day(index: ActivityIndex, since: str) -> list[ClientDay]:
    """How many reads and records each client each day, newest day first."""
    rows = index.rows(_PER_CLIENT_DAY, {"since": _utc(since)})
    return [ClientDay(*row) for row in cast("list[tuple[str, str, int, int]]", rows)]


def first_reads(index: ActivityIndex) -> dict[str, str]:
    """When each client read for the first time."""
    return dict(cast("list[tuple[str, str]]", index.rows(_FIRST_READS)))


def seen_of_log(path: Path) -> list[Segment]:
    """What the index of the disclosure log remembers; nothing where it cannot be read, which is its own fault."""
    if not path.exists():
        return []
    try:
        index = open_index(path)
        try:
            return seen(index)
        finally:
            index.close()
    except apsw.Error:
        return []


def trouble(path: Path, directory: Path) -> str | None:
    """What keeps the index of the disclosure log from being read and brought up to date."""
    try:
        index = open_index(path)
        try:
            catch_up(index, directory)
            found: str = index.one(_INTEGRITY)
        finally:
            index.close()
    except apsw.Error as error:
        return str(error)
    return None if found == "ok" else found


def _utc(since: str | None) -> str:
    """The time in the form in which lines hold it, so that they compare as text; no time is before every time."""
    if since is None:
        return ""
    micros = instant(since)
    if micros is None:
        raise ValueError("`since` names no time.")
    return iso_micros(micros)


def _read_batch(index: ActivityIndex, path: Path) -> bool:
    """Read a batch of whole lines; says whether there may be more."""
    with _transaction(index):
        index.connection.execute(_ADD_SEGMENT, {"id": path.stem, "digest": NO_LINE})
        (row,) = index.connection.execute(_SEGMENT, {"id": path.stem}).fetchall()
        segment, start, n, digest = cast("tuple[int, int, int, str]", row)
        read_to = start
        for line in islice(read_segment(path, start), BATCH_LINES):
            if not line.is_whole:
                break
            read_to = line.end
            _add(index, segment, line)
            if line.n == n + 1 and line.prev == digest:
                n, digest = line.n, line.digest
        index.connection.execute(_ADVANCE, {"segment": segment, "read_to": read_to, "n": n, "digest": digest})
    return read_to > start


def _add(index: ActivityIndex, segment: int, line: LogLine) -> None:
    disclosure = disclosure_of(line.content)
    if disclosure is None:
        return
    shared = {"at": disclosure.at, "records": len(disclosure.records)}
    row = index.connection.execute(
        _ADD_DISCLOSURE, {"segment": segment, "n": line.n, "line": line.raw} | shared
    ).fetchall()
    for (added,) in row:  # none where the line had been read before
        names = [{"kind": kind, "name": name, "disclosure": added} | shared for kind, name in _names(disclosure)]
        index.connection.executemany(_ADD_NAME, names)


def _names(disclosure: Disclosure) -> Iterator[tuple[str, str]]:
    yield "request", disclosure.request_id
    if disclosure.client_id is not None:
        yield "client", disclosure.client_id
    for grant_id in disclosure.grant_ids:
        yield "grant", grant_id
    for record in disclosure.records:
        yield "record", record


@contextmanager
def _transaction(index: ActivityIndex) -> Generator[None, None, None]:
    index.connection.execute("begin immediate")
    try:
        yield
    except BaseException:
        if index.connection.in_transaction:
            index.connection.execute("rollback")
        raise
    index.connection.execute("commit")
