"""`pdpp restore FOLDER`: a home as it was when it was backed up."""

from pathlib import Path

import click

from pdpp_server.cli.backup import held_by, home_of_files, say_remarks
from pdpp_server.cli.home import named_home, now, shell_line
from pdpp_server.cli.progress import bytes_bar
from pdpp_server.cli.terminal import counted, json_option, moment, print_json, size_text
from pdpp_server.owner.restore import restore as restore_backup
from pdpp_server.wire.command.copies import encode_restore

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.argument("folder", type=FOLDER)
@click.option("--at", metavar="TIME", help="The newest snapshot that is not later; else the newest of all.")
@click.option("--replace", is_flag=True, help="Move the home that is there aside first; nothing of it is deleted.")
@json_option
def restore(folder: Path, at: str | None, replace: bool, as_json: bool) -> None:
    """Make a home from a backup; it is checked whole before anything is changed.

    The home that PDPP_HOME names must be empty, or not there yet. With --replace what is there is moved aside, which
    can be undone by moving it back. Grants are then as they were: what you revoked since must be revoked again.

    \b
    Example:
      pdpp restore /media/disk/pdpp-backup
      pdpp restore /media/disk/pdpp-backup --at 2026-11-15T12:00:00Z --replace
    """
    home = home_of_files()
    with bytes_bar("Restoring") as progress:
        report = restore_backup(folder, home, at=at, replace=replace, now=now(), progress=progress)
    say_remarks(report.remarks)
    if as_json:
        print_json(encode_restore(str(home.absolute()), report))
        return
    held = held_by(report.snapshot)
    click.echo(f"{home} holds {held} as of {moment(report.snapshot.at)} ({size_text(report.bytes)}).")
    if report.moved_aside:
        click.echo(f"What was there is now {report.moved_aside}; move it back to undo this.")
    unrevoked = report.snapshot.counts["unrevoked"]
    if unrevoked:
        see = shell_line(named_home(), "grants", "list")
        click.echo(f"{counted(unrevoked, 'grant')} not revoked then; revoke again what you revoked since: {see}")
