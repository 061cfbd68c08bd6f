"""Deliver records to a server elsewhere, over the owner's ingest API; what was stopped goes on where it was."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from pdpp_server.errors import NotFound, PdppError, PermissionDenied, SourceUnavailable, Unauthenticated
from pdpp_server.model.blobs import Blob
from pdpp_server.model.delivery import DeliveredSoFar
from pdpp_server.model.ingest import Finished, Incoming, Receipt, Rejection, Target
from pdpp_server.model.runs import OTHER_HANDS, Covered, FoundCollection, Loss, Mark
from pdpp_server.model.sources import Declaration
from pdpp_server.model.times import iso
from pdpp_server.port.exchange import Exchange
from pdpp_server.wire import blobs, connections, elsewhere, ingest
from pdpp_server.wire.envelope import Json

JSON_TYPE = "application/json"
SENT_BYTES = 16 * 1024 * 1024  # in one request, unless one record is longer
REJECTED_REMEMBERED = 1000  # of which it is known that they were refused; with more, all after them are sent again
LACKING = frozenset({404, 405, 501})


class ServerElsewhere:
    """The owner's side of a server that is not in this home, asked with a token of its owner."""

    def __init__(self, exchange: Exchange, now: Callable[[], datetime]) -> None:
        self._exchange, self._now = exchange, now
        self._open: dict[tuple[str, str], ConnectionElsewhere] = {}

    def writer(self, declaration: Declaration, name: str) -> "ConnectionElsewhere":
        """Raises: the refusal of that server."""
        called = (declaration.source.id, name)
        if called not in self._open:
            connection_id = self._connected(declaration, name)
            self._open[called] = ConnectionElsewhere(self._exchange, declaration, connection_id, self._now)
        return self._open[called]

    def finished_import(self, declaration: Declaration, name: str, fingerprint: str) -> Finished | None:
        return self.writer(declaration, name).finished(fingerprint)

    def _connected(self, declaration: Declaration, name: str) -> str:
        wanted = orjson.dumps(connections.encode_wanted(declaration, name))
        try:
            told = self._exchange.send("POST", connections.PATH, wanted, JSON_TYPE)
        except PdppError as refusal:
            refusal.remedy = _remedy(refusal)
            raise
        return self._exchange.decoded(told, connections.decode_id)


def _remedy(refusal: PdppError) -> str:
    """What helps whoever delivers where the first request was refused."""
    match refusal:
        case Unauthenticated() | PermissionDenied():
            return "On that server `pdpp owner token` makes a token of its owner: give it in PDPP_OWNER_TOKEN."
        case NotFound() | SourceUnavailable() if refusal.answered in LACKING:
            return (
                "That server cannot be told of new sources, as it could not in older versions: it needs "
                "POST /v1/connections. Update it, or import there."
            )
        case SourceUnavailable() if refusal.remedy == SourceUnavailable.remedy:
            return "See that the address is right and that the server runs there, then run the same again."
        case _:
            return refusal.remedy


