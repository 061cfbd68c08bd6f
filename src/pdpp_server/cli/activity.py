"""`pdpp activity`: what was disclosed, to whom, when; and whether anybody touched the log."""

from datetime import datetime
from pathlib import Path

import click

from pdpp_server.cli.home import Home, now, open_home, shell_line
from pdpp_server.cli.terminal import counted, json_option, print_columns, print_json
from pdpp_server.evidence.activity import (
    what_left,
    what_was_done,
    what_was_done_in_all,
    when_read,
    who_read,
)
from pdpp_server.evidence.text import visible
from pdpp_server.evidence.words import local_moment
from pdpp_server.model.activity import KEPT_DAYS_MAX, KEPT_DAYS_MIN, Disclosure, Segment, Verdict
from pdpp_server.model.times import iso
from pdpp_server.settings import machine_zone
from pdpp_server.store.log import NO_LINE
from pdpp_server.store.log import verify as verify_folder
from pdpp_server.wire.command.activity import encode_activity, encode_exported, encode_kept, encode_verdicts

LIMIT, LIMIT_MAX = 50, 10_000
FOREVER = "forever"
FOLDER = click.Path(file_okay=False, path_type=Path)
EXPORTED = click.Path(exists=True, file_okay=False, path_type=Path)
STATES = {
    "intact": "as it was written",
    "torn": "as it was written; the last line is half, its process died before that answer left",
    "edited": "line {line} is not as it was written",
    "lines_missing": "line {line} and perhaps more are missing",
    "truncated": "lines are missing at its end, from line {line} on",
    "missing": "the whole file is missing",
    "let_go": "let go, as you said",
}


@click.group(invoke_without_command=True)
@click.option("--grant", metavar="ID", help="Only reads under that grant or package.")
@click.option("--request", metavar="ID", help="Only the read with that request id.")
@click.option("--record", metavar="ID", help="Only reads that disclosed that record.")
@click.option(
    "--limit", type=click.IntRange(1, LIMIT_MAX), metavar="N", default=LIMIT, show_default=True, help="At most so many."
)
@click.option("--today", is_flag=True, help="What clients did today, in sentences.")
@json_option
@click.pass_context
def activity(
    context: click.Context,
    grant: str | None,
    request: str | None,
    record: str | None,
    limit: int,
    today: bool,
    as_json: bool,
) -> None:
    """What was disclosed, newest first.

    \b
    Example:
      pdpp activity --today
      pdpp activity --limit 10
      pdpp activity --grant grt_0123456789abcdef
      pdpp activity verify
      pdpp activity keep 400
    """
    if context.invoked_subcommand is not None:
        return
    with open_home() as home:
        since, own = (iso(_midnight()), False) if today else (None, None)
        found = home.owner.activity_of(grant, request_id=request, record=record, since=since, own=own, limit=limit)
        if as_json:
            print_json(encode_activity(found))
        elif found and today:
            print_sentences(home, found)
        elif found:
            print_disclosures(home, found)
        else:
            click.echo("Nobody has read anything today." if today else "Nothing was disclosed.")
    if not as_json and len(found) == limit:
        click.echo(f"These are the newest {limit}; --limit shows more.")


class _Root(click.ParamType[Segment]):
    """The hash of one line, as `verify` prints it."""

    name = "root"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> Segment:
        segment, _, digest = value.rpartition(":")
        if not segment or len(digest) != len(NO_LINE):
            self.fail("A root is what `pdpp activity verify` printed: SEGMENT:HASH.", param, ctx)
        return Segment(segment, 0, digest)


@activity.command()
@click.option("--root", type=_Root(), metavar="ROOT", help="What an earlier `verify` printed, and you kept elsewhere.")
@click.option("--folder", type=EXPORTED, metavar="FOLDER", help="Look at what `pdpp activity export` wrote there.")
@json_option
def verify(root: Segment | None, folder: Path | None, as_json: bool) -> int:
    """Whether any line of the log was changed or taken away since it was written; exit code 1 if so.

    With the first read of a day the day before is closed: one line names the end of each of its segments. The hash of
    that line, the root, stands for everything before it. Whoever keeps it elsewhere can see later that nobody, not even
    who runs the server, has written the log anew.

    \b
    Example:
      pdpp activity verify
      pdpp activity verify --root SEGMENT:HASH
      pdpp activity verify --folder my-log
    """
    if folder is not None:
        newest, verdicts = None, verify_folder(folder, [root] if root else [])
        if not verdicts:
            raise click.UsageError(f"There is no log in {folder}: name a folder that `pdpp activity export` wrote.")
    else:
        with open_home() as home:
            newest, verdicts = home.owner.activity_root(), home.owner.verify_activity(root)
    sound = all(verdict.is_sound for verdict in verdicts)
    named = f"{newest.id}:{newest.digest}" if newest else None
    if as_json:
        print_json(encode_verdicts(verdicts, sound=sound, root=named))
    else:
        _print_verdicts(verdicts, sound=sound)
    if named and sound and not as_json:
        click.echo(f"Root of the days that are closed, to be kept elsewhere:\n  {named}")
    return 0 if sound else 1


