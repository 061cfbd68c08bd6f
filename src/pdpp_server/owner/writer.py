"""Deliver records to the store of this home, in batches, safely repeatable."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from pdpp_server.model.blobs import Blob
from pdpp_server.model.grants import SUBJECT
from pdpp_server.model.ingest import Finished, Incoming, Receipt, Rejection
from pdpp_server.model.sources import Declaration
from pdpp_server.model.times import iso
from pdpp_server.reads.services import Services
from pdpp_server.store.layout import Layout
from pdpp_server.store.records.blobs import is_kept, keep_blob
from pdpp_server.store.records.imports import keep_finished
from pdpp_server.store.records.ingest import Desk, deliver, desks
from pdpp_server.store.records.sources import connect, finish_run
from pdpp_server.store.upkeep.history import prune
from pdpp_server.store.upkeep.rebuild import rebuild_words


class Writer:
    """One connection, open for records. Making it declares the source and makes the connection if it is new."""

    def __init__(self, services: Services, declaration: Declaration, name: str) -> None:
        self._services = services
        self.declaration = declaration
        self._layout: Layout | None = None
        self._desks: dict[str, Desk] = {}
        with services.database.writing() as writer:
            self.connection_id, is_stale = connect(writer, declaration, name, subject=SUBJECT, now=self._now())
            if is_stale:
                rebuild_words(writer)

    def deliver(self, batch: Iterable[Incoming]) -> Receipt:
        """One transaction: when this returns, the batch is stored, indexed and survives a crash."""
        by_stream: dict[str, list[Incoming]] = {}
        for incoming in batch:
            by_stream.setdefault(incoming.stream, []).append(incoming)
        receipt = Receipt()
        database = self._services.database
        with database.writing() as writer:
            layout = database.layouts.of(writer)
            if layout is not self._layout:  # a declaration may have changed meanwhile
                place = layout.connections[self.connection_id]
                declaration = database.layouts.declaration(writer, place.declaration)
                self._layout, self._desks = layout, desks(declaration, place)
            for stream, records in by_stream.items():
                receipt += deliver(writer, self._desks[stream], records, self._now())
        return receipt

    def keep_blob(self, stream: str, key: str, data: bytes | Path, mime_type: str) -> Blob:
        """The bytes that the record of that key refers to, durable; it may be delivered before or after them."""
        database = self._services.database
        with database.blobs.draft(data) as draft, database.writing() as writer:
            place = database.layouts.of(writer).connections[self.connection_id].streams[stream]
            return keep_blob(
                writer, database.blobs, draft, sid=place.sid, key=key, mime_type=mime_type, now=self._now()
            )

    def is_blob_kept(self, stream: str, key: str, blob: Blob) -> bool:
        """Whether it was kept for that record before, so that its bytes need not be written again."""
        database = self._services.database
        with database.reading() as reading:
            place = reading.layout.connections[self.connection_id].streams[stream]
            return is_kept(reading, database.blobs, blob, sid=place.sid, key=key)

    def finish(self, file: str, rejections: Sequence[Rejection]) -> None:
        self.finish_import((file,), rejections)

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
