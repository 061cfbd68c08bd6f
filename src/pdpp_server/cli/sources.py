"""`pdpp sources`: what was brought in, how much, from when to when, how fresh, what was rejected; and taking it out."""

import re

import click

from pdpp_server.cli.home import Home, named_home, now, open_home, shell_line
from pdpp_server.cli.live import add, print_live, stop
from pdpp_server.cli.terminal import (
    NOTHING_HERE,
    connection_name,
    counted,
    json_option,
    moment,
    print_columns,
    print_json,
)
from pdpp_server.errors import ConnectionNotFound
from pdpp_server.evidence.text import quoted, visible
from pdpp_server.model.grants import Grant
from pdpp_server.model.ingest import Finished, Rejection
from pdpp_server.model.sources import StoredSource, StoredStream
from pdpp_server.model.times import iso, iso_micros
from pdpp_server.wire.command.sources import (
    encode_live,
    encode_rejected,
    encode_removed,
    encode_renamed,
    encode_source,
    encode_sources,
)

DAY_CHARS = 10


@click.group(invoke_without_command=True)
@click.option("--rejected", metavar="CONNECTION", help="The rejected lines of that connection (its id or its name).")
@json_option
@click.pass_context
def sources(context: click.Context, rejected: str | None, as_json: bool) -> None:
    """What was brought in: streams, counts, times, rejected lines; and which sources are followed.

    \b
    Example:
      pdpp sources
      pdpp sources add folder ~/Notes
      pdpp sources --rejected "My notes"
    """
    if context.invoked_subcommand is not None:
        if rejected is not None or as_json:
            raise click.UsageError(f"Options of `sources` itself do not go with `{context.invoked_subcommand}`.")
        return
    with open_home() as home:
        if rejected is not None:
            _print_rejected(home, rejected, as_json=as_json)
        elif as_json:
            read = home.owner.last_imports()
            stored = [encode_source(source, read.get(source.connection_id)) for source in home.owner.sources()]
            followed = [encode_live(source) for source in home.owner.live.all()]
            print_json(encode_sources(stored, followed))
        else:
            _print_sources(home.owner.sources(), home.owner.last_imports())
            print_live(home)


sources.add_command(add)
sources.add_command(stop)


@sources.command()
@click.argument("connection")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def remove(connection: str, yes: bool, as_json: bool) -> None:
    """Erase a connection and everything that came by it, for good.

    CONNECTION is its id or its name. Records, what they were before, their words, their blobs and the state of
    collectors are overwritten, and so is the copy that an upgrade may have made. Grants stay, and show what is left to
    them. The log of disclosures stays too: it says which records were shown, by their ids, and holds nothing of their
    text. Backups of your own are yours to remove.

    \b
    Example:
      pdpp sources remove "My notes"
    """
    with open_home() as home:
        source = find_source(home, connection)
        if not yes:
            _print_removal(home, source)
            click.confirm("Erase all of this?", abort=True, err=True)
        home.owner.remove_source(source.connection_id)
    records = sum(stream.records for stream in source.streams)
    if as_json:
        print_json(encode_removed(source.connection_id, records))
    else:
        click.echo(f"{quoted(source.called)} is erased: {counted(records, 'record')}.")


def _print_removal(home: Home, source: StoredSource) -> None:
    click.echo(f"{quoted(source.called)} {source.connection_id}", err=True)
    print_columns([_row(stream) for stream in source.streams], indent="  ", err=True)
    live = _live_grants(home, source.connection_id)
    if live:
        grants = counted(len(live), "grant")
        click.echo(f"  {grants} will show less: {', '.join(live)}", err=True)


def _live_grants(home: Home, connection_id: str) -> list[str]:
    at = iso(now())
    named = [row for row in home.owner.grants() if connection_id in _connections(row.grant)]
    return [row.grant.grant_id for row in named if row.state.word(at) == "active"]


def _connections(grant: Grant) -> set[str]:
    return {connection_id for stream in grant.streams for connection_id in stream.connections}


@sources.command()
@click.argument("connection")
@click.argument("name", callback=connection_name)
@json_option
def rename(connection: str, name: str, as_json: bool) -> None:
    """Give a connection another name to be shown by.

    Only what is shown changes: its id stays, grants stay, and a file goes on to be imported by the first name.

    \b
    Example:
      pdpp sources rename "My notes" "Notes of 2026"
    """
    with open_home() as home:
        source = find_source(home, connection)
        home.owner.rename_source(source.connection_id, name)
    if as_json:
        print_json(encode_renamed(source.connection_id, name))
    else:
        click.echo(f"{source.connection_id} is called {quoted(name)} now.")


def _print_sources(found: list[StoredSource], last_read: dict[str, Finished]) -> None:
    if not found:
        click.echo(NOTHING_HERE)
    for source in found:
        name = quoted(source.called)
        click.echo(
            f"{name} {visible(source.connector_key)} {source.connection_id}, imported {moment(source.updated_at)}"
        )
        if source.streams:
            print_columns([_row(stream) for stream in source.streams], indent="  ")
        if read := last_read.get(source.connection_id):
            click.echo(f"  last read {visible(read.file)}, {moment(read.at)}")
        if source.rejected:
            see = shell_line(named_home(), "sources", "--rejected", source.connection_id)
            click.echo(f"  {counted(source.rejected, 'line')} rejected; see them with: {see}")


def _row(stream: StoredStream) -> tuple[str, str, str]:
    return stream.name, counted(stream.records, "record"), _span(stream)


def _span(stream: StoredStream) -> str:
    if stream.earliest is None or stream.latest is None:
        return ""
    return f"{_day(stream.earliest)} to {_day(stream.latest)}"


def _day(micros: int) -> str:
    return iso_micros(micros)[:DAY_CHARS]


def find_source(home: Home, wanted: str) -> StoredSource:
    """The connection of that id or name. Raises: ConnectionNotFound, UsageError."""
    found = [source for source in home.owner.sources() if wanted in {source.connection_id, source.name}]
    if not found:
        raise ConnectionNotFound(f"There is no connection {wanted!r}.", remedy="`pdpp sources` shows them.")
    if len(found) > 1:
        ids = ", ".join(source.connection_id for source in found)
        raise click.UsageError(f"Several connections are called {wanted!r}; name one by its id: {ids}")
    return found[0]


def _print_rejected(home: Home, wanted: str, *, as_json: bool) -> None:
    connection_id = find_source(home, wanted).connection_id
    rejections = sorted(home.owner.rejections(connection_id), key=_in_file_order)
    if as_json:
        print_json(encode_rejected(connection_id, rejections))
    elif rejections:
        print_columns(rejections)
    else:
        click.echo("No line was rejected.")


def _in_file_order(rejection: Rejection) -> tuple[str, int]:
    file, _, line = rejection.place.rpartition(":")
    return file, int(line) if re.fullmatch(r"\d+", line, re.ASCII) else 0
