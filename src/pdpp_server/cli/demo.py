"""`pdpp demo`: a throwaway home with a sample life, served, and one journey as an agent sees it."""

import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from starlette.applications import Starlette

from pdpp_server.app import create_app
from pdpp_server.cli.activity import print_disclosures
from pdpp_server.cli.home import Home, open_home, read_settings, shell_line
from pdpp_server.cli.life.everyday import HOME
from pdpp_server.cli.life.exports import write_life
from pdpp_server.cli.progress import bytes_bar
from pdpp_server.cli.read import answer_to
from pdpp_server.cli.running import marked
from pdpp_server.cli.saved import save_credential
from pdpp_server.cli.serve import listen_somewhere, serving
from pdpp_server.cli.terminal import counted, print_line, size_text
from pdpp_server.console.connect import NAME
from pdpp_server.evidence.text import compact_json, quoted, visible
from pdpp_server.importers.registry import IMPORTERS, FoundAccount, look_into
from pdpp_server.importers.run import Tally, import_account
from pdpp_server.model.selections import Selection, StreamSelection
from pdpp_server.owner.desk import IssuedGrant
from pdpp_server.port.local import LocalReader
from pdpp_server.settings import Settings
from pdpp_server.store.opened import open_owners
from pdpp_server.wire.clients import ways
from pdpp_server.wire.discovery import MCP
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.far_tools import ToolHit, decode_found, decode_next, decode_records

AGENT, SCRIPT = "demo-agent", "demo-script"
OWN_MAIL = "nora.lindqvist@mail.example"
# What the agent may read of each source: streams, each whole or as one of its declared views.
AGENT_READS: dict[str, dict[str, str | None]] = {
    "mail": {"messages": "without_quotes", "threads": None},
    "slack": {"messages": "texts", "channels": None},
    "telegram": {"messages": "texts", "chats": None},
    "calendar": {"events": "without_people", "occurrences": None},
    "ofx": {"transactions": "without_account_numbers"},
    "markdown": {"notes": "texts"},
}
WINDOW_CHARS = 1100

Connections = dict[tuple[str, str], str]  # ids by kind and name


@click.command()
@click.option(
    "--port", type=click.IntRange(0, 65_535), metavar="N", help="The port to serve on.  [default: 8787, or a free one]"
)
@click.option(
    "--write",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Only write the exports of the sample life there, to look at or to import.",
)
def demo(port: int | None, folder: Path | None) -> None:
    """A sample life in a throwaway home, and one agent's journey.

    Three years of somebody who never lived: mail, chats, calendar, bank and notes, as the exports of those services.
    They are imported, served, and read as an agent would read them. Nothing of yours is read or changed, and all of it
    is removed when you press Ctrl-C. With DEMO_ONCE=1 it ends by itself after the journey.

    \b
    Example:
      pdpp demo
      pdpp demo --write life && pdpp import --dry-run life
    """
    if folder is not None:
        write_life(folder)
        click.echo(f"The exports of a sample life are in {folder}.")
        return
    with suppress(KeyboardInterrupt), _ended_by_signals(), TemporaryDirectory(prefix="pdpp-demo-") as throwaway:
        listening = listen_somewhere(port)
        settings = Settings(home=Path(throwaway) / "home", port=listening.getsockname()[1])
        with listening, _guest(settings) as theirs, open_home(theirs) as home:
            _play(home, Path(throwaway) / "exports", listening)
    click.echo("\nThe demo is over; its folder is gone.")


@contextmanager
def _guest(settings: Settings) -> Generator[Settings, None, None]:
    """In a database that others share, an owner of its own, who is erased with everything in the end."""
    database = read_settings().database_url
    if database is None:
        yield settings
        return
    shared = replace(settings, database_url=database)
    with closing(open_owners(shared)) as owners:
        guest = owners.add(f"demo-{secrets.token_hex(4)}")
        assert guest is not None
        try:
            yield replace(shared, owner=guest.name)
        finally:
            owners.remove(guest.number)


