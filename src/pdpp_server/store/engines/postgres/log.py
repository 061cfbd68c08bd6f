"""The disclosure log as rows: a chain for each process, each line committed before its answer leaves."""

import errno
import os
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from threading import Lock
from typing import Any, Unpack

import orjson
import psycopg
from psycopg.errors import NotNullViolation

from pdpp_server.errors import DatabaseUnavailable, DisclosureLogUnavailable, ServerTrouble
from pdpp_server.model.activity import ClientQuarter, Day, Disclosure, Segment, Verdict
from pdpp_server.store.activity import ActivityAsked
from pdpp_server.store.engines.logged import LoggedTables, forget_segment, names_of
from pdpp_server.store.engines.postgres.aside import Aside
from pdpp_server.store.log import (
    ALL,
    LINE_BYTES_MAX,
    NO_OTHERS,
    Chain,
    LogLine,
    Others,
    ReadLines,
    disclosure_of,
    log_line,
    nothing_to_do,
    others_known,
    segment_id,
    verify_segments,
)
from pdpp_server.store.session import Session, Statement

_START = "insert into segments(id, header) values(:id, :header)"
_APPEND = """
with added as (
    insert into disclosures(segment, n, at, records, line)
    values((select segment from segments where id = ?), ?, ?, ?, ?) returning at, disclosure, records)
insert into names(kind, name, at, disclosure, records)
    select told.kind, told.name, added.at, added.disclosure, added.records from added, {names} told(kind, name)
"""
FEW_NAMES = 8  # of most lines; more than that are not worth a statement for each number of them
_APPEND_FEW = {n: _APPEND.format(names=f"(values {', '.join(['(?, ?)'] * n)})") for n in range(1, FEW_NAMES + 1)}
_APPEND_MANY = _APPEND.format(names="(select name ->> 0, name ->> 1 from json_array_elements((?)::json) name)")
_SEGMENTS = "select segment, id from segments order by id"
_HEADER = "select header from segments where segment = ?"
_SEGMENT = "select segment from segments where id = ?"
_NEWEST = "select max(id) from segments"
_ENDS = """
select s.id, coalesce(
    (select d.line from disclosures d where d.segment = s.segment order by d.n desc limit 1), s.header)
from (select * from segments where id >= :since and id < :until order by id desc limit :last) s order by s.id
"""
_CAN_WRITE = "show transaction_read_only"
_TRY, _TAKE_BACK = "savepoint tried", "rollback to savepoint tried"
_TRIED = "tried"
_TRIED_LINE = (_TRIED, 1, "", 1, "-" * 1800, '[["tried", ""]]')
_LINES = "select line from disclosures where segment = ? order by n"


Names = Collection[tuple[str, str]]  # kind and name, once each


class PostgresLog:
    """Appends to this process's own chain."""

    def __init__(self, aside: Aside) -> None:
        self._aside, self._lock = aside, Lock()
        self._chain: Chain | None = None
        self._is_certain = False  # whether the chain ends in the database where it ends here
        self._begun_by = 0
        self.on_new_day: Callable[[str], None] = nothing_to_do

    def append(self, disclosure: Disclosure) -> None:
        with self._lock:
            try:
                others = self._append(disclosure)
            except BaseException as error:
                self._is_certain = False
                if isinstance(error, DatabaseUnavailable | OSError):
                    raise _refused(error) from error
                raise
        if others.closes:
            self.on_new_day(disclosure.at)

    def can_append(self) -> bool:
        """A database that takes writes may still lack room or rights for a line. Who lost one tries one, and takes it
        back."""
        try:
            with self._aside.writing() as writing:
                if self._aside.is_in_doubt:
                    writing.run(_TRY)
                    writing.run(_START, {"id": _TRIED, "header": ""})
                    writing.run(_APPEND_MANY, _TRIED_LINE)
                    writing.run(_TAKE_BACK)
                    self._aside.trust()
                return writing.one(_CAN_WRITE) == "off"
        except (ServerTrouble, psycopg.Error):
            return False

    def close(self) -> None:
        """With the database, whose connections it uses."""

    def _append(self, disclosure: Disclosure) -> Others:
        """What was said of other segments with it."""
        before = self._chain if self._begun_by == os.getpid() else None
        said: list[Statement] = []
        others = NO_OTHERS
        if before is not None and self._is_certain and not before.is_of_before(disclosure.at):
            chain = before
        else:
            chain = Chain(segment_id(disclosure.at))
            with self._aside.writing() as writing:
                others = others_known(disclosure.at, PostgresEnds(writing))
            header = chain.header(disclosure.at, before.seen if before else None, others)
            said.append((_START, {"id": chain.id, "header": header.decode()}))
            chain.acknowledge(header)
        line = chain.line(disclosure)
        if len(line) > LINE_BYTES_MAX:
            raise OSError(errno.EMSGSIZE, "The line is longer than any reader would read.")
        try:
            self._aside.write(*said, _appending(chain.id, chain.n + 1, line, disclosure))
        except NotNullViolation as error:
            raise OSError(errno.ESTALE, "The segment was removed by somebody else.") from error
        chain.acknowledge(line)
        self._chain = chain
        self._is_certain = True
        self._begun_by = os.getpid()
        return others


