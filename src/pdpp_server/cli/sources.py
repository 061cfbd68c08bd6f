"""`pdpp sources`: what was brought in, how much, from when to when, how fresh, and what was rejected."""

import re
from typing import Any

import click

from pdpp_server.cli.home import Home, named_home, open_home, shell_line
from pdpp_server.cli.terminal import counted, json_option, moment, print_columns, print_json
from pdpp_server.errors import ConnectionNotFound
from pdpp_server.evidence.text import quoted, visible
from pdpp_server.model.ingest import Rejection
from pdpp_server.model.times import iso_micros
from pdpp_server.store.sources import StoredSource, StoredStream


@click.command()
@click.option("--rejected", metavar="CONNECTION", help="The rejected lines of that connection (its id or its name).")
@json_option
def sources(rejected: str | None, as_json: bool) -> None:
    """What was brought in: streams, counts, times, rejected lines.

    \b
    Example:
      pdpp sources
      pdpp sources --rejected "My notes"
    """
    with open_home() as home:
        if rejected is not None:
            _print_rejected(home, rejected, as_json=as_json)
        elif as_json:
            print_json({"connections": [_document(source) for source in home.owner.sources()]})
        else:
            _print_sources(home.owner.sources())


def _document(source: StoredSource) -> dict[str, Any]:
    return {
        "connection_id": source.connection_id,
        "name": source.name,
        "connector_key": source.connector_key,
        "updated_at": source.updated_at,
        "rejected": source.rejected,
        "streams": [
            {
                "name": stream.name,
                "records": stream.records,
                "earliest": _time(stream.earliest),
                "latest": _time(stream.latest),
            }
            for stream in source.streams
        ],
    }


def _time(micros: int | None) -> str | None:
    return None if micros is None else iso_micros(micros)


def _print_sources(found: list[StoredSource]) -> None:
    if not found:
        click.echo('Nothing is here yet. Begin with: pdpp import FILE.ndjson --declaration FILE.json --name "NAME"')
    for source in found:
        name = quoted(source.name or source.connection_id)
        click.echo(
            f"{name} {visible(source.connector_key)} {source.connection_id}, imported {moment(source.updated_at)}"
        )
        if source.streams:
            print_columns([_row(stream) for stream in source.streams], indent="  ")
        if source.rejected:
            see = shell_line(named_home(), "sources", "--rejected", source.connection_id)
            click.echo(f"  {counted(source.rejected, 'line')} rejected; see them with: {see}")


def _row(stream: StoredStream) -> tuple[str, str, str]:
    earliest, latest = _time(stream.earliest), _time(stream.latest)
    span = f"{earliest[:10]} to {latest[:10]}" if earliest and latest else ""
    return stream.name, counted(stream.records, "record"), span


def _print_rejected(home: Home, wanted: str, *, as_json: bool) -> None:
    found = [source for source in home.owner.sources() if wanted in {source.connection_id, source.name}]
    if not found:
        raise ConnectionNotFound(f"There is no connection {wanted!r}.", remedy="`pdpp sources` shows them.")
    if len(found) > 1:
        ids = ", ".join(source.connection_id for source in found)
        raise click.UsageError(f"Several connections are called {wanted!r}; name one by its id: {ids}")
    rejections = sorted(home.owner.rejections(found[0].connection_id), key=_in_file_order)
    if as_json:
        lines = [rejection._asdict() for rejection in rejections]
        print_json({"connection_id": found[0].connection_id, "rejected": lines})
    elif rejections:
        print_columns(rejections)
    else:
        click.echo("No line was rejected.")


def _in_file_order(rejection: Rejection) -> tuple[str, int]:
    file, _, line = rejection.place.rpartition(":")
    return file, int(line) if re.fullmatch(r"\d+", line, re.ASCII) else 0
