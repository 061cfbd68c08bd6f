"""`pdpp demo`: a throwaway home with a sample life, served, and one journey as an agent sees it."""

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from pdpp_server.app import create_app
from pdpp_server.cli.activity import print_disclosures
from pdpp_server.cli.grants import save_credential
from pdpp_server.cli.home import Home, open_home, shell_line
from pdpp_server.cli.importing import read_declaration
from pdpp_server.cli.read import answer_to
from pdpp_server.cli.serve import address_of, listen, server_of
from pdpp_server.cli.terminal import counted
from pdpp_server.evidence.text import compact_json
from pdpp_server.importers.run import import_ndjson
from pdpp_server.port.local import LocalReader
from pdpp_server.port.owner import Issued
from pdpp_server.settings import Settings
from pdpp_server.wire.grants import decode_selection

SAMPLE = Path(__file__).parent / "sample"
# A file of the sample, its declaration, and the name of the connection that it becomes.
FILES = (
    ("harbour.ndjson", "chat.declaration.json", "Harbour office"),
    ("family.ndjson", "chat.declaration.json", "Family"),
    ("notes.ndjson", "notes.declaration.json", "Commonplace"),
)
CHAT, NOTES = (f"https://registry.pdpp.dev/connectors/{key}" for key in ("tidepool-chat", "commonplace"))
AGENT, SCRIPT = "demo-agent", "demo-script"
START_SECONDS = 20
WINDOW_CHARS = 1100


@click.command()
@click.option(
    "--port", type=click.IntRange(0, 65_535), metavar="N", help="The port to serve on.  [default: 8787, or a free one]"
)
def demo(port: int | None) -> None:
    """A sample life in a throwaway home, and one agent's journey.

    It is imported, served, and read as an agent would read it. Nothing of yours is read or changed, and everything is
    removed when you press Ctrl-C. With DEMO_ONCE=1 it ends by itself after the journey.

    \b
    Example:
      pdpp demo
    """
    with suppress(KeyboardInterrupt), _ended_by_signals(), TemporaryDirectory(prefix="pdpp-demo-") as folder:
        listening = _listen(port)
        settings = Settings(home=Path(folder) / "home", port=listening.getsockname()[1])
        with listening, open_home(settings) as home:
            _play(home, listening)
    click.echo("\nThe demo is over; its folder is gone.")


def _play(home: Home, listening: socket.socket) -> None:
    _say("A sample life is imported: two sources, three connections.")
    connections = _import_sample(home)
    _say(
        "An agent gets a package of two grants: the notes, and of the chats who wrote what when, but no phone numbers."
    )
    click.echo("A script gets one grant: titles, notebooks and dates of notes.")
    package = home.owner.create_grant(decode_selection(_agent_selection(connections)), AGENT, None)
    script = home.owner.create_grant(decode_selection([_notes_selection("titles")]), SCRIPT, None)
    save_credential(home, AGENT, package)
    with _serving(home, listening) as address:
        _journey(home, package)
        _how_to_ask(home, address, script)
        if os.environ.get("DEMO_ONCE") != "1":
            click.echo("\nServing until you press Ctrl-C.")
            threading.Event().wait()


def _import_sample(home: Home) -> dict[str, str]:
    """Connection ids by name; through the same door as `pdpp import`."""
    connections: dict[str, str] = {}
    for file, declaration, name in FILES:
        writer = home.owner.writer(read_declaration(SAMPLE / declaration), name)
        receipt = import_ndjson(SAMPLE / file, writer, lambda _done, _receipt: None)
        connections[name] = writer.connection_id
        streams = ", ".join(writer.declaration.streams)
        click.echo(f"  {name} ({writer.declaration.name}: {streams}), {counted(receipt.accepted, 'record')}")
    return connections


def _agent_selection(connections: dict[str, str]) -> list[dict[str, Any]]:
    both = [connections["Harbour office"], connections["Family"]]
    streams = [{"name": "messages", "view": "basic", "instance_ids": both}, {"name": "channels", "instance_ids": both}]
    return [_selection(CHAT, streams), _selection(NOTES, [{"name": "notes"}])]


