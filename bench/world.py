"""A made-up home of any size: one chat-like source, words by Zipf's law, a grant over all of it."""

import random
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate, islice
from pathlib import Path

from pdpp_server.model.ingest import Incoming
from pdpp_server.owner.desk import Owner
from pdpp_server.owner.writer import Writer
from pdpp_server.reads.services import Services, open_services
from pdpp_server.wire.blobs import encode_reference
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import decode_selection

SOURCE = "https://registry.pdpp.dev/connectors/bench-chat"
DECLARATION = {
    "protocol_version": "0.1.0",
    "source": {"kind": "connector", "id": SOURCE},
    "declaration_version": "1",
    "publisher": {"id": "https://registry.pdpp.dev/"},
    "display": {"name": "Bench chat"},
    "streams": [
        {
            "name": "messages",
            "semantics": "mutable_state",
            "schema": {
                "type": "object",
                "required": ["id"],
                "properties": {
                    "id": {"type": "string"},
                    "subject": {"type": "string", "x_pdpp_role": "primary-title"},
                    "text": {"type": "string", "x_pdpp_role": "primary-body"},
                    "sender": {"type": "string", "x_pdpp_role": "actor"},
                    "room": {"type": "string", "x_pdpp_role": "thread"},
                    "sent_at": {"type": "string", "format": "date-time", "x_pdpp_role": "event-time"},
                },
            },
            "primary_key": ["id"],
            "cursor_field": "sent_at",
            "consent_time_field": "sent_at",
            "selection": {"fields": True, "resources": True},
            "query": {
                "range_filters": {"sent_at": ["gte", "gt", "lte", "lt"]},
                "search": {"lexical_fields": ["subject", "text"], "semantic_fields": ["text"]},
                "aggregations": {"count": True, "group_by": ["sender"], "group_by_time": ["sent_at"]},
            },
        },
        {
            "name": "payments",
            "semantics": "append_only",
            "schema": {
                "type": "object",
                "required": ["id"],
                "properties": {
                    "id": {"type": "string"},
                    "amount": {"type": "number"},
                    "booked_at": {"type": "string", "format": "date-time"},
                },
            },
            "primary_key": ["id"],
            "cursor_field": "booked_at",
            "selection": {"fields": True, "resources": True},
            "query": {"range_filters": {"amount": ["gte", "lt"]}},
        },
        {
            "name": "files",
            "semantics": "mutable_state",
            "schema": {
                "type": "object",
                "required": ["id"],
                "properties": {"id": {"type": "string"}, "blob_ref": {"type": "object"}},
            },
            "primary_key": ["id"],
            "selection": {"fields": True, "resources": True},
        },
    ],
}
BLOB_BYTES = 200_000
PATIENCE = 600.0  # seconds for a read, where the machine is busy and its processor time is what is measured
_ENDINGS = ("bar", "den", "fil", "gor", "kan", "lum", "mer", "nix", "pol", "rav", "sed", "tov", "vin", "zam")
_WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u", "ai", "ou") for c in _ENDINGS]
VOCABULARY = [f"{word}{i}" if i else word for i in range(12) for word in _WORDS]
_WEIGHTS = list(accumulate(1 / (rank + 2.7) for rank in range(len(VOCABULARY))))
EVERYWHERE = "ubiq"  # stands in about a third of all records
ROOMS = 40
START, SPAN = datetime(2016, 1, 1, tzinfo=UTC), timedelta(days=3650)  # the same years, however many records


def records(count: int, seed: int = 7) -> Iterator[dict[str, str]]:
    """Deterministic; about 650 bytes each. Record i says `rare<i // 10>`, so that every such word stands in ten."""
    rng = random.Random(seed)
    for i in range(count):
        words = rng.choices(VOCABULARY, cum_weights=_WEIGHTS, k=rng.randint(20, 110))
        if rng.random() < 0.33:
            words[0] = EVERYWHERE
        words[-1] = f"rare{i // 10}"
        yield {
            "id": f"m{i}",
            "subject": " ".join(words[:5]),
            "text": " ".join(words[5:]),
            "sender": f"person{rng.randint(0, 40)}",
            "room": f"room{i % ROOMS}",
            "sent_at": (START + i * (SPAN / count)).isoformat(),
        }


def payments(count: int, seed: int = 5) -> Iterator[dict[str, str | float]]:
    """Some amounts are paid again and again."""
    rng = random.Random(seed)
    for i in range(count):
        amount = rng.randint(100, 900_000) / 100 if rng.random() < 0.7 else rng.randint(5, 200)
        yield {"id": f"p{i}", "amount": amount, "booked_at": (START + i * (SPAN / count)).isoformat()}


@dataclass(frozen=True, slots=True)
class World:
    home: Path
    services: Services
    connection_id: str
    token: str
    count: int
    blob_id: str

    def close(self) -> None:
        self.services.close()
        shutil.rmtree(self.home)


def now() -> datetime:
    return datetime.now(UTC)


def open_writer(services: Services, home: Path) -> Writer:
    return Owner(services, home).writer(decode_declaration(DECLARATION), "Bench")


def fill(services: Services, home: Path, count: int, batch: int = 1000) -> tuple[str, str]:
    """Import `count` records and one blob, without the parsing of a file; the connection and the blob."""
    writer = open_writer(services, home)
    stream = (Incoming(str(i), "messages", None, record, None) for i, record in enumerate(records(count)))
    while rows := list(islice(stream, batch)):
        writer.deliver(rows)
    paid = (Incoming(str(i), "payments", None, payment, None) for i, payment in enumerate(payments(count // 4)))
    while rows := list(islice(paid, batch)):
        writer.deliver(rows)
    blob = writer.keep_blob("files", "f1", bytes(range(250)) * (BLOB_BYTES // 250), "application/octet-stream")
    writer.deliver([Incoming("blob", "files", None, {"id": "f1", "blob_ref": encode_reference(blob)}, None)])
    return writer.connection_id, blob.blob_id


def build(count: int) -> World:
    home = Path(tempfile.mkdtemp(prefix="pdpp-bench-"))
    services = open_services(home, now=now)
    connection_id, blob_id = fill(services, home, count)
    details = {
        "type": "https://pdpp.dev/data-access",
        "source": {"id": SOURCE},
        "purpose_code": "https://pdpp.dev/purpose/agent_context",
        "access_mode": "continuous",
        "streams": [{"name": "messages"}, {"name": "payments"}, {"name": "files"}],
    }
    issued = Owner(services, home).create_grant(decode_selection([details]), "bench", None)
    return World(home, services, connection_id, issued.token, count, blob_id)
