"""Lives to be read from end to end: of one source, of two connections, of a package, and one written by strangers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pdpp_server.evidence.handles import mint
from pdpp_server.model.ingest import Incoming
from pdpp_server.model.records import RecordId
from pdpp_server.owner.desk import Owner
from pdpp_server.owner.writer import Writer
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import Services, open_services
from pdpp_server.store.opened import open_database
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import DETAIL_TYPE, decode_selection
from tests.worlds.injection import CORPUS
from tests.worlds.told import ToldReader
from tests.worlds.world import Clock, close

REGISTRY = "https://registry.pdpp.dev/connectors/"
NEEDLE = "the walrus clause is in section nine"
PASSING = "passing"  # the key of a record that comes and goes
RIGHT_TO_LEFT = "\u05e9\u05dc\u05d5\u05dd"
WIDE_FIELDS = [f"{number:03}_{RIGHT_TO_LEFT * 15}" for number in range(500)]  # names as long as names may be
MEGABYTE = 1_000_000
PATIENCE = 600.0  # seconds that a read may take
NOISE = "\n".join(CORPUS.values())


def document(
    name: str, *, detail: str = "What was written.", wide: bool = False, others: Iterable[str] = ()
) -> dict[str, Any]:
    """A source of that name with its entries; `wide` adds a stream of very many fields, `others` more of entries."""
    entries: dict[str, Any] = {
        "name": "entries",
        "semantics": "mutable_state",
        "display": {"label": "Entries", "detail": detail},
        "schema": {
            "type": "object",
            "required": ["id"],
            "properties": {
                "id": {"type": "string"},
                "title": {"type": "string", "x_pdpp_role": "primary-title"},
                "body": {"type": "string", "x_pdpp_role": "primary-body"},
                "kind": {"type": "string"},
                "written_at": {"type": "string", "format": "date-time", "x_pdpp_role": "event-time"},
                "answers": {"type": "string"},
            },
        },
        "primary_key": ["id"],
        "cursor_field": "written_at",
        "consent_time_field": "written_at",
        "selection": {"fields": True, "resources": True},
        "relationships": [
            {"name": "answered", "stream": "entries", "foreign_key": "answers", "cardinality": "has_one"}
        ],
        "query": {
            "range_filters": {"written_at": ["gte", "lt"]},
            "expand": [{"name": "answered"}],
            "search": {"lexical_fields": ["title", "body"]},
            "aggregations": {"count": True, "group_by": ["kind"], "group_by_time": ["written_at"]},
        },
    }
    many: dict[str, Any] = {
        "name": "wide",
        "semantics": "mutable_state",
        "schema": {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("id", *WIDE_FIELDS)},
        },
        "primary_key": ["id"],
        "selection": {"fields": True, "resources": True},
        "query": {"search": {"lexical_fields": WIDE_FIELDS[:1]}, "aggregations": {"count": True}},
    }
    return {
        "protocol_version": "0.1.0",
        "source": {"kind": "connector", "id": REGISTRY + name},
        "declaration_version": "1",
        "publisher": {"id": "https://registry.pdpp.dev/"},
        "display": {"name": name.title()},
        "streams": [entries, *([many] if wide else []), *({**entries, "name": other} for other in others)],
    }


def entry(key: str, number: int = 0, stream: str = "entries", **data: str) -> Incoming:
    when = {"written_at": f"2026-{number % 9 + 1:02}-11T08:00:00Z"} if stream == "entries" else {}
    return Incoming(f"test:{number}", stream, None, {"id": key, **when, **data}, "2026-11-14T08:00:00Z")


@dataclass
class Life:
    """A home and one client's token for all of it. `records` are the handles that it may read, by stream."""

    services: Services
    owner: Owner
    needle: str  # the text in which the needle stands
    needle_id: str = ""
    token: str = ""
    writers: list[Writer] = field(default_factory=list[Writer])
    records: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    changes: int = 0

    @property
    def reader(self) -> ToldReader:
        return ToldReader(LocalReader(self.services, self.token))

    @property
    def connections(self) -> set[str]:
        return {writer.connection_id for writer in self.writers}

    def connect(self, source: dict[str, Any], label: str, records: Iterable[Incoming]) -> None:
        writer = self.owner.writer(decode_declaration(source), label)
        given = list(records)
        assert writer.deliver(given).rejected == ()
        self.writers.append(writer)
        for one in given:
            id = mint(RecordId(writer.connection_id, one.stream, str((one.data or {})["id"])))
            self.records.setdefault(one.stream, set()).add(id)
            if (one.data or {}).get("body") == self.needle:
                self.needle_id = id

    def grant(self, client: str = "Agent") -> None:
        """Everything of every source; several make a package."""
        held: dict[str, list[Writer]] = {}
        for writer in self.writers:
            held.setdefault(writer.declaration.source.id, []).append(writer)
        details = [
            {
                "type": DETAIL_TYPE,
                "source": {"id": source},
                "purpose_code": "https://pdpp.dev/purpose/assistance",
                "access_mode": "continuous",
                "streams": [
                    {"name": name, "instance_ids": [writer.connection_id for writer in writers]}
                    for name in writers[0].declaration.streams
                ],
            }
            for source, writers in held.items()
        ]
        self.token = self.owner.create_grant(decode_selection(details), client, None).token

    def come(self) -> None:
        """One more record, which nobody counts on."""
        self.writers[0].deliver([entry(PASSING)])

    def change(self) -> tuple[str, str]:
        """That record goes again, and another is written anew: the handles of both."""
        self.changes += 1
        self.writers[0].deliver(
            [
                entry("new", title=f"Written {self.changes} times"),
                Incoming("test:gone", "entries", PASSING, None, "2026-11-14T08:00:00Z"),
            ]
        )
        connection = self.writers[0].connection_id
        return f"{connection}/entries:new", f"{connection}/entries:{PASSING}"

    def close(self) -> None:
        close(self.services)