class ConnectionElsewhere:
    """A connection of that server, open for records.

    What is delivered so is in nobody's collection (decision page 0030): no export removes it, and this removes nothing.
    """

    def __init__(
        self, exchange: Exchange, declaration: Declaration, connection_id: str, now: Callable[[], datetime]
    ) -> None:
        self._exchange, self._now = exchange, now
        self.declaration, self.connection_id = declaration, connection_id
        self._target = Target(declaration.source.connector_key, connection_id)
        self._cursors = exchange.decoded(exchange.get(elsewhere.state_path(self._target)), elsewhere.decode_cursors)
        self._so_far = elsewhere.decode_so_far(self._cursors, declaration.streams)
        self._run = _Run(None)

    def finished(self, fingerprint: str) -> Finished | None:
        """How an export of that fingerprint was delivered to its end, if it was."""
        before = self._so_far
        return before.finished if before and before.fingerprint == fingerprint else None

    def begin_run(self, file: str) -> int:
        self._run = _Run(None)
        return 0

    def open_collection(self, run: int, name: str, fingerprint: str | None) -> Mark:
        if fingerprint != self._run.fingerprint:
            before = self._so_far if self._so_far and self._so_far.fingerprint == fingerprint else None
            self._run = _Run(fingerprint, before if before and not before.finished else None)
        return Mark(run, OTHER_HANDS)

    def deliver(
        self, batch: Iterable[Incoming], mark: Mark | None = None, still: Iterable[tuple[str, str]] = ()
    ) -> Receipt:
        """When this returns, that server keeps the batch. What it is known to have is not sent again."""
        self._note_so_far()
        waiting, there = self._run.parted(batch)
        receipt = Receipt(unchanged=there)
        for stream, records in _by_stream(waiting).items():
            for piece in _pieces(records):
                receipt += self._send(stream, piece)
        return receipt

    def _send(self, stream: str, piece: Sequence["_Line"]) -> Receipt:
        body = b"".join(line.text for line in piece)
        path = elsewhere.ingest_path(self._target, stream)
        answer = self._exchange.send("POST", path, body, ingest.CONTENT_TYPE)
        delivered = self._exchange.decoded(answer, ingest.decode_delivered)
        rejected: list[Rejection] = []
        for refused in delivered.refused:
            if not 0 <= refused.number < len(piece):
                raise SourceUnavailable("The server refused a record that it was not sent.")
            line = piece[refused.number]
            rejected.append(Rejection(line.record.place, refused.code, refused.reason))
            self._run.refused.add(line.number)
        return Receipt(delivered.accepted - delivered.unchanged, delivered.unchanged, tuple(rejected))

    def stored_one(self, stream: str, key: str) -> Mapping[str, Any]:
        """Nothing is asked for: what attached files say is read again where a record is sent again."""
        return {}

    def is_blob_kept(self, stream: str, key: str, blob: Blob) -> bool:
        """As far as is known here: asking would be logged there as a read."""
        return (stream, key) in self._run.there

    def keep_blob(self, stream: str, key: str, data: bytes | Path, mime_type: str) -> Blob:
        body = data.read_bytes() if isinstance(data, Path) else data
        path = elsewhere.keep_blob_path(self._target, stream, key, mime_type)
        return self._exchange.decoded(self._exchange.send("POST", path, body, mime_type), blobs.decode)

    def finish(self, file: str, rejections: Sequence[Rejection]) -> None:
        """Nothing is noted there of a file without a fingerprint."""

    def finish_import(
        self,
        files: Iterable[str],
        rejections: Sequence[Rejection],
        *,
        fingerprint: str | None = None,
        finished: Finished | None = None,
        complete: Iterable[str] = (),
    ) -> None:
        if fingerprint and finished:
            done = finished._replace(at=iso(self._now()))
            self._put(DeliveredSoFar(fingerprint, self._run.records, finished=done))

    def _note_so_far(self) -> None:
        """Of what was delivered before: by now its blobs are there too."""
        so_far = self._run.so_far
        if so_far is not None and so_far != self._so_far:
            self._put(so_far)

    def _put(self, so_far: DeliveredSoFar) -> None:
        document: Json = elsewhere.encode_state(self._cursors, self.declaration.streams, so_far)
        self._exchange.send("PUT", elsewhere.state_path(self._target), orjson.dumps(document), JSON_TYPE)
        self._so_far = so_far

    def found_of(self, run: int, covered: Mapping[int, Covered], fingerprint: str | None) -> list[FoundCollection]:
        return []

    def finish_run(
        self, run: int, found: Sequence[FoundCollection], fingerprint: str | None, losses: Iterable[Loss]
    ) -> int:
        return 0

    def is_alone(self, stream: str, collection: int) -> bool:
        return False


class _Line(NamedTuple):
    number: int  # of the record in its export, from 0
    record: Incoming
    text: bytes


class _Run:
    """One reading of an export, beside what an earlier one of the same delivered of it."""

    def __init__(self, fingerprint: str | None, before: DeliveredSoFar | None = None) -> None:
        self.fingerprint = fingerprint
        self._known = before.records if before else 0
        self.refused = set(before.rejected if before else ())
        self.records = 0  # that were handed over in this reading
        self.there: set[tuple[str, object]] = set()  # of the last batch, what that server had with its blobs

    def parted(self, batch: Iterable[Incoming]) -> tuple[list[tuple[int, Incoming]], int]:
        """What has to be sent, each with its number, and how much that server has. What it refused is sent again."""
        numbered = list(enumerate(batch, self.records))
        self.records += len(numbered)
        waiting = [one for one in numbered if one[0] >= self._known or one[0] in self.refused]
        there = [record for number, record in numbered if number < self._known and number not in self.refused]
        self.there = {(record.stream, record.key) for record in there}
        return waiting, len(there)

    @property
    def so_far(self) -> DeliveredSoFar | None:
        """What to keep of it: nothing without a fingerprint, and nothing less than what is known already."""
        if self.fingerprint is None or self.records <= self._known or len(self.refused) > REJECTED_REMEMBERED:
            return None
        return DeliveredSoFar(self.fingerprint, self.records, tuple(sorted(self.refused)))


def _by_stream(numbered: Iterable[tuple[int, Incoming]]) -> dict[str, list[_Line]]:
    found: dict[str, list[_Line]] = {}
    for number, record in numbered:
        found.setdefault(record.stream, []).append(_Line(number, record, ingest.encode_record(record)))
    return found


def _pieces(lines: Iterable[_Line]) -> Iterator[list[_Line]]:
    """So many that they fit into one request."""
    piece: list[_Line] = []
    size = 0
    for line in lines:
        if piece and size + len(line.text) > SENT_BYTES:
            yield piece
            piece, size = [], 0
        piece.append(line)
        size += len(line.text)
    if piece:
        yield piece
