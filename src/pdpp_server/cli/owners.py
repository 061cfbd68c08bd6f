"""`pdpp owners`: who has a share of the database, for whoever runs the server."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from pdpp_server.cli.export import FOLDER, README
from pdpp_server.cli.home import now, own_address, read_settings
from pdpp_server.cli.progress import records_bar
from pdpp_server.cli.terminal import counted, json_option, moment, print_columns, print_json
from pdpp_server.owner.export import export as export_records
from pdpp_server.owner.owners import Invitation, OwnersDesk
from pdpp_server.settings import Settings
from pdpp_server.store.opened import open_owners
from pdpp_server.wire.command.owners import encode_erased, encode_handed_over, encode_invited, encode_owners


@contextmanager
def _desk(settings: Settings) -> Generator[OwnersDesk, None, None]:
    opened = open_owners(settings)
    try:
        yield OwnersDesk(opened, now)
    finally:
        opened.close()


@click.group()
def owners() -> None:
    """The owners of a PostgreSQL database: each has a name, a password, and nothing in common with the others.

    A home that is a folder has one owner, and needs none of this.

    \b
    Example:
      pdpp owners add ada
      pdpp owners list
    """


@owners.command()
@click.argument("name")
@json_option
def add(name: str, as_json: bool) -> None:
    """Make room for somebody, and a link with which they choose their password. It is good once, for a week.

    \b
    Example:
      pdpp owners add ada
    """
    settings = read_settings()
    with _desk(settings) as desk:
        _print_link(settings, desk.add(name), as_json=as_json)


@owners.command()
@click.argument("name")
@json_option
def invite(name: str, as_json: bool) -> None:
    """A new link for somebody who lost the old one, or the password. The password is good until the link is used.

    \b
    Example:
      pdpp owners invite ada
    """
    settings = read_settings()
    with _desk(settings) as desk:
        _print_link(settings, desk.invite(name), as_json=as_json)


@owners.command("list")
@json_option
def list_(as_json: bool) -> None:
    """Who there is, and how much each has.

    \b
    Example:
      pdpp owners list
    """
    with _desk(read_settings()) as desk:
        found, arriving = desk.every(), desk.arriving()
    if as_json:
        print_json(encode_owners(found, arriving))
        return
    print_columns(
        [
            (
                each.owner.name,
                f"since {each.owner.created_at[:10]}",
                counted(each.connections, "connection"),
                counted(each.records, "record"),
                counted(each.grants, "grant"),
                "" if each.has_password else "has not chosen a password yet",
            )
            for each in found
        ]
    )
    for each in arriving:
        click.echo(
            f"{each.name} is being moved here: `pdpp move` once more goes on with it, `pdpp owners remove` ends it."
        )


@owners.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def remove(name: str, yes: bool, as_json: bool) -> None:
    """Erase everything of one owner: records, files, grants, sessions, keys and the log. It cannot be undone.

    What the database itself keeps of erased rows for a while is in the manual. `pdpp owners export` comes before.

    \b
    Example:
      pdpp owners remove ada
    """
    settings = read_settings()
    with _desk(settings) as desk:
        found = desk.named(name, or_arriving=True)
        if not yes:
            click.confirm(f"Erase everything of {found.name}?", abort=True, err=True)
        erased = {table: rows for table, rows in desk.remove(name).items() if rows}
    shutil.rmtree(settings.home / "owners" / str(found.number), ignore_errors=True)
    if as_json:
        print_json(encode_erased(found.name, erased))
        return
    click.echo(f"{found.name} is gone: {sum(erased.values())} rows of {counted(len(erased), 'table')} were erased.")


@owners.command()
@click.argument("name")
@click.argument("folder", type=FOLDER)
@json_option
def export(name: str, folder: Path, as_json: bool) -> None:
    """Write the records of one owner out, as `pdpp export` does, to hand them over.

    \b
    Example:
      pdpp owners export ada adas-data
    """
    settings = read_settings()
    with _desk(settings) as desk:
        found = desk.named(name)
    theirs = replace(settings, owner=found.name)
    with records_bar("Exporting", 0) as progress:
        report = export_records(theirs, folder, connection_id=None, readme=README, progress=progress)
    records = sum(stream.records for each in report.connections for stream in each.streams)
    if as_json:
        print_json(encode_handed_over(found.name, len(report.connections), records))
        return
    click.echo(f"{counted(records, 'record')} of {found.name} are in {folder}.")


def _print_link(settings: Settings, invited: Invitation, *, as_json: bool) -> None:
    link = f"{own_address(settings)}/invited?link={invited.secret}"
    if as_json:
        print_json(encode_invited(invited.owner.name, link, invited.expires_at))
        return
    click.echo(f"A link for {invited.owner.name} to choose a password, good once, until {moment(invited.expires_at)}.")
    click.echo(f"It is shown only now; hand it to nobody else:\n{link}")
