"""The sample life on a server of its own: nine accounts, a client that has read, one that ended; and an empty home."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pdpp_server.app import create_app
from pdpp_server.cli.life.everyday import HOME
from pdpp_server.cli.life.exports import write_life
from pdpp_server.cli.read import answer_to
from pdpp_server.evidence.handles import mint
from pdpp_server.importers.registry import IMPORTERS, declaration_of, look_into
from pdpp_server.importers.run import import_account
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.model.records import RecordId
from pdpp_server.owner.desk import IssuedGrant, Owner
from pdpp_server.owner.sign_in import SignIn
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import Services, open_services
from pdpp_server.settings import Settings
from pdpp_server.wire.grants import DETAIL_TYPE, decode_selection
from tests.worlds.served import served
from tests.worlds.world import Clock, close

AGENT, SCRIPT, FORMER = "Claude Code", "Notes by the week", "An app of last year"
PASSWORD = "a quiet harbour at night"
MAIL = "nora.lindqvist@mail.example"
# What the agent may read of each source: streams, each whole or as one of its declared views.
READS: dict[str, dict[str, str | None]] = {
    "mail": {"messages": "without_quotes", "threads": None},
    "telegram": {"messages": "texts", "chats": None},
    "calendar": {"events": "without_people", "occurrences": None},
    "ofx": {"transactions": "without_account_numbers"},
    "markdown": {"notes": "texts"},
}


@dataclass(frozen=True)
class Lived:
    """`connections` are ids by kind and name; `base` is the address of the server, `setup_code` its first code."""

    services: Services
    owner: Owner
    clock: Clock
    base: str
    setup_code: str | None
    connections: dict[tuple[str, str], str]
    agent: IssuedGrant | None = None
    exports: Path = Path()  # the files that it was brought in from
    samples: tuple[str, ...] = ()  # small ones among them, and one with a line that is rejected

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """As the agent calls it."""
        assert self.agent is not None
        reader = LocalReader(self.services, self.agent.token, self.base)
        return answer_to(reader, tool, arguments).structured

    def grant(self, key: str, streams: dict[str, str | None], client: str) -> IssuedGrant:
        """Streams of one source, for a client of that name."""
        return self.owner.create_grant(decode_selection(_selections({key: streams}, self.connections)), client, None)

    def deliver_note(self, title: str) -> str:
        """A note called so, everywhere; the address of it."""
        writer = self.owner.writer(declaration_of("markdown"), "Commonplace")
        names = {"id": title, "title": title, "path": title, "folder": title, "text": title, "tags": [title]}
        data = {**names, "created_at": "2026-11-14T08:00:00Z", "link_count": 0, "word_count": 1}
        receipt = writer.deliver([Incoming("test:1", "notes", None, data, "2026-11-14T08:00:00Z")])
        assert receipt.accepted == 1, receipt
        return quote(mint(RecordId(writer.connection_id, "notes", title)))


@contextmanager
def empty(home: Path, language: str = "en") -> Generator[Lived]:
    """Nothing was brought in, and no password is set."""
    with _opened(home, language) as (services, clock, base, code):
        yield Lived(services, Owner(services, home), clock, base, code, {})


@contextmanager
def lived(folder: Path, language: str = "en") -> Generator[Lived]:
    """Everything was brought in; `PASSWORD` opens it."""
    with _opened(folder / "home", language) as (services, clock, base, _code):
        owner = Owner(services, folder / "home")
        SignIn(services).set_password(PASSWORD)
        connections = _brought_in(owner, folder / "exports")
        agent = owner.create_grant(decode_selection(_selections(READS, connections)), AGENT, None)
        exports = folder / "exports"
        broken = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nX-WR-CALNAME:Choir\r\nBEGIN:VEVENT\r\nUID:1@choir\r\n"
        broken += "DTSTART:20260301T190000Z\r\nSUMMARY:Rehearsal\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nUID:2@choir\r\n"
        exports.joinpath("choir.ics").write_text(f"{broken}DTSTART:soon\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
        samples = ("choir.ics", *sorted(path.name for path in exports.glob("*.ofx"))[:1])
        whole = Lived(services, owner, clock, base, None, connections, agent, exports, samples)
        _days_of_reading(whole)
        yield whole


@contextmanager
def _opened(home: Path, language: str) -> Generator[tuple[Services, Clock, str, str | None]]:
    clock = Clock()
    services = open_services(home, now=clock)
    app = create_app(Settings(home=home, language=language), services)
    try:
        with served(app) as base:
            yield services, clock, base, app.state.sign_in.setup_code
    finally:
        close(services)


def _brought_in(owner: Owner, exports: Path) -> dict[tuple[str, str], str]:
    write_life(exports)
    connections: dict[tuple[str, str], str] = {}
    for one in look_into(exports, HOME, None, IMPORTERS).found:
        writer = owner.writer(one.declaration, one.account.name)
        import_account(one, writer, lambda _read, _tally: None)
        connections[one.importer.key, one.account.name] = writer.connection_id
        if one.importer.key == "ofx":
            writer.finish("2026.ofx", [Rejection("2026.ofx:12", "schema_mismatch", "it belongs to no account")])
    return connections


def _selections(reads: dict[str, dict[str, str | None]], connections: dict[tuple[str, str], str]) -> list[Any]:
    return [
        {
            "type": DETAIL_TYPE,
            "source": {"id": f"https://registry.pdpp.dev/connectors/{key}"},
            "purpose_code": "https://pdpp.dev/purpose/assistant",
            "access_mode": "continuous",
            "streams": [
                {"name": name, "instance_ids": _of(key, connections), **({"view": view} if view else {})}
                for name, view in streams.items()
            ],
        }
        for key, streams in reads.items()
    ]


def _of(key: str, connections: dict[tuple[str, str], str]) -> list[str]:
    return [id for (kind, name), id in connections.items() if kind == key and (kind != "mail" or name == MAIL)]


def _days_of_reading(life: Lived) -> None:
    """An agent that read on some days, one that ended, one that never came."""
    today = life.clock.moment
    life.owner.revoke(life.grant("markdown", {"notes": "titles"}, FORMER).grant_id)
    life.grant("markdown", {"notes": "titles"}, SCRIPT)
    for days in (19, 12, 11, 4, 0):
        life.clock.moment = today - timedelta(days=days)
        life.call("search", query="lease break option", limit=3)
    life.clock.moment = today - timedelta(minutes=9)
    bank = life.connections["ofx", "Maasbank"]
    life.call("aggregate", stream="transactions", connection_id=bank, metric="count", group_by="counterparty")
    life.call("search", query="xylophone zeppelin")
    found = life.call("search", query='"break option"', streams=["notes"])
    life.call("fetch", id=found["results"][0]["id"])
    life.clock.moment = today
