"""`pdpp import PATH`: recognise an export or read records of your own, and say what became of every part."""

import gc
import signal
from collections.abc import Generator
from contextlib import contextmanager
from datetime import tzinfo
from functools import partial
from pathlib import Path
from threading import Event

import click
from click.core import ParameterSource

from pdpp_server.cli.accounts import Wish, chosen_importers, import_exports, print_kinds, print_usual
from pdpp_server.cli.home import read_settings
from pdpp_server.cli.own_data import import_own
from pdpp_server.cli.receipts import imported, print_receipt
from pdpp_server.cli.recipients import recipient
from pdpp_server.cli.removals import print_removing_runs, print_undone
from pdpp_server.cli.terminal import connection_name, counted, json_option, size_text
from pdpp_server.cli.watching import say, watch
from pdpp_server.cli.zone import named_zone
from pdpp_server.errors import InvalidRequest
from pdpp_server.importers.ndjson import import_ndjson
from pdpp_server.importers.own_data import is_own_data
from pdpp_server.importers.registry import NothingKnown
from pdpp_server.importers.sources.own_export import connections_in, import_connection, is_export, size_of
from pdpp_server.model.sources import Declaration
from pdpp_server.settings import machine_zone
from pdpp_server.wire.declarations import FaultyDeclaration, parse_declaration

FILE = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)
PATH = click.Path(exists=True, readable=True, path_type=Path)
NEW_OBJECTS = 50_000  # until rings are looked for


@click.command("import")
@click.argument("paths", type=PATH, nargs=-1, metavar="[PATH]...")
@click.option("--name", callback=connection_name, help="What you call this account; the same name is the same one.")
@click.option("--as", "key", metavar="KIND", help="Read it as this kind, where it could be several.")
@click.option(
    "--zone", callback=named_zone, metavar="AREA/CITY", help="For times without a zone.  [default: this machine's]"
)
@click.option("--mapping", type=FILE, help="What the columns of a file mean that does not explain itself.")
@click.option(
    "--yes", is_flag=True, help="Take a proposed mapping where nothing is in doubt; remove even more than half."
)
@click.option("--newer", is_flag=True, help="This export is newer than the last of the same, where it cannot be told.")
@click.option("--keep-missing", is_flag=True, help="Remove nothing that the last export of the same had.")
@click.option(
    "--undo", type=int, is_flag=False, flag_value=0, metavar="RUN", help="Bring back what that import removed."
)
@click.option("--to", metavar="URL", help="Read here and deliver to the server at URL instead of this home.")
@click.option("--dry-run", is_flag=True, help="Say what was found, and write nothing.")
@click.option("--again", is_flag=True, help="Read an export again that was read to its end before.")
@click.option("--watch", "watching", is_flag=True, help="Import what is dropped into PATH, or the home's `inbox`.")
@click.option("--list", "kinds", is_flag=True, help="Which kinds there are, and how to get each.")
@click.option("--declaration", type=FILE, help="For records of your own: what declares the source and its streams.")
@json_option
@click.pass_context
def importing(
    context: click.Context,
    paths: tuple[Path, ...],
    name: str | None,
    key: str | None,
    zone: tzinfo | None,
    mapping: Path | None,
    yes: bool,
    newer: bool,
    keep_missing: bool,
    undo: int | None,
    to: str | None,
    dry_run: bool,
    again: bool,
    watching: bool,
    kinds: bool,
    declaration: Path | None,
    as_json: bool,
) -> int | None:
    """Bring your data in: exports of other services, as the zip, folder or file that you got.

    What was found is said first: accounts, streams, counts, from when to when. What cannot be read is left out and
    listed; the rest is kept. Importing again stores nothing twice, so a run that was stopped is simply run again.
    Without PATH, the folders where programs usually keep such files are looked into.

    A newer export of the same calendar, address book, vault, chat or bank account also removes what it has no longer:
    never if it was damaged, rejected in part or cannot be shown to be newer, and more than half only after asking.
    --undo RUN brings it back for 90 days; without a number it lists what can be brought back.

    Data of your own comes as NDJSON, one record a line, with --declaration and --name; without them a declaration is
    proposed for NDJSON, JSON, CSV and SQLite, shown, and taken with --yes. What `pdpp export` made is
    taken back. With --json one line for each connection counts what was accepted, unchanged and rejected.

    With --to URL the files are read here and their records are delivered to that server, with a token of its owner
    (PDPP_OWNER_TOKEN, or asked for). What was stopped goes on where it was. Nothing is removed there.

    \b
    Example:
      pdpp import takeout.zip
      pdpp import --dry-run Downloads/exports
      pdpp import notes.ndjson --declaration notes.json --name "My notes"
    """
    if kinds:
        _require_only(context, "--list", "kinds", "as_json")
        return print_kinds(as_json=as_json)
    if undo is not None:
        _require_only(context, "--undo", "undo", "as_json")
        return print_undone(undo, as_json=as_json) if undo else print_removing_runs(as_json=as_json)
    if watching:
        _require_only(context, "--watch", "watching", "paths", "zone")
        return _watch(paths, zone or machine_zone())
    if declaration is not None:
        _require_only(context, "--declaration", "declaration", "paths", "name", "to", "as_json")
        return _import_records(paths, declaration, name, to, as_json=as_json)
    if not paths:
        return print_usual(zone or machine_zone())
    if all(is_export(path) for path in paths):
        _require_only(context, "What `pdpp export` made", "paths", "to", "as_json")
        return max(_import_export(path, to, as_json=as_json) for path in paths)
    if to is not None:
        _require_no_removal(newer=newer, keep_missing=keep_missing)
    if zone is None:
        zone = machine_zone()
        click.echo(f"Times that name no zone are taken as {zone}; --zone says otherwise.", err=True)
    wish = Wish(
        zone,
        mapping.read_bytes() if mapping else None,
        name,
        dry_run=dry_run,
        again=again,
        as_json=as_json,
        yes=yes,
        is_newer=newer,
        keep_missing=keep_missing,
        to=to,
    )
    with _few_collections():
        return _import_found(paths, key, wish)


