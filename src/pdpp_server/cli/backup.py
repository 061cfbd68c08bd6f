"""`pdpp backup FOLDER`: copy what is new into a folder of its own, checked, while everything goes on."""

from pathlib import Path

import click

from pdpp_server.cli.home import now, read_settings
from pdpp_server.cli.progress import bytes_bar
from pdpp_server.cli.terminal import counted, json_option, moment, print_json, size_text
from pdpp_server.errors import InvalidRequest
from pdpp_server.evidence.text import visible
from pdpp_server.model.backup import BackupReport, Remark, Snapshot
from pdpp_server.owner.backup import back_up
from pdpp_server.wire.command.copies import encode_backup

KEEP = 7
FOLDER = click.Path(file_okay=False, path_type=Path)
REMARKS = {
    "snapshot_lost": "{place} had been lost from the backup, and is no longer listed.",
    "blob_missing": "Blob {place} is not in the home any more; `pdpp doctor` says more.",
    "blob_damaged": "{place} is damaged in the home and was not copied; `pdpp doctor` says more.",
    "log_cut": "{place} has become shorter in the home; the backup keeps what it had.",
    "log_changed": "{place} was changed after it was written: see `pdpp activity verify`.",
}


@click.command()
@click.argument("folder", type=FOLDER)
@click.option(
    "--keep", type=click.IntRange(1, 10_000), metavar="N", default=KEEP, show_default=True,
    help="How many moments of the database to keep; older ones are removed.",
)  # fmt: skip
@json_option
def backup(folder: Path, keep: int, as_json: bool) -> None:
    """Back this home up, while it is in use.

    The folder gets a snapshot of the database, the disclosure log, blobs, keys and saved clients. Into the same folder
    again only what is new is copied. A backup that was interrupted is finished by the next one, and until then the one
    before still counts.

    Nothing in it is encrypted: whoever has the folder can read everything, and act as your agents. What you erase stays
    in older snapshots until they are removed; --keep 1 removes them now.

    \b
    Example:
      pdpp backup /media/disk/pdpp-backup
      pdpp backup /media/disk/pdpp-backup --keep 30 --json
    """
    with bytes_bar("Backing up") as progress:
        report = back_up(home_of_files(), folder, now=now(), keep=keep, progress=progress)
    say_remarks(report.remarks)
    if as_json:
        print_json(encode_backup(str(folder.absolute()), report))
    else:
        _say(folder, report)


def home_of_files() -> Path:
    """Raises: InvalidRequest where another program keeps what would have to be copied."""
    settings = read_settings()
    if settings.database_url is not None:
        raise InvalidRequest(
            "Everything of this server is in PostgreSQL, which has tools of its own for this.",
            remedy="Use pg_dump or the backup of your database, and keep the file of PDPP_KEY_FILE beside it.",
        )
    return settings.home


def say_remarks(remarks: tuple[Remark, ...]) -> None:
    for remark in remarks:
        click.echo(visible(REMARKS[remark.code].format(place=remark.place)), err=True)


def held_by(snapshot: Snapshot) -> str:
    records, connections = snapshot.counts["records"], snapshot.counts["connections"]
    return f"{counted(records, 'record')} of {counted(connections, 'connection')}"


def _say(folder: Path, report: BackupReport) -> None:
    when = "now" if report.is_new else f"as of {moment(report.snapshot.at)}, unchanged since"
    snapshots = counted(report.snapshots, "snapshot")
    click.echo(f"{folder} holds {held_by(report.snapshot)} {when}; {snapshots} in all.")
    files, size = counted(report.copied_files, "file"), size_text(report.copied_bytes)
    click.echo(f"Copied {files}, {size}; everything was checked.")
    click.echo("Keep it where only you can read it: whoever has it can read everything.")
