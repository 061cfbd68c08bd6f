"""The options of `pdpp import`, by what each is about, and what was asked with them."""

from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

import click

from pdpp_server.cli.options import Verb
from pdpp_server.cli.recipients import server_there
from pdpp_server.cli.terminal import connection_name, json_option
from pdpp_server.cli.zone import named_zone

FILE = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)
PATH = click.Path(exists=True, readable=True, path_type=Path)


@dataclass(frozen=True, slots=True)
class ImportAsked:
    """What was asked of one import."""

    paths: tuple[Path, ...]
    name: str | None
    key: str | None
    zone: tzinfo | None
    mapping: Path | None
    yes: bool
    newer: bool
    keep_missing: bool
    undo: int | None
    to: str | None
    dry_run: bool
    again: bool
    watching: bool
    kinds: bool
    declaration: Path | None
    as_json: bool


_HOW_IT_IS_READ = (
    click.argument("paths", type=PATH, nargs=-1, metavar="[PATH]..."),
    click.option("--name", callback=connection_name, help="What you call this account; the same name is the same one."),
    click.option("--as", "key", metavar="KIND", help="Read it as this kind, where it could be several."),
    click.option(
        "--zone", callback=named_zone, metavar="AREA/CITY", help="For times without a zone.  [default: this machine's]"
    ),
    click.option("--mapping", type=FILE, help="What the columns of a file mean that does not explain itself."),
    click.option(
        "--yes", is_flag=True, help="Take a proposed mapping where nothing is in doubt; remove even more than half."
    ),
)
_WHAT_IS_REMOVED = (
    click.option(
        "--newer", is_flag=True, help="This export is newer than the last of the same, where it cannot be told."
    ),
    click.option("--keep-missing", is_flag=True, help="Remove nothing that the last export of the same had."),
    click.option(
        "--undo", type=int, is_flag=False, flag_value=0, metavar="RUN", help="Things as they were before that import."
    ),
)
_WHAT_IS_DONE = (
    click.option(
        "--to",
        callback=server_there,
        metavar="URL",
        help="Read here and deliver to the server at URL instead of this home.",
    ),
    click.option("--dry-run", is_flag=True, help="Say what was found, and write nothing."),
    click.option("--again", is_flag=True, help="Read an export again that was read to its end before."),
    click.option("--watch", "watching", is_flag=True, help="Import what is dropped into PATH, or the home's `inbox`."),
    click.option("--list", "kinds", is_flag=True, help="Which kinds there are, and how to get each."),
    click.option("--declaration", type=FILE, help="For records of your own: what declares the source and its streams."),
    json_option,
)


def import_options(verb: Verb) -> Verb:
    for option in reversed((*_HOW_IT_IS_READ, *_WHAT_IS_REMOVED, *_WHAT_IS_DONE)):
        verb = option(verb)
    return verb
