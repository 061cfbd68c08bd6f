"""Deliver records to the store of this home, in batches, safely repeatable."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from pdpp_server.model.blobs import Blob
from pdpp_server.model.grants import SUBJECT
from pdpp_server.model.ingest import Finished, Incoming, Receipt, Rejection
from pdpp_server.model.runs import Covered, FoundCollection, Loss, Mark
from pdpp_server.model.sources import Declaration
from pdpp_server.model.times import iso
from pdpp_server.reads.services import Services
from pdpp_server.store.engine import Reading, Write
from pdpp_server.store.layout import Layout, StreamPlace
from pdpp_server.store.records import live, runs, undo
from pdpp_server.store.records.blobs import is_kept, keep_blob
from pdpp_server.store.records.brought import note_still
from pdpp_server.store.records.imports import keep_finished
from pdpp_server.store.records.ingest import Desk, deliver, desks
from pdpp_server.store.records.sources import connect, finish_run, is_untouched
from pdpp_server.store.upkeep.erasure import remove_connection
from pdpp_server.store.upkeep.history import prune
from pdpp_server.store.upkeep.rebuild import rebuild_words

T = TypeVar("T")

NOTHING_DERIVED: Mapping[str, str] = {}
UNDO_DAYS = 90  # for so long what a run removed can be brought back; then it is erased


class Writer:
    """One connection, open for records. Making it declares the source and makes the connection if it is new."""

    def __init__(self, services: Services, declaration: Declaration, name: str) -> None:
        self._services = services
        self.declaration = declaration
        self._layout: Layout | None = None
        self._desks: dict[str, Desk] = {}
        with services.database.writing() as writer:
            connected = connect(writer, declaration, name, subject=SUBJECT, now=self._now())
            self.connection_id, self._is_new, is_stale = connected
            if is_stale:
                rebuild_words(writer)

    def withdraw(self) -> None:
        """A connection that this writer made, and that nothing came into, is none."""
        if not self._is_new:
            return
        with self._services.database.write(self._now()) as write:
            place = write.layout.connections.get(self.connection_id)
            if place is not None and is_untouched(write, place.number):
                remove_connection(write, place)

    def begin_run(self, file: str) -> int:
        """The number of a new run, by which it can be undone."""
        with self._services.database.writing() as writer:
            return runs.begin_run(writer, self.connection_id, file, self._now())

    def open_collection(self, run: int, name: str, fingerprint: str | None) -> Mark:
        with self._services.database.writing() as writer:
            return Mark(run, runs.open_collection(writer, self.connection_id, name, fingerprint))

    def deliver(
        self, batch: Iterable[Incoming], mark: Mark | None = None, still: Iterable[tuple[str, str]] = ()
    ) -> Receipt:
        """One transaction: when this returns, the batch is stored, indexed and survives a crash.

        `still` are stream and key of what the export holds too and does not tell again.
        """
        records = _batch_by_stream(batch)
        with self._services.database.write(self._now()) as write:
            known = self._current_desks(write)
            receipt = self._delivered(write, records, mark)
            if mark is not None:
                for stream, keys in _by_stream(still).items():
                    note_still(write, known[stream].place.sid, mark, keys)
        return receipt

    def _delivered(self, write: Write, batch: Mapping[str, list[Incoming]], mark: Mark | None) -> Receipt:
        known = self._current_desks(write)
        receipt = Receipt()
        for stream, records in batch.items():
            receipt += deliver(write, known[stream], records, self._now(), mark)
        return receipt

    def _item_rows(self, write: Write, items: Mapping[str, Iterable[tuple[str, str]]]) -> list[tuple[str, int, str]]:
        """Which records each item is; one that is none is known all the same."""
        known = self._current_desks(write)
        rows: list[tuple[str, int, str]] = []
        for item, became in items.items():
            rows += [(item, known[stream].place.sid, key) for stream, key in became]
        rows += [(item, 0, "") for item, became in items.items() if not became]
        return rows

    def _removed(
        self, write: Write, gone: Mapping[int, Sequence[str]], mark: Mark, derived: Mapping[str, str] = NOTHING_DERIVED
    ) -> int:
        """How many of these records, by the number of their stream, went."""
        known = {desk.place.sid: desk for desk in self._current_desks(write).values()}
        removed = 0
        for sid, keys in gone.items():
            desk = known[sid]
            removed += runs.remove_keys(write, desk, mark, keys, self._now(), derived.get(desk.stream.name, ""))
        return removed

    def _current_desks(self, write: Write) -> dict[str, Desk]:
        if write.layout is not self._layout:  # a declaration may have changed meanwhile
            place = write.layout.connections[self.connection_id]
            declaration = write.layouts.declaration(write, place.declaration)
            self._layout, self._desks = write.layout, desks(declaration, place)
        return self._desks

    def keep_blob(self, stream: str, key: str, data: bytes | Path, mime_type: str) -> Blob:
        """The bytes that the record of that key refers to, durable; it may be delivered before or after them."""
        database = self._services.database
        with database.blobs.draft(data) as draft, database.writing() as writer:
            sid = database.layouts.of(writer).connections[self.connection_id].streams[stream].sid
            return keep_blob(writer, database.blobs, draft, sid=sid, key=key, mime_type=mime_type, now=self._now())

    def is_blob_kept(self, stream: str, key: str, blob: Blob) -> bool:
        """Whether it was kept for that record before, so that its bytes need not be written again."""
        database = self._services.database
        with database.reading() as reading:
            place = self._streams(reading)[stream]
            return is_kept(reading, database.blobs, blob, sid=place.sid, key=key)

    def finish(self, file: str, rejections: Sequence[Rejection]) -> None:
        self.finish_import((file,), rejections)

    def found_of(self, run: int, covered: Mapping[int, Covered], fingerprint: str | None) -> list[FoundCollection]:
        """What the run found of the collections that it covered, and what it missed."""
        with self._services.database.reading() as reading:
            streams = self._streams(reading)
            sids = {name: place.sid for name, place in streams.items()}
            return runs.found_of(reading, sids, run, covered, fingerprint)

    def finish_import(
        self,
        files: Iterable[str],
        rejections: Sequence[Rejection],
        *,
        fingerprint: str | None = None,
        finished: Finished | None = None,
        complete: Iterable[str] = (),
    ) -> None:
        """Files were read to their end; an export that has a fingerprint is known again by it.

        `complete` names the streams of which they hold everything that the account has now.
        """
        with self._services.database.writing() as writer:
            finish_run(writer, self.connection_id, files, rejections, self._now(), complete=complete)
            if fingerprint and finished:
                keep_finished(writer, self.connection_id, fingerprint, finished._replace(at=self._now()))
            prune(writer, self._services.change_history_limit)
        self._tidy()

    def finish_run(
        self, run: int, found: Sequence[FoundCollection], fingerprint: str | None, losses: Iterable[Loss]
    ) -> int:
        """A run ended: what it lost goes, all at once, and can be brought back. How many records went."""
        removed = 0
        now = self._services.now()
        with self._services.database.write(iso(now)) as write:
            known = self._current_desks(write)
            for one in found:
                is_newest = one.is_first or not one.doubt
                runs.note_read(write, one.collection, one.covered.as_of, fingerprint, is_newest=is_newest)
            for loss in losses:
                removed += runs.remove(write, known[loss.stream], loss, iso(now))
            runs.end_run(write, run, iso(now))
            undo.forget_removed(write, iso(now - timedelta(days=UNDO_DAYS)))
        return removed

    # Live sources --------------------------------------------------------------------------------------------------

    def deliver_items(
        self,
        mark: Mark,
        batch: Sequence[Incoming],
        items: Mapping[str, Iterable[tuple[str, str]]],
        cursor: Mapping[str, Any],
    ) -> Receipt:
        """Records of a live source, which items of it each is (as stream and key), how far it was read: together."""
        records = _batch_by_stream(batch)
        with self._services.database.write(self._now()) as write:
            receipt = self._delivered(write, records, mark)
            live.note_items(write, mark.collection, self._item_rows(write, items))
            live.keep_cursor(write, mark.collection, cursor)
        return receipt

    def replace_items(
        self,
        mark: Mark,
        batch: Sequence[Incoming],
        items: Mapping[str, Iterable[tuple[str, str]]],
        derived: Mapping[str, str],
    ) -> tuple[Receipt, int]:
        """Items as they are now: what they were before and are no longer goes. The receipt, and how many went.

        `derived` tells of a stream from which other its records follow.
        """
        records = _batch_by_stream(batch)
        with self._services.database.write(self._now()) as write:
            receipt = self._delivered(write, records, mark)
            gone = live.replace_items(write, mark.collection, list(items), self._item_rows(write, items))
            removed = self._removed(write, gone, mark, derived)
        return receipt, removed

    def keep_cursor(self, collection: int, cursor: Mapping[str, Any]) -> None:
        with self._services.database.writing() as writer:
            live.keep_cursor(writer, collection, cursor)

    def cursor(self, collection: int) -> dict[str, Any]:
        with self._services.database.reading() as reading:
            return live.cursor_of(reading, collection)

    def collections(self, beginning: str) -> dict[str, int]:
        """Those of this connection whose name begins so."""
        with self._services.database.reading() as reading:
            return live.collections_of(reading, self.connection_id, beginning)

    def items(self, collection: int) -> list[str]:
        with self._services.database.reading() as reading:
            return live.items_of(reading, collection)

    def became(self, collection: int, item: str) -> list[tuple[str, str]]:
        """Stream and key of the records that an item is."""
        with self._services.database.reading() as reading:
            streams = self._streams(reading)
            names = {place.sid: name for name, place in streams.items()}
            found = live.records_of_items(reading, collection, [item])
            return [(names[sid], key) for sid, keys in found.items() for key in keys if sid in names]

    def item_count(self, collection: int) -> int:
        with self._services.database.reading() as reading:
            return live.count_items(reading, collection)

    def stored(self, stream: str, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The data of the records of those keys that are there."""
        with self._services.database.reading() as reading:
            return live.stored_data(reading, self._sid(reading, stream), keys)

    def stored_one(self, stream: str, key: str) -> dict[str, Any]:
        """The data of one record; empty where it is not there."""
        return self.stored(stream, [key]).get(key, {})

    def stored_with(self, stream: str, field: str, value: str) -> list[dict[str, Any]]:
        """The records whose indexed field has that value."""
        with self._services.database.reading() as reading:
            place = self._streams(reading)[stream]
            return live.data_with(reading, place.fids[field], value)

    def holders(self, stream: str, keys: Iterable[str]) -> dict[str, list[str]]:
        """The names of the collections that brought each record."""
        with self._services.database.reading() as reading:
            return live.holders(reading, self._sid(reading, stream), keys)

    def keys_only_of(self, collection: int, stream: str, items: Iterable[str]) -> list[str]:
        """The records that these items are, and no other item of the collection."""
        with self._services.database.reading() as reading:
            return live.keys_only_of(reading, collection, self._sid(reading, stream), items)

    def drop_items(self, mark: Mark, items: Iterable[str], cursor: Mapping[str, Any] | None) -> int:
        """Items are gone from a live source: how many records went with them, which can be undone."""
        with self._services.database.write(self._now()) as write:
            removed = self._removed(write, live.drop_items(write, mark.collection, items), mark)
            if cursor is not None:
                live.keep_cursor(write, mark.collection, cursor)
        return removed

    def _streams(self, reading: Reading) -> Mapping[str, StreamPlace]:
        return reading.layout.connections[self.connection_id].streams

    def _sid(self, reading: Reading, stream: str) -> int:
        return self._streams(reading)[stream].sid

    # --------------------------------------------------------------------------------------------------------------

    def is_alone(self, stream: str, collection: int) -> bool:
        """Whether everything that is known of the stream came with that collection."""
        with self._services.database.reading() as reading:
            place = self._streams(reading)[stream]
            return runs.is_alone(reading, place.sid, collection)

    def _tidy(self) -> None:
        self._merge_words()
        self._services.database.forget_erased()
        self._services.database.truncate_wal()

    def _merge_words(self) -> None:
        """Step by step, so that others who write come in between."""
        is_more = True
        while is_more:
            with self._services.database.writing() as writer:
                is_more = writer.merge_words()

    def _now(self) -> str:
        return iso(self._services.now())


def _batch_by_stream(batch: Iterable[Incoming]) -> dict[str, list[Incoming]]:
    return _by_stream((incoming.stream, incoming) for incoming in batch)


def _by_stream(named: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = {}
    for stream, one in named:
        found.setdefault(stream, []).append(one)
    return found