class PostgresEnds:
    """Where segments end, in one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def newest(self) -> str | None:
        return self._session.one(_NEWEST)

    def ends(self, since: str, until: str, last: int = ALL) -> dict[str, LogLine]:
        rows = self._session.rows(_ENDS, {"since": since, "until": until, "last": last})
        return {id: log_line(line.encode()) for id, line in rows}


class PostgresActivity:
    """The log as its owner asks it: the tables that it is written to."""

    def __init__(self, aside: Aside, reading: Callable[[], AbstractContextManager[Session]]) -> None:
        self._aside, self._reading = aside, reading

    def recent(self, *, limit: int = 50, **asked: Unpack[ActivityAsked]) -> list[Disclosure]:
        with self._reading() as reading:
            return _logged(reading).recent(**asked, limit=limit)

    def per_day(self, grant_id: str | None = None) -> list[Day]:
        with self._reading() as reading:
            return _logged(reading).per_day(grant_id)

    def per_client_quarter(self, since: str) -> list[ClientQuarter]:
        with self._reading() as reading:
            return _logged(reading).per_client_quarter(since)

    def first_reads(self) -> dict[str, str]:
        with self._reading() as reading:
            return _logged(reading).first_reads()

    @contextmanager
    def segments(self) -> Generator[Mapping[str, ReadLines], None, None]:
        with self._reading() as reading:
            yield {id: partial(_lines, reading, number) for number, id in reading.rows(_SEGMENTS)}

    def take(self, id: str, lines: Sequence[LogLine]) -> None:
        header, *others = lines
        with self._aside.writing() as writing:
            if writing.one(_SEGMENT, (id,)) is None:
                writing.run(_START, {"id": id, "header": header.raw.decode()})
                rows = [_row(id, n, line.raw, _told(line)) for n, line in enumerate(others, start=1)]
                writing.run_many(_APPEND_MANY, [(*row, _listed(names)) for row, names in rows])

    def newest(self) -> str | None:
        with self._reading() as reading:
            return PostgresEnds(reading).newest()

    def ends(self, since: str, until: str, last: int = ALL) -> dict[str, LogLine]:
        with self._reading() as reading:
            return PostgresEnds(reading).ends(since, until, last)

    def remove(self, ids: Iterable[str]) -> None:
        with self._aside.writing() as writing:
            for id in ids:
                for (segment,) in writing.rows(_SEGMENT, (id,)):
                    forget_segment(writing, segment)

    def verify(self, seen: Iterable[Segment] = ()) -> list[Verdict]:
        with self.segments() as segments:
            return verify_segments(segments, seen)


def _appending(id: str, n: int, line: bytes, disclosure: Disclosure) -> Statement:
    row, names = _row(id, n, line, disclosure)
    if len(names) > FEW_NAMES:
        return _APPEND_MANY, (*row, _listed(names))
    return _APPEND_FEW[len(names)], (*row, *[part for name in names for part in name])


def _row(id: str, n: int, line: bytes, disclosure: Disclosure) -> tuple[tuple[Any, ...], Names]:
    """A line of a segment, and everything that it can be asked by."""
    row = (id, n, disclosure.at, len(disclosure.records), line.decode())
    return row, dict.fromkeys(names_of(disclosure))


def _listed(names: Names) -> str:
    return orjson.dumps([*names]).decode()


def _refused(error: DatabaseUnavailable | OSError) -> DisclosureLogUnavailable:
    is_known = isinstance(error, DatabaseUnavailable)
    why, remedy = (error.message, error.remedy) if is_known else (str(error.strerror), None)
    refusal = DisclosureLogUnavailable(
        f"The disclosure log cannot be written, so nothing is read. {why}", remedy=remedy
    )
    if is_known:
        refusal.retry_after_seconds = error.retry_after_seconds
    return refusal


def _told(line: LogLine) -> Disclosure:
    disclosure = disclosure_of(line.content)
    if disclosure is None:
        raise ServerTrouble(
            "A line of the log is none that this server wrote, and a database keeps no other.",
            remedy="`pdpp activity verify` names its segment: keep that file elsewhere, take it out, and try again.",
        )
    return disclosure


def _logged(reading: Session) -> LoggedTables:
    return LoggedTables(reading, "cast(d.line as json)")


def _lines(reading: Session, segment: int) -> Iterator[LogLine]:
    """Who asks for the first alone has not asked for the others."""
    yield log_line(reading.one(_HEADER, (segment,)).encode())
    for (line,) in reading.rows(_LINES, (segment,)):
        yield log_line(line.encode())
