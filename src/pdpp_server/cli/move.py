"""`pdpp move --to PLACE`: from a home to a PostgreSQL database, and back."""

from dataclasses import replace
from pathlib import Path

import click

from pdpp_server.cli.home import read_settings
from pdpp_server.cli.progress import bytes_bar
from pdpp_server.cli.terminal import counted, json_option, print_json
from pdpp_server.errors import InvalidRequest
from pdpp_server.evidence.text import visible
from pdpp_server.owner.move import MoveReport, move_to_database, move_to_home
from pdpp_server.settings import Settings, database_address
from pdpp_server.store.keys import WRAPPING_KEY
from pdpp_server.store.opened import FIRST_NAME
from pdpp_server.wire.command.copies import encode_move
from pdpp_server.wire.envelope import Json

COUNTED = {"records": "record", "grants": "grant", "blobs": "attached file"}


@click.command()
@click.option("--to", "place", required=True, metavar="PLACE", help="postgresql://USER@HOST/DATABASE, or a new folder.")
@click.option("--owner", "name", metavar="NAME", help="Who it is there.  [default: PDPP_OWNER, or the only one]")
@json_option
def move(place: str, name: str | None, as_json: bool) -> None:
    """Move everything that is kept from this home to a PostgreSQL database, or from there to a new home.

    Records with their history, sources, grants, tokens, sign-ins, attached files, the disclosure log, what was asked
    and keys: copied, and then compared row by row. It counts only when all of it is there and the same; one that was
    interrupted is gone on with by the same line. What it is moved from stays as it is. End every server first.

    \b
    Example:
      pdpp move --to postgresql://pdpp@db.example/pdpp --owner ada
      PDPP_DATABASE_URL=postgresql://pdpp@db.example/pdpp pdpp move --owner ada --to ~/adas-home
    """
    settings = read_settings()
    chosen = name or settings.owner
    with bytes_bar("Moving", lambda done: f"{done:,} rows") as progress:
        if "://" in place:
            theirs = replace(settings, database_url=_address(place))
            report = move_to_database(theirs, chosen or FIRST_NAME, progress)
        else:
            _require_database(settings)
            report = move_to_home(settings, chosen, Path(place).expanduser(), progress)
    if as_json:
        print_json(_document(report))
        return
    _say(report)
    if "://" in place:
        click.echo("Set PDPP_DATABASE_URL and start the server again. This home stays as it is: do not serve it too.")
        click.echo(f"Keep this file, without which the keys there are worth nothing: {_key_file(settings)}")
    else:
        click.echo(f"PDPP_HOME={place} is that home. The share in the database stays: do not serve both.")


def _address(place: str) -> str:
    try:
        return database_address(place)
    except ValueError:
        raise InvalidRequest(  # what was typed may hold a password
            "--to names no database and no folder.", remedy="Write postgresql://USER@HOST/DATABASE, or a folder."
        ) from None


def _require_database(settings: Settings) -> None:
    if settings.database_url is None:
        raise InvalidRequest(
            "This home is a folder already.",
            remedy="`pdpp backup` and `pdpp restore` move a folder; from a database, name it in PDPP_DATABASE_URL.",
        )


def _key_file(settings: Settings) -> Path:
    return settings.key_file or settings.home / "keys" / WRAPPING_KEY


def _document(report: MoveReport) -> Json:
    moved = report.moved
    return encode_move(
        report.owner, was_there=report.was_there, rows=moved.rows, log_lines=moved.lines, lost_blobs=moved.lost_blobs
    )


def _say(report: MoveReport) -> None:
    moved = report.moved
    said = "was there already" if report.was_there else "is there"
    rows = [counted(moved.rows[table], word) for table, word in COUNTED.items()]
    parts = ", ".join([*rows, counted(moved.lines, "line")])
    click.echo(f"All of {report.owner} {said}: {parts} of the log.")
    if moved.lost_blobs:
        lost = visible(", ".join(moved.lost_blobs))
        click.echo(f"The bytes of these attached files were lost before: {lost}", err=True)
