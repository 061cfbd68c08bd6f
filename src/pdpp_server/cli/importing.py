"""`pdpp import PATH`: read a file or an export, deliver its records, say what became of every line."""

import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from pdpp_server.cli.home import named_home, open_home, shell_line
from pdpp_server.cli.terminal import connection_name, counted, json_option, print_columns, print_json, size_text
from pdpp_server.errors import InvalidRequest
from pdpp_server.importers.export import connections_in, import_connection, is_export, size_of
from pdpp_server.importers.run import import_ndjson
from pdpp_server.model.ingest import Receipt
from pdpp_server.model.sources import Declaration
from pdpp_server.port.writer import Writer
from pdpp_server.wire.declarations import FaultyDeclaration, parse_declaration

REJECTIONS_SHOWN = 20
FILE = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)
PATH = click.Path(exists=True, readable=True, path_type=Path)

Heard = Callable[[int, Receipt], None]


@click.command("import")
@click.argument("path", type=PATH)
@click.option("--declaration", type=FILE, help="The JSON file that declares the source and its streams.")
@click.option("--name", callback=connection_name, help="What you call this account; the same name is the same one.")
@json_option
def importing(path: Path, declaration: Path | None, name: str | None, as_json: bool) -> int:
    """Bring data of your own in: NDJSON, one record a line, or a folder that `pdpp export` made.

    Lines that do not fit are left out and listed; the others are kept. Importing again stores nothing twice, so a run
    that was stopped is simply run again. With --json one line for each connection counts what was accepted, unchanged
    and rejected.

    \b
    Example:
      pdpp import notes.ndjson --declaration notes.json --name "My notes"
      pdpp import my-export
    """
    if path.is_dir():
        return _import_export(path, declaration, name, as_json=as_json)
    if declaration is None or name is None:
        missing = "--declaration" if declaration is None else "--name"
        raise click.UsageError(f"Missing option '{missing}': a file of records needs both.")
    declared = read_declaration(declaration)
    size = path.stat().st_size
    if not size:
        raise InvalidRequest(
            f"{path} is empty, so nothing was imported.", remedy="It should hold one JSON object a line."
        )
    _announce(path, size, declared, as_json=as_json)
    with open_home() as home:
        writer = home.owner.writer(declared, name)
        receipt = _imported(size, partial(import_ndjson, path, writer))
    if receipt is None:
        return 1
    _report(writer, name, receipt, as_json=as_json)
    if receipt.accepted or receipt.unchanged:
        return 0
    if not as_json:
        click.echo("No line of the file could be read as a record.", err=True)
    return 1


def _import_export(folder: Path, declaration: Path | None, name: str | None, *, as_json: bool) -> int:
    """All connections of an export, one after the other; a connection without a record is one too."""
    if not is_export(folder):
        raise click.UsageError(f"{folder} is a directory, and none that `pdpp export` made.")
    if declaration is not None or name is not None:
        raise click.UsageError(
            "An export names and declares its connections itself; leave --declaration and --name out."
        )
    connections = connections_in(folder)
    declarations = [read_declaration(folder / connection.declaration) for connection in connections]
    with open_home() as home:
        for connection, declared in zip(connections, declarations, strict=True):
            size = size_of(folder, connection)
            _announce(folder / connection.declaration, size, declared, as_json=as_json)
            writer = home.owner.writer(declared, connection.name)
            receipt = _imported(size, partial(import_connection, folder, connection, writer))
            if receipt is None:
                return 1
            _report(writer, connection.name, receipt, as_json=as_json)
    return 0


def _announce(path: Path, size: int, declared: Declaration, *, as_json: bool) -> None:
    streams = ", ".join(declared.streams)
    click.echo(f"{path.name}: {size_text(size)} of {declared.name} (streams {streams})", err=as_json)


def _imported(size: int, run: Callable[[Heard], Receipt]) -> Receipt | None:
    """What became of it; None where it was stopped, which is said then."""
    try:
        with _progress(size) as advance, _stopped_between_batches(advance) as heard:
            return run(heard)
    except _Stopped as stopped:
        stored = counted(stopped.records, "record")
        click.echo(f"Stopped. {stored} of the file are kept; run the same command again to go on.", err=True)
        return None


def read_declaration(path: Path) -> Declaration:
    """Raises: FaultyDeclaration, after every fault was printed with its place."""
    try:
        return parse_declaration(path.read_bytes())
    except FaultyDeclaration as faulty:
        for fault in faulty.failures:
            click.echo(f"{path}#{fault.path}: {fault.reference!r} {fault.says}", err=True)
        said = (
            f"has {counted(len(faulty.failures), 'fault')}" if faulty.failures else f"cannot be used. {faulty.message}"
        )
        raise FaultyDeclaration(f"{path} {said}; nothing was imported.".replace(".;", ";")) from faulty


@contextmanager
def _progress(size: int) -> Generator[Heard, None, None]:
    """A bar on a terminal; elsewhere nothing."""
    rate = TextColumn("{task.fields[records]} records, {task.fields[rate]} a second")
    parts = (BarColumn(), TaskProgressColumn(), rate, TimeRemainingColumn())
    with Progress(*parts, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=size, records=0, rate=0)

        def advance(done: int, receipt: Receipt) -> None:
            records = receipt.accepted + receipt.unchanged
            seconds = bar.tasks[0].elapsed or 0
            bar.update(task, completed=done, records=records, rate=int(records / seconds) if seconds else 0)

        yield advance


class _Stopped(Exception):
    def __init__(self, records: int) -> None:
        super().__init__(records)
        self.records = records


@contextmanager
def _stopped_between_batches(advance: Heard) -> Generator[Heard, None, None]:
    """Ctrl-C lets the batch in hand be stored, so that what is said to be kept is what is kept; twice stops at once."""
    asked = False

    def ask(signal_number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            signal.default_int_handler(signal_number, frame)
        asked = True

    def heard(done: int, receipt: Receipt) -> None:
        advance(done, receipt)
        if asked:
            raise _Stopped(receipt.accepted + receipt.unchanged)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield heard
    finally:
        signal.signal(signal.SIGINT, before)


def _report(writer: Writer, name: str, receipt: Receipt, *, as_json: bool) -> None:
    rejected = len(receipt.rejected)
    if rejected:
        click.echo(f"{counted(rejected, 'line')} rejected:", err=True)
        print_columns(receipt.rejected[:REJECTIONS_SHOWN], indent="  ", err=True)
        if rejected > REJECTIONS_SHOWN:
            see = shell_line(named_home(), "sources", "--rejected", writer.connection_id)
            click.echo(f"  and {rejected - REJECTIONS_SHOWN} more; see them with: {see}", err=True)
    if as_json:
        counts = {"accepted": receipt.accepted, "unchanged": receipt.unchanged, "rejected": rejected}
        print_json({"connection_id": writer.connection_id, **counts})
        return
    words = f"{receipt.accepted} accepted, {receipt.unchanged} unchanged, {rejected} rejected"
    click.echo(f'"{name}" is connection {writer.connection_id}: {words}.')