def opened(home: Path, needle: str = "") -> Life:
    """An empty one. Its largest records take a busy machine longer than a read may take elsewhere."""
    services = open_services(home, now=Clock(), database=open_database(home, read_seconds=PATIENCE))
    return Life(services, Owner(services, home), needle)


def _plain(needle: str) -> list[Incoming]:
    """Enough of them for more than one page, long enough to be clipped."""
    words = [entry(f"e{n}", n, title=f"Walrus {n}", body=f"So it goes with walrus {n}. " * 30) for n in range(13)]
    return [*words, entry("new", title="Written once"), entry("m:1/2 3", 3, title="Minutes", body=needle)]


def _hostile(needle: str) -> list[Incoming]:
    """Text that forges our answers in every place, keys as long as handles may be, and very many fields."""
    forging = [
        entry(f"{n} {text[:30]}" + "k" * (300 if n % 3 else 0), n, title=text, body=f"walrus {text}", kind=text)
        for n, text in enumerate(CORPUS.values())
    ]
    many = {name: f"walrus {name} {NOISE[:99]}" for name in WIDE_FIELDS}
    wide = [entry(f"w{number}", number, "wide", **many) for number in range(3)]
    long = entry("long " + "🦭" * 30, 5, title=NOISE, body=needle)
    return [*forging, *wide, long, entry("new", title=NOISE, body=NOISE)]


_LONG = "Minutes of the meeting. " * 900 + NEEDLE + ". Nothing else is new." * 400
_HUGE = (NOISE * (MEGABYTE // len(NOISE)))[: MEGABYTE - 30_000] + f" {NEEDLE} " + NOISE * 6


def one_source(home: Path) -> Life:
    life = opened(home, _LONG)
    life.connect(document("journal"), "Journal", _plain(_LONG))
    return life


def two_connections(home: Path) -> Life:
    """The same keys in both."""
    life = one_source(home)
    life.connect(document("journal"), "Other journal", _plain("Nothing."))
    return life


def package(home: Path) -> Life:
    life = one_source(home)
    life.connect(document("almanac"), "Almanac", _plain("Nothing."))
    return life


def hostile(home: Path) -> Life:
    life = opened(home, _HUGE)
    source = document("journal", detail=NOISE[:500], wide=True)
    life.connect(source, CORPUS["a whole answer"], _hostile(_HUGE))
    life.connect(source, CORPUS["terminal escapes"] + NOISE, _hostile("Nothing."))
    return life


CROWD_STREAMS, CROWD_CONNECTIONS, CROWD_HITS = 80, 25, 10_000


def crowd(home: Path) -> Life:
    """Very many streams, connections and hits; labels and keys as long as they may be, in many scripts."""
    life = opened(home)
    others = [f"stream_{number:02}_{'x' * 54}" for number in range(1, CROWD_STREAMS)]
    source = document("journal", others=others)
    each = CROWD_HITS // CROWD_CONNECTIONS
    for number in range(CROWD_CONNECTIONS):
        keys = [f"{n} " + ("🦭" * 100 if n % 2 else RIGHT_TO_LEFT) for n in range(each)]
        life.connect(
            source,
            f"{number} " + f"\u202e{RIGHT_TO_LEFT} 🦭\n" * 30,
            [entry(key, n, title=f"walrus {key}", body=NOISE[n:], kind=key) for n, key in enumerate(keys)],
        )
    return life


LIVES: dict[str, Callable[[Path], Life]] = {
    "one source": one_source,
    "two connections": two_connections,
    "a package": package,
    "hostile data": hostile,
}