def _play(home: Home, exports: Path, listening: socket.socket) -> None:
    _say("A sample life: the exports of its services are written, recognised and imported, as `pdpp import` does it.")
    write_life(exports)
    connections = _import_all(home, exports)
    _say("An agent gets a package of six grants: chats, calendar, bookings, notes and the private mail.")
    click.echo("Not the work mail, not the AI chats, no quoted mail, no telephone and no account numbers.")
    click.echo("A script gets one grant: titles and dates of notes.")
    package = home.owner.create_grant(_agent_selections(connections), AGENT, None)
    titles = _selection("markdown", {"notes": "titles"}, connections)
    script = home.owner.create_grant((titles,), SCRIPT, None)
    save_credential(home, AGENT, package)
    app = create_app(home.settings, home.services)
    with serving(app, listening) as address, marked(home.settings):
        _journey(home, LocalReader(home.services, package.token, address), connections)
        _how_to_ask(home, address, app, script)
        if os.environ.get("DEMO_ONCE") != "1":
            click.echo("\nServing until you press Ctrl-C.")
            threading.Event().wait()


# The life -----------------------------------------------------------------------------------------------------------


def _import_all(home: Home, exports: Path) -> Connections:
    """Account by account, through the same door as `pdpp import`; the bar goes over all of them."""
    found = look_into(exports, HOME, None, IMPORTERS).found
    connections: Connections = {}
    total = sum(one.size for one in found)
    done = records = 0
    for one in found:
        writer = home.owner.writer(one.declaration, one.account.name)
        with bytes_bar("Importing") as advance:  # closed before the line below, which belongs to standard output
            tally = import_account(one, writer, lambda read, _tally, before=done: advance(before + read, total))
        connections[one.importer.key, one.account.name] = writer.connection_id
        done, records = done + one.size, records + tally.stored
        _print_account(one, tally)
    click.echo(f"{counted(records, 'record')} of {counted(len(found), 'account')}, {size_text(total)}.")
    return connections


def _print_account(found: FoundAccount, tally: Tally) -> None:
    said = f"{found.declaration.name} {quoted(found.account.name)} from {visible(found.where)}"
    click.echo(f"  {said}: {counted(tally.stored, 'record')}")
    for rejection in tally.rejections:
        click.echo(f"    left out, {visible(rejection.place)}: {visible(rejection.reason)}")


def _agent_selections(connections: Connections) -> tuple[Selection, ...]:
    """Every account of a source, but of mail only the private one."""
    chosen = {place: number for place, number in connections.items() if place[0] != "mail" or place[1] == OWN_MAIL}
    return tuple(_selection(key, reads, chosen) for key, reads in AGENT_READS.items())


def _selection(key: str, reads: dict[str, str | None], connections: Connections) -> Selection:
    numbers = tuple(number for (kind, _), number in connections.items() if kind == key)
    return Selection(
        source_id=f"https://registry.pdpp.dev/connectors/{key}",
        source_kind=None,
        purpose_code="https://pdpp.dev/purpose/assistant",
        purpose_description=None,
        access_mode="continuous",
        streams=tuple(StreamSelection(name, connections=numbers, view=view) for name, view in reads.items()),
    )


# The journey --------------------------------------------------------------------------------------------------------


def _journey(home: Home, reader: LocalReader, connections: Connections) -> None:
    """Each call is made of what the answer before it said."""
    _say("What is there? The agent asks:")
    _call(reader, "schema")
    _lease(reader)
    _money(reader)
    _trip(reader)
    _orders(reader)
    _say("What was not agreed to stays out, and the refusal says why:")
    bank = connections["ofx", "Maasbank"]
    _call(reader, "query_records", stream="transactions", connection_id=bank, fields=["counterparty_account"])
    _say("What the owner sees, newest first (pdpp activity):")
    print_disclosures(home, home.owner.activity())


def _lease(reader: LocalReader) -> None:
    _say("Nora moved for a new job, and her lease had half a year to run. How? Three words, over everything:")
    _call(reader, "search", query="lease break option", limit=5)
    _say("Two of them side by side, and only in the notes. There is one hit, deep inside a long contract:")
    tool, arguments = decode_next(_call(reader, "search", query='"break option"', streams=["notes"]))[0]
    _say("The next call is printed beside the hit, and opens the contract just there:")
    _call(reader, tool, **arguments, limit_chars=WINDOW_CHARS)
    _say("It takes a registered letter. Did it arrive in time?")
    mail = _first_found(reader, query="letter came deposit keys", streams=["messages"], limit=2)
    _say("The landlord's mail, whole:")
    _call(reader, "fetch", id=mail.id)


