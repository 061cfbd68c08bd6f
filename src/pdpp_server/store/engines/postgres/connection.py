"""A connection on which several questions are asked at once; each is planned there the first time it is asked.

A cursor of psycopg sends each statement by itself, and finds out anew what stands in it. A read asks the same few
questions again and again: here they go to libpq in one message, and their answers are heard together.
"""

import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import call
from typing import Any, NamedTuple, cast

import psycopg
from psycopg.abc import Buffer, PQGen
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import InvalidSqlStatementName, error_from_result
from psycopg.generators import fetch_many, send
from psycopg.pq import ExecStatus, Format
from psycopg.pq.abc import PGconn, PGresult

PLANS_MAX = 200  # on a connection; whatever else is asked there is planned each time
IS_THERE = b"is_there"  # the column before those of an answer, in a row that holds several
_UNKNOWN, _BYTEA, _INT8 = 0, 17, 20  # types, by their numbers in every database
_FAILED, _END = ExecStatus.FATAL_ERROR, ExecStatus.PIPELINE_SYNC
_UNANSWERED = (_FAILED, ExecStatus.PIPELINE_ABORTED)  # nothing is, after what failed


Planned = tuple[bytes, tuple[int, ...]]  # a statement with `$1`, `$2` and so on, for values of these types


SentQuestion = tuple[Planned, Sequence[Buffer | None], Sequence[int]]  # as it is sent: with values, and their formats


class PostgresConnection(psycopg.Connection[tuple[Any, ...]]):
    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._plans: dict[Planned, bytes] = {}  # and their names
        self._names_given = 0
        self._places: dict[Planned, list[tuple[int, int]]] = {}
        self._loading = Transformer(self)

    def ask(self, *questions: SentQuestion) -> list[list[Any]]:
        """The rows that each of them gives. Where no transaction was begun, they are one.

        Raises:
            psycopg.Error: of the first that failed, after which none is answered; or of the connection.
        """
        return [self._rows(result) for result in self._answered(questions)]

    def tell(self, *questions: SentQuestion) -> None:
        """The same for whoever only wants to know that they are answered."""
        self._answered(questions)

    def ask_joined(self, *questions: SentQuestion) -> list[list[Any]]:
        """The same; the last one was `joined` out of several, and each of those has its rows."""
        *before, result = self._answered(questions)
        (row,) = self._rows(result)
        joined, *_ = questions[-1]
        places = self._places.get(joined)
        if places is None:
            places = self._places[joined] = _places(result)
        found = [self._rows(each) for each in before]
        found += [[row[first:end]] if row[first - 1] else [] for first, end in places]
        return found

    def _answered(self, questions: Sequence[SentQuestion]) -> list[PGresult]:
        try:
            new, heard = self._exchanged(questions)
        except BaseException:  # nobody knows what is still to be heard on it
            self.close()
            raise
        if heard[-1].status in _UNANSWERED:
            raise self._told(next(error_from_result(result) for result in heard if result.status == _FAILED))
        for place, name in new:
            del heard[place]  # it says that there is a plan now
            if name:
                self._plans[questions[place][0]] = name
        return heard

    def _exchanged(self, questions: Sequence[SentQuestion]) -> tuple[list[tuple[int, bytes]], list[PGresult]]:
        """The place and the name of each plan that is new, and everything that was answered."""
        protocol, new = self.pgconn, list[tuple[int, bytes]]()
        protocol.enter_pipeline_mode()
        for place, (planned, values, formats) in enumerate(questions):
            name = self._plans.get(planned)
            if name is None:
                name = self._plan(*planned)
                new.append((place, name))
            protocol.send_query_prepared(name, values, formats)
        protocol.pipeline_sync()
        heard = self.wait(_heard(protocol))
        protocol.exit_pipeline_mode()
        return new, heard

    def _told(self, error: psycopg.Error) -> psycopg.Error:
        """A connection on which somebody has dropped our plans is as good as lost."""
        if not isinstance(error, InvalidSqlStatementName):
            return error
        self.close()
        return psycopg.OperationalError("what was planned on the connection is gone")

    def _plan(self, statement: bytes, types: Sequence[int]) -> bytes:
        """Its name; what is planned without one holds until the next is."""
        name = b""
        if self._names_given < PLANS_MAX:
            self._names_given += 1
            name = b"plan_%d" % self._names_given
        self.pgconn.send_prepare(name, statement, types)
        return name

    def _rows(self, result: PGresult) -> list[Any]:
        found = result.ntuples
        if not found:
            return []
        self._loading.set_pgresult(result)
        return self._loading.load_rows(0, found, tuple)


def _heard(protocol: PGconn) -> PQGen[list[PGresult]]:
    """Send everything that was said, and hear all answers."""
    yield from send(protocol)
    heard: list[PGresult] = []
    while True:
        results = yield from fetch_many(protocol)
        if not results:
            raise psycopg.OperationalError("the connection was lost")
        if results[0].status == _END:
            return heard
        heard += results


def _places(result: PGresult) -> list[tuple[int, int]]:
    """Where the columns of each answer begin and end."""
    names = [result.fname(place) for place in range(result.nfields)]
    begins = [place for place, name in enumerate(names, start=1) if name == IS_THERE]
    return [*zip(begins, [*(begin - 1 for begin in begins[1:]), len(names)], strict=True)]


def question(statement: bytes, values: Sequence[Any]) -> SentQuestion:
    """What `$1`, `$2` and so on stand for is never None, which has no type."""
    form = _form(statement, tuple(map(type, values)))
    if form is None:
        return _any_question(statement, values)
    planned, formats, writers = form
    try:
        return planned, [*map(_written, writers, values)], formats
    except struct.error:  # a number larger than any that is kept
        return _any_question(statement, values)


def question_of_text(statement: bytes, text: bytes) -> SentQuestion:
    """`$1` stands for a text that is written already, and holds no NUL."""
    return (statement, (_UNKNOWN,)), [text], (Format.TEXT,)


def _any_question(statement: bytes, values: Sequence[Any]) -> SentQuestion:
    """The same with values of any kind, as psycopg sends them."""
    writing = Transformer()
    raw = writing.dump_sequence(values, [PyFormat.AUTO] * len(values))
    return (statement, writing.types or ()), raw, writing.formats or ()


_Writer = Callable[[Any], bytes]
_written = cast("Callable[[_Writer, Any], bytes]", call)  # by a loop in C


class _Form(NamedTuple):
    """How values of a few kinds are sent with a statement."""

    planned: Planned
    formats: Sequence[int]
    writers: Sequence[_Writer]


def _text(value: str) -> bytes:
    raw = value.encode()
    if 0 in raw:  # where libpq would end it
        raise psycopg.DataError("a text holds a NUL character")
    return raw


_whole = struct.Struct(">q").pack
# The type of a text is found by where it stands; whether something is true is a number in our tables.
_KINDS: dict[type, tuple[int, int, _Writer]] = {
    str: (_UNKNOWN, Format.TEXT, _text),
    int: (_INT8, Format.BINARY, _whole),
    bool: (_INT8, Format.BINARY, _whole),
    bytes: (_BYTEA, Format.BINARY, bytes),
}


@lru_cache(maxsize=1000)
def _form(statement: bytes, kinds: tuple[type, ...]) -> _Form | None:
    """None where one of them is of another kind."""
    known = [_KINDS[kind] for kind in kinds if kind in _KINDS]
    if len(known) < len(kinds):
        return None
    types, formats, writers = zip(*known, strict=True) if known else ((), (), ())
    return _Form((statement, types), formats, writers)
