"""A life in which every value is marked: whatever leaves the server tells of which record and of which field it was."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from pdpp_server.evidence.handles import mint
from pdpp_server.model.activity import Disclosure
from pdpp_server.model.ingest import Incoming
from pdpp_server.model.records import RecordId
from pdpp_server.owner.desk import Owner
from pdpp_server.owner.meaning import MeaningDesk
from pdpp_server.owner.writer import Writer
from pdpp_server.reads.services import Log, Services, open_services
from pdpp_server.wire.blobs import encode_reference
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import DETAIL_TYPE, decode_selection
from tests.worlds.meant import put_model
from tests.worlds.world import Clock, close

WORDS = ("walrus", "lease", "lake", "garden", "deposit", "summer")
LETTERS, THREADS, FACTS = "letters", "threads", "facts"
WIDE = tuple(f"f_n{number:02}" for number in range(60))
LETTER = ("id", "f_thread", "f_subject", "f_body", "f_sent", "f_actor", "f_pages", "f_stamp", "f_tags", "f_scan")
MORE = tuple(f"f_more{number:02}" for number in range(14))  # so that a dozen of them is too much for one answer
FIELDS = {
    LETTERS: (*LETTER, *MORE),
    THREADS: ("id", "f_topic", "f_started", "f_open"),
    FACTS: ("id", *WIDE),
}
SEARCHED = {LETTERS: ("f_subject", "f_body", "f_actor"), THREADS: ("f_topic",), FACTS: WIDE[:3]}
TIMES = {LETTERS: "f_sent", THREADS: "f_started", FACTS: None}
TITLES = {LETTERS: "f_subject", THREADS: "f_topic", FACTS: None}
VIEWS = {LETTERS: "short", THREADS: None, FACTS: None}
RELATIONS = {LETTERS: "thread", THREADS: "letters", FACTS: None}
SOURCES = ("marked", "marked2")
ACCOUNTS = ("First account", "Second account")

MARK = re.compile(r"q(\d+)x(\d+)z")
NUMBER = re.compile(r"\b7,?\d{3},?\d{3}\b")  # as it is, or as a page shows an amount
MINUTE = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d")
_START, _STEP = datetime(2019, 1, 1, tzinfo=UTC), timedelta(minutes=7)


def minute(number: int) -> str:
    """Of the record of that number; no other has it, and nothing else that happens here."""
    return (_START + number * _STEP).isoformat()[:16]


def _stream(name: str, properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "semantics": "mutable_state",
        "schema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, **properties}},
        "primary_key": ["id"],
        "selection": {"fields": True, "resources": True},
        **more,
    }


def _text(role: str | None = None, **more: Any) -> dict[str, Any]:
    return {"type": "string", **({"x_pdpp_role": role} if role else {}), **more}


def document(source: str) -> dict[str, Any]:
    time = _text("event-time", format="date-time")
    letters = {
        "f_thread": _text("thread"),
        "f_subject": _text("primary-title"),
        "f_body": _text("primary-body"),
        "f_sent": time,
        "f_actor": _text("actor"),
        "f_pages": {"type": "integer", "x_pdpp_role": "amount"},
        "f_stamp": {"type": "boolean"},
        "f_tags": {"type": "array"},
        "f_scan": {"type": "object", "x_pdpp_role": "blob-reference"},
        **{name: _text() for name in MORE},
        MORE[0]: _text("currency"),
    }
    threads = {"f_topic": _text("primary-title"), "f_started": time, "f_open": {"type": "boolean"}}
    return {
        "protocol_version": "0.1.0",
        "source": {"kind": "connector", "id": f"https://registry.pdpp.dev/connectors/{source}"},
        "declaration_version": "1",
        "publisher": {"id": "https://registry.pdpp.dev/"},
        "display": {"name": source},
        "streams": [
            _stream(
                LETTERS,
                letters,
                cursor_field="f_sent",
                consent_time_field="f_sent",
                views=[{"id": "short", "label": "Short", "fields": ["id", "f_subject", "f_pages"]}],
                relationships=[
                    {"name": "thread", "stream": THREADS, "foreign_key": "f_thread", "cardinality": "has_one"}
                ],
                query={
                    "range_filters": {"f_sent": ["gte", "lt"], "f_pages": ["gte", "lt"]},
                    "expand": [{"name": "thread"}],
                    "search": {
                        "lexical_fields": list(SEARCHED[LETTERS]),
                        "semantic_fields": ["f_subject", "f_body"],
                    },
                    "aggregations": {
                        "count": True,
                        "sum": ["f_pages"],
                        "min": ["f_pages", "f_sent"],
                        "max": ["f_pages", "f_sent"],
                        "count_distinct": ["f_actor", "f_stamp"],
                        "group_by": ["f_actor", "f_stamp", "f_subject"],
                        "group_by_time": ["f_sent"],
                    },
                },
            ),
            _stream(
                THREADS,
                threads,
                cursor_field="f_started",
                relationships=[
                    {"name": "letters", "stream": LETTERS, "foreign_key": "f_thread", "cardinality": "has_many"}
                ],
                query={
                    "expand": [{"name": "letters", "default_limit": 10, "max_limit": 50}],
                    "search": {"lexical_fields": list(SEARCHED[THREADS])},
                    "aggregations": {"count": True, "group_by": ["f_open"], "group_by_time": ["f_started"]},
                },
            ),
            _stream(
                FACTS, {name: _text() for name in WIDE}, query={"search": {"lexical_fields": list(SEARCHED[FACTS])}}
            ),
        ],
    }


class Remembering:
    """A log that keeps its lines at hand, too."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self.lines: list[Disclosure] = []

    def append(self, disclosure: Disclosure) -> None:
        self._log.append(disclosure)
        self.lines.append(disclosure)

    def can_append(self) -> bool:
        return self._log.can_append()

    def close(self) -> None:
        self._log.close()