@contextmanager
def _few_collections() -> Generator[None, None, None]:
    """Records hold no rings: to look for such among all that is loaded, again and again, was a tenth of an import."""
    before = gc.get_threshold()
    gc.set_threshold(NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _import_found(paths: tuple[Path, ...], key: str | None, wish: Wish) -> int:
    """What is recognised; else records of the owner's own, where the one file can be read as such."""
    importers = chosen_importers(key)
    try:
        return import_exports(paths, importers, wish)
    except NothingKnown as unknown:
        if key is None and len(paths) == 1 and is_own_data(paths[0]):
            return import_own(paths[0], unknown, wish)
        raise


def _require_no_removal(*, newer: bool, keep_missing: bool) -> None:
    given = "--newer" if newer else "--keep-missing" if keep_missing else ""
    if given:
        raise click.UsageError(f"--to removes nothing, so {given} says nothing there.")


def _require_only(context: click.Context, what: str, *fitting: str) -> None:
    """Raises: UsageError where an option was given that would be ignored."""
    for option in context.command.params:
        given = option.name and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
        if given and option.name not in fitting:
            raise click.UsageError(f"{what} does not go with {option.opts[0]}.")


def _watch(paths: tuple[Path, ...], zone: tzinfo) -> int:
    """Until Ctrl-C. What is imported or refused is moved aside, into folders of these names."""
    settings = read_settings()
    if len(paths) > 1 or (paths and not paths[0].is_dir()):
        raise click.UsageError("--watch takes one folder.")
    folder = paths[0] if paths else settings.inbox_folder or settings.home / "inbox"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    click.echo(f"Watching {folder}: drop exports there. Ctrl-C ends it.", err=True)
    stopping = Event()
    before = signal.signal(signal.SIGINT, lambda _number, _frame: stopping.set())
    try:
        watch(folder, settings, zone, stopping, say)
    finally:
        signal.signal(signal.SIGINT, before)
    click.echo("Ended.", err=True)
    return 0


def _import_records(
    paths: tuple[Path, ...], declaration: Path, name: str | None, to: str | None, *, as_json: bool
) -> int:
    """A file of records that the owner declares."""
    if len(paths) != 1 or name is None:
        missing = "argument 'PATH'" if len(paths) != 1 else "option '--name'"
        raise click.UsageError(f"Missing {missing}: records of your own are one file, with --declaration and --name.")
    (path,) = paths
    if is_export(path):
        raise click.UsageError(
            "An export names and declares its connections itself; leave --declaration and --name out."
        )
    if path.is_dir():
        raise click.UsageError(f"{path} is a directory; --declaration is for a file of records.")
    declared = read_declaration(declaration)
    size = path.stat().st_size
    if not size:
        raise InvalidRequest(
            f"{path} is empty, so nothing was imported.", remedy="It should hold one JSON object a line."
        )
    _announce(path, size, declared, as_json=as_json)
    with recipient(to) as taking:
        writer = taking.writer(declared, name)
        receipt = imported(size, partial(import_ndjson, path, writer), name)
    if receipt is None:
        return 1
    print_receipt(writer.connection_id, name, receipt, len(receipt.rejected), receipt.rejected, to=to, as_json=as_json)
    if receipt.accepted or receipt.unchanged:
        return 0
    if not as_json:
        click.echo("No line of the file could be read as a record.", err=True)
    return 1


def _import_export(folder: Path, to: str | None, *, as_json: bool) -> int:
    """All connections of an export of ours, one after the other; a connection without a record is one too."""
    connections = connections_in(folder)
    declarations = [read_declaration(folder / connection.declaration) for connection in connections]
    with recipient(to) as taking:
        for connection, declared in zip(connections, declarations, strict=True):
            size = size_of(folder, connection)
            _announce(folder / connection.declaration, size, declared, as_json=as_json)
            writer = taking.writer(declared, connection.name)
            receipt = imported(size, partial(import_connection, folder, connection, writer), connection.name)
            if receipt is None:
                return 1
            rejected = receipt.rejected
            print_receipt(
                writer.connection_id, connection.name, receipt, len(rejected), rejected, to=to, as_json=as_json
            )
    return 0


def _announce(path: Path, size: int, declared: Declaration, *, as_json: bool) -> None:
    streams = ", ".join(declared.streams)
    click.echo(f"{path.name}: {size_text(size)} of {declared.name} (streams {streams})", err=as_json)


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
