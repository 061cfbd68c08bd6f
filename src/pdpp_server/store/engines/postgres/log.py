"""The disclosure log as rows: a chain for each process, each line committed before its answer leaves."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from threading import Lock
from typing import Unpack

import orjson

from pdpp_server.errors import DatabaseUnavailable, DisclosureLogUnavailable, ServerTrouble
from pdpp_server.model.activity import ClientDay, Day, Disclosure, Verdict
from pdpp_server.store.activity import ActivityAsked
from pdpp_server.store.engines.logged import LoggedTables, names_of
from pdpp_server.store.engines.postgres.aside import Aside
from pdpp_server.store.log import LINE_BYTES_MAX, Chain, LogLine, log_line, segment_id, verify_segments
from pdpp_server.store.session import Session, Statement

_START = "insert into segments(id, header) values(:id, :header)"
_APPEND = """
with added as (
    insert into disclosures(segment, n, at, records, line)
    select segment, :n, :at, :records, :line from segments where id = :id returning disclosure)
insert into names(kind, name, at, disclosure, records)
    select distinct name ->> 0, name ->> 1, :at, disclosure, (:records)::bigint
    from added, json_array_elements((:names)::json) name
"""
_SEGMENTS = "select segment, id, header from segments order by id"
_CAN_WRITE = "show transaction_read_only"
_LINES = "select line from disclosures where segment = ? order by n"


class PostgresLog:
    """Appends to this process's own chain."""

    def __init__(self, aside: Aside) -> None:
        self._aside, self._lock = aside, Lock()
        self._chain: Chain | None = None
        self._is_certain = False  # whether the chain ends in the database where it ends here
        self._begun_by = 0

    def append(self, disclosure: Disclosure) -> None:
        with self._lock:
            try:
                self._append(disclosure)
            except BaseException as error:
                self._is_certain = False
                if isinstance(error, DatabaseUnavailable | OSError):
                    raise _refused(error) from error
                raise

    def can_append(self) -> bool:
        try:
            with self._aside.writing() as writing:
                return writing.one(_CAN_WRITE) == "off"
        except ServerTrouble:
            return False

    def close(self) -> None:
        """With the database, whose connections it uses."""

    def _append(self, disclosure: Disclosure) -> None:
        before = self._chain if self._begun_by == os.getpid() else None
        chain = before if before is not None and self._is_certain else Chain(segment_id(disclosure.at))
        header = None if chain is before else chain.header(disclosure.at, before.seen if before else None)
        said: list[Statement] = []
        if header is not None:
            said.append((_START, {"id": chain.id, "header": header.decode()}))
            chain.acknowledge(header)
        line = chain.line(disclosure)
        if len(line) > LINE_BYTES_MAX:
            raise OSError(errno.EMSGSIZE, "The line is longer than any reader would read.")
        names = orjson.dumps([*names_of(disclosure)]).decode()
        shared = {"id": chain.id, "n": chain.n + 1, "at": disclosure.at, "records": len(disclosure.records)}
        self._aside.write(*said, (_APPEND, {**shared, "line": line.decode(), "names": names}))
        chain.acknowledge(line)
        self._chain, self._is_certain, self._begun_by = chain, True, os.getpid()


class PostgresActivity:
    """The log as its owner asks it: the tables that it is written to."""

    def __init__(self, reading: Callable[[], AbstractContextManager[Session]]) -> None:
        self._reading = reading

    def recent(self, *, limit: int = 50, **asked: Unpack[ActivityAsked]) -> list[Disclosure]:
        with self._reading() as reading:
            return _logged(reading).recent(**asked, limit=limit)

    def per_day(self, grant_id: str | None = None) -> list[Day]:
        with self._reading() as reading:
            return _logged(reading).per_day(grant_id)

    def per_client_day(self, since: str) -> list[ClientDay]:
        with self._reading() as reading:
            return _logged(reading).per_client_day(since)

    def first_reads(self) -> dict[str, str]:
        with self._reading() as reading:
            return _logged(reading).first_reads()

    def verify(self) -> list[Verdict]:
        with self._reading() as reading:
            segments = {id: partial(_lines, reading, number, header) for number, id, header in reading.rows(_SEGMENTS)}
            return verify_segments(segments, ())


def _refused(error: DatabaseUnavailable | OSError) -> DisclosureLogUnavailable:
    why, remedy = (
        (error.message, error.remedy) if isinstance(error, DatabaseUnavailable) else (str(error.strerror), None)
    )
    return DisclosureLogUnavailable(f"The disclosure log cannot be written, so nothing is read. {why}", remedy=remedy)


def _logged(reading: Session) -> LoggedTables:
    return LoggedTables(reading, "cast(d.line as json)")


def _lines(reading: Session, segment: int, header: str) -> Iterator[LogLine]:
    yield log_line(header.encode())
    for (line,) in reading.rows(_LINES, (segment,)):
        yield log_line(line.encode())