@dataclass
class Marked:
    """`ids` are the records by the number in their marks; tokens are a client's, by what they may see.

    `granted` are the fields of each stream that a token shows.
    """

    home: Path
    services: Services
    owner: Owner
    log: Remembering
    ids: list[RecordId] = field(default_factory=list[RecordId])
    blobs: dict[str, set[str]] = field(default_factory=dict[str, set[str]])  # of each blob, who refers to it
    tokens: dict[str, str] = field(default_factory=dict[str, str])
    granted: dict[str, dict[str, frozenset[str]]] = field(default_factory=dict[str, dict[str, frozenset[str]]])
    owner_token: str = ""

    def __post_init__(self) -> None:
        self.by_handle: dict[str, RecordId] = {}
        self.by_minute: dict[str, int] = {}

    def close(self) -> None:
        close(self.services)

    @property
    def connections(self) -> list[str]:
        return sorted({id.connection_id for id in self.ids})


def build(home: Path, seed: int = 0) -> Marked:
    put_model(home)
    services = open_services(home, now=Clock())
    log = Remembering(services.log)
    services.log = log
    marked = Marked(home, services, Owner(services, home), log)
    random = Random(seed)
    for source in SOURCES:
        declaration = decode_declaration(document(source))
        for account in ACCOUNTS:
            writer = marked.owner.writer(declaration, account)
            receipt = writer.deliver(_records(marked, writer, random))
            assert not receipt.rejected, receipt.rejected
            keys = {id.key for id in marked.ids if id.connection_id == writer.connection_id and id.stream == LETTERS}
            gone = random.sample(sorted(keys), 2)
            assert not writer.deliver([Incoming("test", LETTERS, key, None, None) for key in gone]).rejected
        if source == SOURCES[0]:  # the meaning of the other's records waits to be worked out
            MeaningDesk(services.database, home).catch_up(lambda _: None)
    marked.by_handle = {mint(id): id for id in marked.ids}
    marked.by_minute = {minute(number): number for number in range(len(marked.ids))}
    _grant(marked)
    return marked


