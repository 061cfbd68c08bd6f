"""Read, deliver in batches, report."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from pdpp_server.errors import IngestStorageError
from pdpp_server.importers.attached.texts import attached_texts
from pdpp_server.importers.missing import ASK_NOBODY, NOTHING_REMOVED, MissingChoice, Removal, settle
from pdpp_server.importers.ndjson import BATCH_BYTES, BATCH_RECORDS, REJECTIONS_KEPT
from pdpp_server.importers.registry import FoundAccount
from pdpp_server.importers.source import Attachment, DamagedFile, Opened, Outcome, Still
from pdpp_server.model.ingest import Finished, Incoming, Receipt, Rejection
from pdpp_server.model.runs import Covered, Mark
from pdpp_server.model.times import instant
from pdpp_server.owner.recipient import RecordTaker

CHUNK_BYTES = 1024 * 1024


@dataclass(slots=True)
class Tally:
    """What became of the records of an export so far; of many rejections the first are kept."""

    accepted: int = 0
    unchanged: int = 0
    rejected: int = 0
    rejections: list[Rejection] = field(default_factory=list[Rejection])
    removal: Removal = NOTHING_REMOVED
    without_text: int = 0  # attached files without their text, or with a part of it; the files themselves are kept
    texts_missing: list[Rejection] = field(default_factory=list[Rejection])

    @property
    def stored(self) -> int:
        return self.accepted + self.unchanged

    def add(self, receipt: Receipt) -> None:
        self.accepted += receipt.accepted
        self.unchanged += receipt.unchanged
        self.reject(receipt.rejected)

    def reject(self, rejections: Iterable[Rejection]) -> None:
        for rejection in rejections:
            self.rejected += 1
            if len(self.rejections) < REJECTIONS_KEPT:
                self.rejections.append(rejection)


ImportProgress = Callable[[int, Tally], None]  # hears how many bytes are done, and what became of them


def import_account(
    found: FoundAccount,
    writer: RecordTaker,
    progress: ImportProgress = lambda _done, _tally: None,
    fingerprint: str | None = None,
    missing: MissingChoice = ASK_NOBODY,
) -> Tally:
    """Bring one account in. Run again after any end, it goes on: what is there already is unchanged.

    What the last export of the same had and this one has not goes, as decision page 0030 says.
    Raises: IngestStorageError, saying what is kept.
    """
    begun, size = found.files.meter.read, found.size  # of every file, of which there may be many
    batch = _Batch(writer, found, fingerprint)
    try:
        with attached_texts(writer.stored_one) as texts:
            for outcome in texts.filled(_outcomes(found)):
                if batch.is_full and isinstance(outcome, Incoming):
                    batch.deliver()
                    progress(min(found.files.meter.read - begun, size), batch.tally)
                batch.take(outcome)
        batch.tally.without_text, batch.tally.texts_missing = texts.missing, texts.notes
        batch.end()
        _finish(found, writer, batch, fingerprint, missing)
    except IngestStorageError as error:
        kept = f"{batch.tally.stored} records of {found.account.name!r} are kept."
        raise IngestStorageError(f"{error.message} {kept}", remedy=error.remedy) from error
    progress(size, batch.tally)
    return batch.tally


def _finish(
    found: FoundAccount, writer: RecordTaker, batch: "_Batch", fingerprint: str | None, missing: MissingChoice
) -> None:
    tally = batch.tally
    names = [file.name for file in found.account.files]
    finished = Finished(found.where, tally.stored, tally.rejected)
    tally.removal, complete = settle(writer, batch.run, batch.covered, fingerprint, tally.rejected, missing)
    known_by = None if tally.removal.awaits_owner else fingerprint  # else it would not be read again when they agree
    writer.finish_import(names, tally.rejections, fingerprint=known_by, finished=finished, complete=complete)


def _outcomes(found: FoundAccount) -> Iterator[Outcome]:
    """Those of the importer, and a rejection where a file that it reads ends in the middle."""
    try:
        yield from found.importer.read(found.account)
    except DamagedFile as damaged:
        yield Rejection(damaged.param or found.files.name, damaged.code, damaged.message)


class _Batch:
    """Records on their way, each with the attachments that follow it, and the collection that they belong to."""

    def __init__(self, writer: RecordTaker, found: FoundAccount, fingerprint: str | None) -> None:
        self._writer, self._account, self._fingerprint = writer, found.account, fingerprint
        self.tally, self.covered = Tally(), dict[int, Covered]()
        self.run = writer.begin_run(found.where)
        self._mark: Mark | None = None
        self._records: list[Incoming] = []
        self._still: list[Still] = []
        self._attachments: list[Attachment] = []
        self._size = 0

    @property
    def is_full(self) -> bool:
        return len(self._records) + len(self._still) >= BATCH_RECORDS or self._size >= BATCH_BYTES

    def take(self, outcome: Outcome) -> None:
        match outcome:
            case Incoming(data=data):  # first, as nearly all are
                self._records.append(outcome)
                for value in (data or {}).values():
                    if isinstance(value, str):
                        self._size += len(value)
            case Rejection():
                self.tally.reject([outcome])
            case Attachment():
                self._attachments.append(outcome)
                self._size += len(outcome.data)
            case Still():
                self._still.append(outcome)
            case Opened():
                self.deliver()
                self._open(outcome.collection)
            case Covered():
                self._cover(outcome)

    def end(self) -> None:
        """All of it is delivered; an account that is one collection covers what it says."""
        self.deliver()
        if self._account.complete:
            self._cover(self._account.covered)

    def _open(self, collection: str) -> Mark:
        self._mark = self._writer.open_collection(self.run, collection, self._fingerprint)
        return self._mark

    def _opened(self) -> Mark:
        """An account that opens no collection is one itself."""
        return self._mark or self._open(self._account.collection or self._account.name)

    def _cover(self, covered: Covered) -> None:
        """A collection that an export holds twice is none that it could be asked about."""
        collection = self._opened().collection
        self.covered[collection] = Covered({}, None) if collection in self.covered else covered

    def deliver(self) -> None:
        """Records first: what is attached to a rejected one is left out with it."""
        if not self._records and not self._still:
            return
        receipt = self._writer.deliver(self._records, self._opened(), self._still)
        self.tally.add(receipt)
        rejected = {rejection.place for rejection in receipt.rejected}
        without = {(record.stream, record.key) for record in self._records if record.place in rejected}
        for attachment in self._attachments:
            if (attachment.stream, attachment.key) not in without:
                self._keep(attachment)
        self._records, self._still, self._attachments, self._size = [], [], [], 0

    def _keep(self, attachment: Attachment) -> None:
        stream, key = attachment.stream, attachment.key
        if not self._writer.is_blob_kept(stream, key, attachment.blob):
            self._writer.keep_blob(stream, key, attachment.data, attachment.mime_type)


# Before it is imported ----------------------------------------------------------------------------------------------


def fingerprint_of(found: FoundAccount, progress: Callable[[int, int], None] = lambda _done, _of: None) -> str | None:
    """The same for the same files read in the same way, whatever the zip is called; None where one is damaged."""
    importer, account, files = found
    digest = sha256()
    read_by = (
        importer.key,
        importer.version,
        found.declaration.version,
        str(account.zone),
        files.mapping,
        account.depends_on,
    )
    digest.update(repr(read_by).encode())
    begun, size = files.meter.read, found.size
    try:
        for file in account.files:
            digest.update(repr((file.name, file.size)).encode())
            with file.open() as stream:
                while chunk := stream.read(CHUNK_BYTES):
                    digest.update(chunk)
                    progress(files.meter.read - begun, size)
    except DamagedFile:
        return None
    return digest.hexdigest()


class SeenStream(NamedTuple):
    """What a first look found of one stream; times in microseconds."""

    records: int = 0
    earliest: int | None = None
    latest: int | None = None


class Survey(NamedTuple):
    streams: dict[str, SeenStream]
    attachments: int
    rejected: int
    share: float  # of the files, read until time was over; 1 for all


def survey(found: FoundAccount, is_over: Callable[[], bool]) -> Survey:
    """A first look, which ends when time is over."""
    begun = found.files.meter.read
    declared = found.declaration.streams
    streams: dict[str, SeenStream] = {}
    attachments = rejected = 0
    share = 1.0
    for outcome in _outcomes(found):
        match outcome:
            case Rejection():
                rejected += 1
            case Attachment():
                attachments += 1
            case Incoming(_, stream, _, data):
                time = declared[stream].order_field
                streams[stream] = _with(
                    streams.get(stream, SeenStream()), instant((data or {}).get(time)) if time else None
                )
            case _:
                pass
        if is_over():
            share = min((found.files.meter.read - begun) / (found.size or 1), 0.99)
            break
    return Survey(streams, attachments, rejected, share)


def _with(seen: SeenStream, at: int | None) -> SeenStream:
    if at is None:
        return seen._replace(records=seen.records + 1)
    earliest = at if seen.earliest is None else min(at, seen.earliest)
    latest = at if seen.latest is None else max(at, seen.latest)
    return SeenStream(seen.records + 1, earliest, latest)
