"""Everything durable of an owner from one engine to another: copied in batches, then compared, row by row."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import Any, NamedTuple

import orjson

from pdpp_server.errors import ServerTrouble
from pdpp_server.store.blob_files import LostBlob
from pdpp_server.store.engine import Database, Writing
from pdpp_server.store.layout import LayoutCache
from pdpp_server.store.log import LogLine, ReadLines
from pdpp_server.store.records.blobs import stored_blobs
from pdpp_server.store.records.ingest import Desk, desks, index_records
from pdpp_server.store.session import Session

BATCH_ROWS = 2000
_ALL = 2**62

_COUNT = "select count(*) from {name}"
_ROWS = "select {columns} from {name} {order} limit ? offset ?"
_ADD = "insert into {name}({columns}) values({marks}) on conflict do nothing"
_CLOCKS = "select layout.generation, clock.version from layout, clock"
_SET_LAYOUT = "update layout set generation = ?"
_SET_CLOCK = "update clock set version = ?"
_RECORDS, _WITH_RECORDS = "records", "blob_refs"  # the second comes with the first, for what is declared

Heard = Callable[[int], None]  # so many rows more are done


class MoveDiffers(ServerTrouble):
    """What arrived is not what was sent."""


class PlainTable(NamedTuple):
    """A table that is copied as it is: the same on every engine. `order` is by what identifies a row."""

    name: str
    columns: tuple[str, ...]
    order: str

    def rows(self, session: Session, *, after: int = 0) -> Iterator[tuple[Any, ...]]:
        order = f"order by {self.order}" if self.order else ""
        asked = _ROWS.format(columns=", ".join(self.columns), name=self.name, order=order)
        return session.stream(asked, (_ALL, after))

    def count(self, session: Session) -> int:
        return session.one(_COUNT.format(name=self.name))

    def add(self, writing: Writing, rows: Sequence[tuple[Any, ...]]) -> None:
        marks = ", ".join("?" for _ in self.columns)
        writing.run_many(_ADD.format(name=self.name, columns=", ".join(self.columns), marks=marks), rows)


class Moved(NamedTuple):
    """How much there is, and which attached files had been lost before."""

    rows: dict[str, int]
    lines: int
    lost_blobs: tuple[str, ...]


class Moving:
    """One move. `still` is a transaction of the source in which nobody else writes to it."""

    def __init__(self, source: Database, still: Writing, target: Database, tables: Sequence[PlainTable]) -> None:
        self._source, self._still, self._target, self._tables = source, still, target, tables
        self.total = 2 * sum(table.count(still) for table in tables)

    def is_begun(self) -> bool:
        """Whether the target holds anything. Keys do not count: a server that was started there has made some."""
        with self._target.reading() as there, self._target.activity.segments() as segments:
            return bool(segments) or any(table.count(there) for table in self._tables)

    def copy(self, heard: Heard) -> tuple[str, ...]:
        """What is not there yet; which attached files have no bytes to copy."""
        lost = self._copy_blobs()
        for table in self._tables:
            self._copy_table(table, heard)
        self._copy_keys()
        self._copy_log()
        with self._target.writing() as writing:
            generation, version = self._still.one(_CLOCKS)
            writing.run(_SET_LAYOUT, (generation,))
            writing.run(_SET_CLOCK, (version,))
            writing.count_on(self._still.counted())
        return lost

    def compare(self, heard: Heard) -> Moved:
        """Every row, every line, every key, every byte.

        Raises:
            MoveDiffers: it names the first that differs.
        """
        with self._target.reading() as there:
            if self._still.one(_CLOCKS) != there.one(_CLOCKS):
                raise _differing("the clock of changes")
            rows = {table.name: self._compare_table(table, there, heard) for table in self._tables}
        lost = self._compare_blobs()
        self._compare_keys()
        return Moved(rows, self._compare_logs(), lost)

    # tables

    def _copy_table(self, table: PlainTable, heard: Heard) -> None:
        """Batches come in order and whole, so the number of rows there says where to go on."""
        done = 0
        if table.name != _WITH_RECORDS:
            with self._target.reading() as there:
                done = table.count(there)
        heard(done)
        indexing = _Indexing() if table.name == _RECORDS else None
        rows = table.rows(self._still, after=done)
        while batch := list(islice(rows, BATCH_ROWS)):
            with self._target.writing() as writing:
                table.add(writing, batch)
                if indexing:
                    indexing.index(writing, [dict(zip(table.columns, row, strict=True)) for row in batch])
            heard(len(batch))

    def _compare_table(self, table: PlainTable, there: Session, heard: Heard) -> int:
        number = 0
        for number, (sent, arrived) in enumerate(zip_longest(table.rows(self._still), table.rows(there)), start=1):
            if sent is None or arrived is None or tuple(sent) != tuple(arrived):
                raise _differing(f"row {number} of {table.name}")
            if number % BATCH_ROWS == 0:
                heard(BATCH_ROWS)
        heard(number % BATCH_ROWS)
        return number

    # blobs

    def _copy_blobs(self) -> tuple[str, ...]:
        lost: list[str] = []
        for blob in stored_blobs(self._still):
            with self._target.reading() as there:
                if self._target.blobs.is_whole(there, blob):
                    continue
            try:
                data = self._source.blobs.open(self._still, blob)
            except LostBlob:
                lost.append(blob.blob_id)
                continue
            with data, self._target.blobs.draft(data) as draft:
                if draft.sha256 != blob.sha256:
                    lost.append(blob.blob_id)
                    continue
                with self._target.writing() as writing:
                    self._target.blobs.place(writing, draft)
        return tuple(lost)

    def _compare_blobs(self) -> tuple[str, ...]:
        """Bytes are placed by their digest: those that are there are the right ones, where all are there."""
        with self._target.reading() as there:
            missing = [b for b in stored_blobs(self._still) if not self._target.blobs.is_whole(there, b)]
        return tuple(blob.blob_id for blob in missing)

    # keys, and what they seal

    def _copy_keys(self) -> None:
        for name in self._source.keys.names():
            key = self._source.keys.find(name)
            if key is not None:
                self._target.keys.put(name, key)
        for ask in self._source.asked.every():
            self._target.asked.keep(ask)

    def _compare_keys(self) -> None:
        for name in self._source.keys.names():
            if self._source.keys.find(name) != self._target.keys.find(name):
                raise _differing(f"the key {name}")
        if sorted(self._source.asked.every()) != sorted(self._target.asked.every()):
            raise _differing("what was asked")

    # the log

    def _copy_log(self) -> None:
        with self._source.activity.segments() as segments:
            for id, lines in segments.items():
                if whole := _whole(lines):
                    self._target.activity.take(id, whole)

    def _compare_logs(self) -> int:
        number = 0
        with self._source.activity.segments() as sent, self._target.activity.segments() as arrived:
            for id, lines in sent.items():
                whole = [line.raw for line in _whole(lines)]
                if whole and (id not in arrived or whole != [line.raw for line in arrived[id]()]):
                    raise _differing(f"segment {id} of the log")
                number += len(whole)
            if surplus := arrived.keys() - sent.keys():
                raise _differing(f"segment {min(surplus)} of the log")
        return number


class _Indexing:
    """Makes records findable in the transaction that brings them; connections and streams are there by then."""

    def __init__(self) -> None:
        self._desks: dict[int, Desk] | None = None

    def index(self, writing: Writing, records: Iterable[dict[str, Any]]) -> None:
        if self._desks is None:
            self._desks = _desks(writing)
        by_stream: dict[int, list[tuple[int, str, Any]]] = {}
        for record in records:
            if record["data"] is not None:
                found = (record["rid"], record["key"], orjson.loads(record["data"]))
                by_stream.setdefault(record["sid"], []).append(found)
        for sid, found in by_stream.items():
            if desk := self._desks.get(sid):
                index_records(writing, desk, found)


def _desks(writing: Writing) -> dict[int, Desk]:
    layouts = LayoutCache()
    every = [
        desk
        for connection in layouts.of(writing).connections.values()
        for desk in desks(layouts.declaration(writing, connection.declaration), connection).values()
    ]
    return {desk.place.sid: desk for desk in every}


def _whole(lines: ReadLines) -> list[LogLine]:
    """Without a last line that is half: its process died before that answer left."""
    return [line for line in lines() if line.is_whole]


def _differing(what: str) -> MoveDiffers:
    return MoveDiffers(
        f"Here and there differ: {what}.",
        remedy="Somebody may have written meanwhile: end every server, and try again.",
    )