def _notes_selection(view: str) -> dict[str, Any]:
    return _selection(NOTES, [{"name": "notes", "view": view}])


def _selection(source: str, streams: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": "https://pdpp.dev/data-access",
        "source": {"id": source},
        "purpose_code": "https://pdpp.dev/purpose/assistant",
        "access_mode": "continuous",
        "streams": streams,
    }


def _journey(home: Home, package: Issued) -> None:
    """Each call is made of what the answer before it said."""
    reader = LocalReader(home.services, package.token)
    _say("What is there? The agent asks:")
    _call(reader, "schema", {})
    _say("What can be asked of one stream?")
    _call(reader, "schema", {"stream": "notes"})
    _say("Two words, over all three connections:")
    first: str = _call(reader, "search", {"query": "walrus clause", "limit": 5})["results"][0]["id"]
    _say("The same words side by side, and only in the notes. There is one hit, deep inside a long one:")
    step = _call(reader, "search", {"query": '"walrus clause"', "streams": ["notes"]})["next"][0]
    _say("The next call is printed beside the hit, and opens the note just there:")
    _call(reader, step["tool"], {**step["arguments"], "limit_chars": WINDOW_CHARS})
    _say("And the best hit of all, whole:")
    _call(reader, "fetch", {"id": first})
    _say("How many notes there are of each month, without reading one:")
    notes = {"stream": "notes", "connection_id": step["arguments"]["id"].partition("/")[0]}
    months = {"metric": "count", "group_by_time": "written_at", "granularity": "month"}
    _call(reader, "aggregate", {**notes, **months, "limit": 6})
    _say("The newest of them, a few at a time; the cursor goes on where this page ends:")
    _call(reader, "query_records", {**notes, "fields": ["title", "written_at"], "limit": 3, "count": "exact"})
    _say("What was not agreed to stays out, and the refusal says why:")
    _call(reader, "fetch", {"id": first, "fields": ["sender_phone"]})
    _say("What the owner sees, newest first (pdpp activity):")
    print_disclosures(home, home.owner.activity())


def _call(reader: LocalReader, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Shows what an agent sees as text, and returns what it sees as values."""
    answer = answer_to(reader, tool, arguments)
    click.echo(f"> {tool} {compact_json(arguments)}")
    click.echo(answer["content"][0]["text"])
    return answer["structuredContent"]


def _how_to_ask(home: Home, address: str, script: Issued) -> None:
    there = home.settings.home
    _say("Ask it yourself, while this runs. As the agent, over MCP (this line goes into an agent's configuration):")
    click.echo(shell_line(there, "mcp", "--client", AGENT))
    _say("As the script, over HTTP:")
    click.echo(f"curl -H 'Authorization: Bearer {script.token}' '{address}/v1/schema'")
    click.echo(f"curl -H 'Authorization: Bearer {script.token}' '{address}/v1/search?q=lease'")
    _say("As the owner:")
    for words in (["sources"], ["grants", "list"], ["search", "--grant", script.grant_id, "lease"], ["activity"]):
        click.echo(shell_line(there, *words))


@contextmanager
def _serving(home: Home, listening: socket.socket) -> Generator[str, None, None]:
    """The whole server, in a thread of this process, from its first answer until we leave."""
    server = server_of(create_app(home.settings, home.services))
    logging.getLogger("pdpp_server.access").setLevel(logging.WARNING)  # a line for each request would hide the journey
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        _require_health(home.settings.port)
        yield address_of(listening)
    finally:
        server.should_exit = True
        thread.join()


def _require_health(port: int) -> None:
    """The socket listens already, so the first answer comes when the server is there; it is waited for, not polled."""
    asking = HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)
    try:
        asking.request("GET", "/healthz")
        if asking.getresponse().status != 200:
            raise click.ClickException("The server does not call itself healthy.")
    finally:
        asking.close()


def _listen(port: int | None) -> socket.socket:
    """The port asked for, else the usual one, else a free one."""
    usual = Settings(home=Path()).port
    try:
        return listen("127.0.0.1", usual if port is None else port)
    except click.ClickException:
        if port is not None:
            raise
        return listen("127.0.0.1", 0)


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