class _Days(click.ParamType[int]):
    """A number of days; 0 is for ever."""

    name = "days"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if value == FOREVER:
            return 0
        if not value.isdecimal() or not KEPT_DAYS_MIN <= int(value) <= KEPT_DAYS_MAX:
            self.fail(f"Say a number of days, {KEPT_DAYS_MIN} or more, or `{FOREVER}`.", param, ctx)
        return int(value)


@activity.command()
@click.argument("days", type=_Days(), required=False)
@json_option
def keep(days: int | None, as_json: bool) -> None:
    """How long the log is kept: a number of days, or `forever`, as it is at first. Without either, how it is now.

    What is older goes at once, then with the first read of each day, together with the words that were asked. The log
    notes what went, so that `pdpp activity verify` does not miss it. Exports that were made before keep theirs.

    \b
    Example:
      pdpp activity keep
      pdpp activity keep 400
      pdpp activity keep forever
    """
    with open_home() as home:
        went = 0 if days is None else home.owner.keep_activity(days or None)
        kept = home.owner.activity_kept_days
    if as_json:
        print_json(encode_kept(kept, went))
        return
    click.echo("The log is kept for ever." if kept is None else f"The log is kept for {counted(kept, 'day')}.")
    if went:
        click.echo(f"{counted(went, 'line')} were older and are gone.")


@activity.command()
@click.argument("folder", type=FOLDER)
@json_option
def export(folder: Path, as_json: bool) -> None:
    """Write the log out as it was written: one file for each process and day, a JSON object a line.

    \b
    Example:
      pdpp activity export my-log
      pdpp activity verify --folder my-log
    """
    with open_home() as home:
        segments = home.owner.export_activity(folder)
    if as_json:
        print_json(encode_exported(segments, str(folder)))
    else:
        click.echo(f"{counted(segments, 'segment')} of the log in {visible(str(folder))}.")
        click.echo(f"To check them: {shell_line(None, 'activity', 'verify', '--folder', str(folder))}")


def print_disclosures(home: Home, found: list[Disclosure]) -> None:
    names = home.owner.reader_names()
    print_columns([_row(disclosure, names) for disclosure in found])


def print_sentences(home: Home, found: list[Disclosure]) -> None:
    """Client by client, whoever read last first: what it did in all, then each read with what was asked."""
    names, asked = home.owner.reader_names(), home.owner.asked(found)
    zone, at = machine_zone(), now()
    by_client: dict[str, list[Disclosure]] = {}
    for disclosure in found:
        by_client.setdefault(who_read(disclosure, names), []).append(disclosure)
    for name, reads in by_client.items():
        last = local_moment(reads[0].at, zone, at)
        click.echo(visible(f"{name} {what_was_done_in_all(reads)}, {last}."))
        for read in reads:
            clock = datetime.fromisoformat(read.at).astimezone(zone)
            done = what_was_done(read, asked.get(read.request_id))
            click.echo(visible(f"  {clock:%H:%M}  {done}"))


def _midnight() -> datetime:
    """The beginning of this day, by the clock on the wall."""
    return now().astimezone(machine_zone()).replace(hour=0, minute=0, second=0, microsecond=0)


def _row(disclosure: Disclosure, names: dict[str, str]) -> tuple[str, ...]:
    """What left comes last: of one record it names every field, and no other column shall wait for the longest."""
    who, what = who_read(disclosure, names), what_left(disclosure)
    return when_read(disclosure), who, disclosure.operation, disclosure.request_id, what


def _print_verdicts(verdicts: list[Verdict], *, sound: bool) -> None:
    gone = sum(verdict.state == "let_go" for verdict in verdicts)
    if gone:
        click.echo(f"{counted(gone, 'segment')} let go, as the log notes; `pdpp activity keep` says for how long.")
    for verdict in verdicts:
        if verdict.state == "let_go":
            continue
        click.echo(f"{verdict.segment}: {STATES[verdict.state].format(line=verdict.line)}")
    if not verdicts:
        click.echo("Nothing was disclosed, so there is no log yet.")
    elif sound:
        lines = sum(verdict.lines for verdict in verdicts)
        click.echo(f"All {counted(lines, 'line')} are as they were written.")
    else:
        click.echo("Somebody changed the log after it was written.", err=True)
