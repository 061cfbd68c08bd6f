"""What a newer export removed, as the owner is asked and told; and bringing it back."""

import sys

import click

from pdpp_server.cli.home import named_home, open_home, shell_line
from pdpp_server.cli.terminal import counted, moment, print_columns, print_json
from pdpp_server.evidence.text import quoted, visible
from pdpp_server.importers.missing import Doubt, Removal
from pdpp_server.model.runs import Run
from pdpp_server.wire.command.imports import encode_removal, encode_runs, encode_undone
from pdpp_server.wire.envelope import Json


def settled_by_owner(name: str, doubt: Doubt, *, yes: bool, is_newer: bool) -> bool:
    """Whether records go: by an option, else by an answer where somebody can be asked."""
    if is_newer if doubt.why else yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    lost = f"{quoted(name)}: {counted(doubt.missing, 'record')} of {doubt.before} are not in this export any more"
    if doubt.why:
        question = f"{lost}, but {doubt.why}. Is it newer than the last one, so that they go?"
    else:
        question = f"{lost}; {doubt.odd}. Remove them?"
    return click.confirm(question, err=True)


def removal_document(removal: Removal) -> Json:
    """What the receipt says of it; nothing where the export is a part, which removes nothing."""
    if not removal.before and not removal.missing:
        return {}
    return encode_removal(
        removal.run,
        before=removal.before,
        after=removal.after,
        removed=removal.removed,
        kept=removal.missing - removal.removed,
        why_kept=removal.why_kept,
    )


def say_removal(removal: Removal, *, as_json: bool) -> None:
    if removal.removed:
        extent = f"{removal.before} before, {removal.after} after"
        back = shell_line(named_home(), "import", "--undo", str(removal.run))
        removed = counted(removal.removed, "record")
        click.echo(
            f"  {removed} removed that this newer export has no longer ({extent}). Back again: {back}", err=as_json
        )
    kept = removal.missing - removal.removed
    if kept:
        because = "; ".join(removal.why_kept)
        click.echo(
            f"  {counted(kept, 'record')} that it has no longer are kept: {because}.{_remedy(removal)}", err=as_json
        )


def _remedy(removal: Removal) -> str:
    if not removal.awaits_owner:
        return ""
    return " Import it again with --newer if it is newer, and with --yes if they may go."


def print_removing_runs(*, as_json: bool) -> int:
    with open_home() as home:
        runs = home.owner.removing_runs()
    if as_json:
        print_json(encode_runs(runs))
    elif runs:
        print_columns([_row(run) for run in runs])
    else:
        click.echo("No import removed anything that could be brought back.")
    return 0


def _row(run: Run) -> tuple[str, str, str, str, str]:
    return str(run.run), moment(run.at), counted(run.removed, "record"), run.connection_id, visible(run.file)


def print_undone(run: int, *, as_json: bool) -> int:
    with open_home() as home:
        undone = home.owner.undo_import(run)
    if as_json:
        print_json(encode_undone(run, undone))
        return 0
    told = undone.restored
    file = visible(undone.run.file)
    if told.restored == 1:
        click.echo(f"1 record of {file} is back, and later imports keep it.")
    else:
        click.echo(f"{counted(told.restored, 'record')} of {file} are back, and later imports keep them.")
    for count, says in (
        (told.changed_back, "that it had changed {are} as before."),
        (
            told.withdrawn,
            "that it had added {are} gone; the same files bring them again, and remove nothing of the others.",
        ),
        (told.there_again, "had come back by themselves."),
        (told.left, "{are} left as now: something newer tells of them."),
        (told.unfit, "did not fit what is declared now, and {are} gone."),
    ):
        if count:
            click.echo(f"  {counted(count, 'record')} {says.format(are='is' if count == 1 else 'are')}")
    return 0
