"""The index of the disclosure log, derived from its segments."""

import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Unpack, cast

import apsw

from pdpp_server.model.activity import ClientQuarter, Day, Disclosure, Segment, Verdict
from pdpp_server.store.activity import ActivityAsked
from pdpp_server.store.engines.logged import ADD_NAME, LoggedTables, forget_segment, names_of
from pdpp_server.store.engines.sqlite.session import SqliteChanging
from pdpp_server.store.files import written_whole
from pdpp_server.store.log import (
    NO_LINE,
    LogLine,
    ReadLines,
    SegmentFolder,
    disclosure_of,
    read_segment,
    segment_paths,
    segments_in,
    verify,
)

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


class ActivityIndex(SqliteChanging):
    """The opened index."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self.logged = LoggedTables(self, "cast(d.line as text)")

    def close(self) -> None:
        self.connection.close()


class SqliteActivity(SegmentFolder):
    """The log of a home: asked by its index, which is brought up to date first."""

    def __init__(self, home: Path) -> None:
        super().__init__(home / "activity")
        self._index = home / "activity.sqlite"

    def recent(self, *, limit: int = 50, **asked: Unpack[ActivityAsked]) -> list[Disclosure]:
        with self._logged() as logged:
            return logged.recent(**asked, limit=limit)

    def per_day(self, grant_id: str | None = None) -> list[Day]:
        with self._logged() as logged:
            return logged.per_day(grant_id)

    def per_client_quarter(self, since: str) -> list[ClientQuarter]:
        with self._logged() as logged:
            return logged.per_client_quarter(since)

    def first_reads(self) -> dict[str, str]:
        with self._logged() as logged:
            return logged.first_reads()

    def verify(self, seen: Iterable[Segment] = ()) -> list[Verdict]:
        """Before the index is brought up to date: it is a witness of how far each segment was intact."""
        with closing(open_index(self._index)) as index:
            verdicts = verify(self._directory, [*seen_by(index), *seen])
            catch_up(index, self._directory)
        return verdicts

    @contextmanager
    def segments(self) -> Generator[Mapping[str, ReadLines], None, None]:
        yield segments_in(self._directory)

    def take(self, id: str, lines: Sequence[LogLine]) -> None:
        path = self._directory / f"{id}.jsonl"
        if not path.exists():
            with written_whole(path) as file:
                file.writelines(line.raw for line in lines)

    def remove(self, ids: Iterable[str]) -> None:
        """Forgotten twice: a process that caught up in between has listed the file again."""
        paths = [self._directory / f"{id}.jsonl" for id in ids]
        with closing(open_index(self._index)) as index:
            _forget(index, paths)
            for path in paths:
                path.unlink(missing_ok=True)
            _forget(index, paths)

    @contextmanager
    def _logged(self) -> Generator[LoggedTables, None, None]:
        with closing(open_index(self._index)) as index:
            catch_up(index, self._directory)
            yield index.logged


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
        with suppress(FileNotFoundError):  # let go meanwhile
            if path.stat().st_size > read_to.get(path.stem, 0):
                while _read_batch(index, path):
                    pass


def seen_by(index: ActivityIndex) -> list[Segment]:
    """How far each segment was intact when it was read: what verification compares it with."""
    return [Segment(*row) for row in cast("list[tuple[str, int, str]]", index.connection.execute(_SEEN).fetchall())]


def seen_of_log(path: Path) -> list[Segment]:
    """What the index of the disclosure log remembers; nothing where it cannot be read, which is its own fault."""
    if not path.exists():
        return []
    try:
        index = open_index(path)
        try:
            return seen_by(index)
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
        names = [{"kind": kind, "name": name, "disclosure": added} | shared for kind, name in names_of(disclosure)]
        index.connection.executemany(ADD_NAME, names)


def _forget(index: ActivityIndex, paths: Iterable[Path]) -> None:
    for path in paths:
        with _transaction(index):
            for segment, *_ in index.rows(_SEGMENT, {"id": path.stem}):
                forget_segment(index, segment)


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