def _records(marked: Marked, writer: Writer, random: Random) -> Iterator[Incoming]:
    connection = writer.connection_id

    def new(stream: str, key: str) -> int:
        marked.ids.append(RecordId(connection, stream, key))
        return len(marked.ids) - 1

    threads = [f"t{number}" for number in range(6)]
    for key in threads:
        number = new(THREADS, key)
        topic, started = _words(number, 1, random, 6), f"{minute(number)}:00Z"
        told = {"f_topic": topic, "f_started": started, "f_open": bool(number % 2)}
        yield Incoming("test", THREADS, None, {"id": key, **told}, "2026-11-14T08:00:00Z")
    for place in range(30):
        odd = (f"a/b c:{place}", f"🪐{place}", f"{'long' * 60}{place}")
        key = random.choice((*odd, *[f"l{place}"] * 20))
        number = new(LETTERS, key)
        data: dict[str, Any] = {
            "f_thread": random.choice((*threads[2:], *threads[-1:] * 3)),
            "f_subject": _words(number, 2, random, random.choice((3, 20))),
            "f_body": _words(number, 3, random, random.choice((8, 60, 60, 400, 1500))),
            "f_sent": f"{minute(number)}:00Z",
            "f_actor": _words(number, 5, random, 1),
            "f_pages": 7_000_000 + number,
            "f_stamp": bool(number % 3),
            "f_tags": [_words(number, 8, random, 2), _words(number, 8, random, 40)],
            **{name: _words(number, len(LETTER) + index, random, 8) for index, name in enumerate(MORE)},
        }
        if place % 5 == 0:
            blob = writer.keep_blob(LETTERS, key, f"bytes of q{number}x9z {connection}".encode(), "text/plain")
            data["f_scan"] = encode_reference(blob)
            marked.blobs.setdefault(blob.blob_id, set()).add(mint(marked.ids[number]))
        kept = {name: value for name, value in data.items() if random.random() > 0.07 or name == "f_scan"}
        yield Incoming("test", LETTERS, None, {"id": key, **kept}, "2026-11-14T08:00:00Z")
    for place in range(4):
        number = new(FACTS, f"w{place}")
        wide = {name: _words(number, index, random, 3 + 90 * (place % 2)) for index, name in enumerate(WIDE, start=1)}
        yield Incoming("test", FACTS, None, {"id": f"w{place}", **wide}, "2026-11-14T08:00:00Z")


def _words(number: int, place: int, random: Random, many: int) -> str:
    """Every other word is the mark, so that no cut leaves words without it."""
    return " ".join(f"q{number}x{place}z {random.choice(WORDS)}" for _ in range(many))


def _grant(marked: Marked) -> None:
    by_source = {
        source: sorted(
            writer.connection_id
            for account in ACCOUNTS
            for writer in [marked.owner.writer(decode_declaration(document(source)), account)]
        )
        for source in SOURCES
    }
    everything = {LETTERS: {}, THREADS: {}, FACTS: {}}
    narrow = {
        LETTERS: {"fields": ["f_thread", "f_body", "f_pages", "f_stamp", "f_tags"]},
        THREADS: {"fields": ["f_topic"]},
    }
    timed = {LETTERS: {"time_range": {"since": f"{minute(20)}:00Z"}}, THREADS: {}}

    def token(streams: dict[str, dict[str, Any]], *sources: str) -> str:
        details = [
            {
                "type": DETAIL_TYPE,
                "source": {"id": f"https://registry.pdpp.dev/connectors/{source}"},
                "purpose_code": "https://pdpp.dev/purpose/assistance",
                "access_mode": "continuous",
                "streams": [
                    {"name": name, "instance_ids": by_source[source], **narrowing}
                    for name, narrowing in streams.items()
                ],
            }
            for source in sources
        ]
        made = marked.owner.create_grant(decode_selection(details), "Agent", None).token
        marked.granted[made] = {
            name: frozenset(narrowed.get("fields", FIELDS[name])) for name, narrowed in streams.items()
        }
        return made

    marked.tokens = {
        "everything": token(everything, SOURCES[0]),
        "narrow": token(narrow, SOURCES[0]),
        "timed": token(timed, SOURCES[1]),
        "package": token(everything, *SOURCES),
    }
    marked.owner_token, _ = marked.owner.owner_token(days=30)
    marked.granted[marked.owner_token] = {name: frozenset(fields) for name, fields in FIELDS.items()}
