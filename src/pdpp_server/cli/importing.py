"""`pdpp import PATH`: recognise an export or read records of your own, and say what became of every part."""

import gc
import signal
from collections.abc import Generator
from contextlib import contextmanager
from datetime import tzinfo
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import click
from click.core import ParameterSource

from pdpp_server.cli.accounts import Wish, chosen_importers, import_exports, print_kinds, print_usual
from pdpp_server.cli.home import read_settings
from pdpp_server.cli.import_options import ImportAsked, import_options
from pdpp_server.cli.own_data import import_own
from pdpp_server.cli.receipts import imported, print_receipt
from pdpp_server.cli.recipients import recipient
from pdpp_server.cli.removals import print_removing_runs, print_undone
from pdpp_server.cli.terminal import counted, size_text
from pdpp_server.cli.watching import say, watch
from pdpp_server.errors import InvalidRequest
from pdpp_server.evidence.text import visible
from pdpp_server.importers.ndjson import import_ndjson
from pdpp_server.importers.own_data import is_own_data
from pdpp_server.importers.registry import NothingKnown
from pdpp_server.importers.sources.own_export import connections_in, import_connection, is_export, size_of
from pdpp_server.model.sources import Declaration
from pdpp_server.settings import machine_zone
from pdpp_server.wire.declarations import FaultyDeclaration, parse_declaration

NEW_OBJECTS = 50_000  # until rings are looked for


@click.command("import")
@import_options
@click.pass_context
def importing(context: click.Context, **given: Any) -> int | None:
    """Bring your data in: exports of other services, as the zip, folder or file that you got.

    What was found is said first: accounts, streams, counts, from when to when. What cannot be read is left out and
    listed; the rest is kept. Importing again stores nothing twice, so a run that was stopped is simply run again.
    Without PATH, the folders where programs usually keep such files are looked into.

    A newer export of the same calendar, address book, vault, chat or bank account also removes what it has no longer:
    never if it was damaged, rejected in part or cannot be shown to be newer, and only after asking where it is more
    than half or looks as if some days or one label had been exported. For 90 days --undo RUN makes everything as it
    was before that import; without a number it lists those that removed something.

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
    return _done(context, ImportAsked(**given))


def _done(context: click.Context, asked: ImportAsked) -> int | None:
    """The first that fits; an option that it would ignore is refused."""
    if asked.kinds:
        _require_only(context, "--list", "kinds", "as_json")
        return print_kinds(as_json=asked.as_json)
    if asked.undo is not None:
        _require_only(context, "--undo", "undo", "as_json")
        return _undone(asked.undo, as_json=asked.as_json)
    if asked.watching:
        _require_only(context, "--watch", "watching", "paths", "zone")
        return _watch(asked.paths, asked.zone or machine_zone())
    if asked.declaration is not None:
        _require_only(context, "--declaration", "declaration", "paths", "name", "to", "as_json")
        return _import_records(asked.paths, asked.declaration, asked.name, asked.to, as_json=asked.as_json)
    if not asked.paths:
        return print_usual(asked.zone or machine_zone())
    if all(is_export(path) for path in asked.paths):
        _require_only(context, "What `pdpp export` made", "paths", "to", "as_json")
        return max(_import_export(path, asked.to, as_json=asked.as_json) for path in asked.paths)
    if asked.to is not None:
        _require_no_removal(newer=asked.newer, keep_missing=asked.keep_missing)
    with _few_collections():
        return _import_found(asked.paths, asked.key, _wish(asked))


def _undone(run: int, *, as_json: bool) -> int:
    """Without a number, what could be brought back is listed."""
    return print_undone(run, as_json=as_json) if run else print_removing_runs(as_json=as_json)


def _wish(asked: ImportAsked) -> Wish:
    zone = asked.zone
    if zone is None:
        zone = machine_zone()
        click.echo(f"Times that name no zone are taken as {zone}; --zone says otherwise.", err=True)
    return Wish(
        zone,
        asked.mapping.read_bytes() if asked.mapping else None,
        asked.name,
        dry_run=asked.dry_run,
        again=asked.again,
        as_json=asked.as_json,
        yes=asked.yes,
        is_newer=asked.newer,
        keep_missing=asked.keep_missing,
        to=asked.to,
    )


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
        watch(folder, settings, zone, say, stopping)
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
    told = f"{path.name}: {size_text(size)} of {declared.name} (streams {streams})"
    click.echo(visible(told), err=as_json)


def read_declaration(path: Path) -> Declaration:
    """Raises: FaultyDeclaration, after every fault was printed with its place."""
    try:
        return parse_declaration(path.read_bytes())
    except FaultyDeclaration as faulty:
        for fault in faulty.failures:
            click.echo(visible(f"{path}#{fault.path}: {fault.reference!r} {fault.says}"), err=True)
        said = (
            f"has {counted(len(faulty.failures), 'fault')}" if faulty.failures else f"cannot be used. {faulty.message}"
        )
        raise FaultyDeclaration(f"{path} {said}; nothing was imported.".replace(".;", ";")) from faulty
