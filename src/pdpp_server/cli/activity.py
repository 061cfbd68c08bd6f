"""`pdpp activity`: what was disclosed, to whom, when; and whether anybody touched the log."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

import click

from pdpp_server.cli.home import Home, now, open_home
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
from pdpp_server.model.activity import Disclosure, Verdict
from pdpp_server.model.times import iso
from pdpp_server.settings import machine_zone

LIMIT, LIMIT_MAX = 50, 10_000
STATES = {
    "intact": "as it was written",
    "torn": "as it was written; the last line is half, its process died before that answer left",
    "edited": "line {line} is not as it was written",
    "lines_missing": "line {line} and perhaps more are missing",
    "truncated": "lines are missing at its end, from line {line} on",
    "missing": "the whole file is missing",
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
    """
    if context.invoked_subcommand is not None:
        return
    with open_home() as home:
        since, own = (iso(_midnight()), False) if today else (None, None)
        found = home.owner.activity_of(grant, request_id=request, record=record, since=since, own=own, limit=limit)
        if as_json:
            print_json({"activity": [_document(disclosure) for disclosure in found]})
        elif found and today:
            print_sentences(home, found)
        elif found:
            print_disclosures(home, found)
        else:
            click.echo("Nobody has read anything today." if today else "Nothing was disclosed.")
    if not as_json and len(found) == limit:
        click.echo(f"These are the newest {limit}; --limit shows more.")


@activity.command()
@json_option
def verify(as_json: bool) -> int:
    """Whether any line of the log was changed or taken away since it was written; exit code 1 if so.

    \b
    Example:
      pdpp activity verify
    """
    with open_home() as home:
        verdicts = home.owner.verify_activity()
    sound = all(verdict.is_sound for verdict in verdicts)
    if as_json:
        print_json({"sound": sound, "segments": [asdict(verdict) for verdict in verdicts]})
    else:
        _print_verdicts(verdicts, sound=sound)
    return 0 if sound else 1


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
        click.echo(visible(f"{name} {what_was_done_in_all(reads)}, {local_moment(reads[0].at, zone, at)}."))
        for read in reads:
            clock = datetime.fromisoformat(read.at).astimezone(zone)
            click.echo(visible(f"  {clock:%H:%M}  {what_was_done(read, asked.get(read.request_id))}"))


def _midnight() -> datetime:
    """The beginning of this day, by the clock on the wall."""
    return now().astimezone(machine_zone()).replace(hour=0, minute=0, second=0, microsecond=0)


def _document(disclosure: Disclosure) -> dict[str, Any]:
    return {**disclosure._asdict(), "query": dict(disclosure.query)}


def _row(disclosure: Disclosure, names: dict[str, str]) -> tuple[str, ...]:
    who, what = who_read(disclosure, names), what_left(disclosure)
    return when_read(disclosure), who, disclosure.operation, what, disclosure.request_id


def _print_verdicts(verdicts: list[Verdict], *, sound: bool) -> None:
    for verdict in verdicts:
        click.echo(f"{verdict.segment}: {STATES[verdict.state].format(line=verdict.line)}")
    if not verdicts:
        click.echo("Nothing was disclosed, so there is no log yet.")
    elif sound:
        lines = sum(verdict.lines for verdict in verdicts)
        click.echo(f"All {counted(lines, 'line')} are as they were written.")
    else:
        click.echo("Somebody changed the log after it was written.", err=True)