def _money(reader: LocalReader) -> None:
    _say("And did the deposit come back? The bank says so:")
    booking = _first_found(reader, query="deposit returned", streams=["transactions"], limit=2)
    of_bank = partial(_call, reader, stream="transactions", connection_id=_connection(booking))
    _say("Who paid it?")
    same = {"description": booking.title}
    paid = decode_records(of_bank("query_records", filter=same, fields=["booked_on", "amount_text", "counterparty"]))
    _say("What the flat cost in all, without reading one booking:")
    by_landlord = {"counterparty": paid.data[0]["counterparty"]}
    of_bank("aggregate", metric="sum", field="amount", filter=by_landlord)
    _say("And where most of the bookings go:")
    of_bank("aggregate", metric="count", group_by="counterparty", limit=6)


def _trip(reader: LocalReader) -> None:
    _say("A journey to the north, in the calendar:")
    journey = _first_found(reader, query="Tromsø", streams=["events"], limit=3)
    _say("Its week backwards, a few at a time. One bus left in an hour that the clocks skipped:")
    page = partial(
        _call,
        reader,
        "query_records",
        stream="occurrences",
        connection_id=_connection(journey),
        filter={"start": {"gte": "2025-03-21T00:00:00Z", "lt": "2025-03-31T00:00:00Z"}},
        sort="-start",
        fields=["title", "start", "start_local"],
        limit=3,
    )
    first = decode_records(page())
    _say("The cursor goes on where the page ended:")
    page(cursor=first.next_cursor)


def _orders(reader: LocalReader) -> None:
    _say("A stranger wrote a mail that gives orders, and dresses them up as an answer of this server:")
    mail = _first_found(reader, query='"ignore your earlier instructions"', limit=1)
    _say("Whole, it is still one quoted text of one record:")
    _call(reader, "fetch", id=mail.id)


def _first_found(reader: LocalReader, **arguments: Any) -> ToolHit:
    return decode_found(_call(reader, "search", **arguments))[0]


def _connection(found: ToolHit) -> str:
    """An id begins with the connection that the record came by."""
    return found.id.partition("/")[0]


def _call(reader: LocalReader, tool: str, **arguments: Any) -> Json:
    """Shows what an agent sees as text, and returns what it sees as values."""
    answer = answer_to(reader, tool, arguments)
    click.echo(f"> {tool} {compact_json(arguments)}")
    click.echo(answer.text)
    return answer.structured


# Ask it yourself ----------------------------------------------------------------------------------------------------


def _how_to_ask(home: Home, address: str, app: Starlette, script: IssuedGrant) -> None:
    there = home.settings.home
    whose = {"PDPP_OWNER": home.settings.owner} if home.settings.owner else {}
    _say("Ask it yourself, while this runs. The owner's pages, and the tools of agents:")
    click.echo(f"{address}        choose a password at /welcome with the setup code {app.state.sign_in.setup_code}")
    click.echo(f"{address}{MCP}")
    _say("An app of yours, which then asks for your consent in the browser:")
    for way in ways(NAME, f"{address}{MCP}"):
        for line in (*way.lines, *([way.link] if way.link else [])):
            print_line(f"{way.client + ':':<12} {line}")
        if way.needs_public:
            click.echo(f"{way.client + ':':<12} {way.place}; it needs an https address that it can reach")
    _say("The agent of this journey, over standard input and output:")
    print_line(shell_line(there, "mcp", "--client", AGENT, **whose))
    _say("The script, over HTTP:")
    print_line(f"curl -H 'Authorization: Bearer {script.token}' '{address}/v1/schema'")
    print_line(f"curl -H 'Authorization: Bearer {script.token}' '{address}/v1/search?q=lease'")
    _say("The owner, in a terminal:")
    for words in (["sources"], ["grants", "list"], ["search", "--grant", script.grant_id, "lease"], ["activity"]):
        print_line(shell_line(there, *words, **whose))


@contextmanager
def _ended_by_signals() -> Generator[None, None, None]:
    """A closed terminal and a polite kill end it as Ctrl-C does, so that the folder is removed then too."""
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), signal.default_int_handler) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def _say(line: str) -> None:
    """Flushed, so that whoever reads through a pipe sees it as it happens."""
    click.echo(f"\n{line}")
    sys.stdout.flush()
