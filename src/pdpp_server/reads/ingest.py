"""Records that the owner's tools deliver: one batch, one transaction."""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice

from pdpp_server.errors import TooLarge
from pdpp_server.model.ingest import Delivered, Delivery, Incoming, Line, Receipt, RefusedLine, Rejection
from pdpp_server.reads.services import Call, Services
from pdpp_server.reads.writes import desk_for, writing
from pdpp_server.store.engine import Write
from pdpp_server.store.records.ingest import Desk, deliver
from pdpp_server.store.records.sources import finish_delivery, resolve_connection
from pdpp_server.store.upkeep.history import prune

CHUNK_LINES = 1000
REFUSED_MAX = 10_000


def serve(services: Services, call: Call, delivery: Delivery) -> Delivered:
    """When this returns, what was accepted is stored, findable and survives a crash.

    Raises:
        IngestStorageError: nothing was stored; the same batch may be sent again.
        TooLarge: so many lines are unfit that this is no batch of records; nothing was stored.
    """
    with writing(services, call) as write:
        connection = resolve_connection(write.layout, *delivery.target)
        desk = desk_for(write, connection, delivery.stream)
        receipt, refused = Receipt(), list[RefusedLine]()
        for lines in _chunks(delivery.lines):
            delivered = _deliver(write, desk, lines)
            receipt += Receipt(delivered.accepted, delivered.unchanged)
            refused += _refused(delivered.rejected, lines, desk, services.log_key)
            if len(refused) > REFUSED_MAX:
                raise TooLarge(f"More than {REFUSED_MAX:,} lines are no records of the stream; nothing was stored.")
        refused.sort()
        finish_delivery(write, connection.number, delivery.stream, refused, write.now)
        prune(write, services.change_history_limit)
    services.database.forget_erased()
    return Delivered(delivery.stream, receipt.accepted + receipt.unchanged, tuple(refused), receipt.unchanged)


def _chunks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    rest = iter(lines)
    while chunk := list(islice(rest, CHUNK_LINES)):
        yield chunk


def _deliver(write: Write, desk: Desk, lines: list[Line]) -> Receipt:
    records = [line.read for line in lines if isinstance(line.read, Incoming)]
    unread = tuple(line.read for line in lines if isinstance(line.read, Rejection))
    return deliver(write, desk, records, write.now) + Receipt(rejected=unread)


def _refused(rejections: Iterable[Rejection], lines: list[Line], desk: Desk, key: bytes) -> list[RefusedLine]:
    raw = {line.read.place: line.raw.strip() for line in lines}
    return [
        RefusedLine(int(place), code, reason, _receipt_id(desk, raw[place], key)) for place, code, reason in rejections
    ]


def _receipt_id(desk: Desk, raw: bytes, key: bytes) -> str:
    """Keyed, because a short line could be guessed from a plain digest."""
    digest = hashlib.blake2b(raw, digest_size=12, key=key)
    digest.update(f"\n{desk.connection_id}\n{desk.stream.name}".encode())
    return f"rej_{digest.hexdigest()}"
