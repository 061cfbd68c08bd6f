"""What `pdpp import` says and does for the accounts that it finds in exports."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from functools import partial
from pathlib import Path
from time import process_time

import click

from pdpp_server.cli.home import named_home, now, read_settings, shell_line
from pdpp_server.cli.mappings import how_to_say, settled
from pdpp_server.cli.progress import bytes_bar
from pdpp_server.cli.receipts import imported, print_receipt, say_texts_missing
from pdpp_server.cli.recipients import recipient
from pdpp_server.cli.removals import removal_document, say_removal, settled_by_owner
from pdpp_server.cli.terminal import counted, moment, print_columns, print_json, size_text
from pdpp_server.errors import InvalidRequest
from pdpp_server.evidence.text import quoted, visible
from pdpp_server.importers import registry
from pdpp_server.importers.guesses import PARTS_MAX, UntakenPart
from pdpp_server.importers.missing import MissingChoice
from pdpp_server.importers.registry import FoundAccount, look_into, nothing_known
from pdpp_server.importers.run import SeenStream, Survey, Tally, fingerprint_of, import_account, survey
from pdpp_server.importers.source import Importer
from pdpp_server.model.ingest import Finished
from pdpp_server.model.times import iso_micros
from pdpp_server.owner.recipient import Recipient
from pdpp_server.wire.command.imports import encode_kind, encode_survey, encode_unchanged, encode_without_text
from pdpp_server.wire.envelope import Json

SURVEY_SECONDS = 1  # of work for each account: a look that ends early says so, and the bar begins
DAY_CHARS = 10


@dataclass(frozen=True, slots=True)
class Wish:
    """How the owner wants exports to be read."""

    zone: tzinfo
    mapping: bytes | None = None
    name: str | None = None
    dry_run: bool = False
    again: bool = False
    as_json: bool = False
    yes: bool = False
    is_newer: bool = False
    keep_missing: bool = False
    to: str | None = None  # the address of a server elsewhere, which then takes it instead of this home


def chosen_importers(key: str | None) -> tuple[Importer, ...]:
    known = registry.all_importers()
    for trouble in registry.from_packages().troubles:
        click.echo(visible(trouble), err=True)
    if key is None:
        return known
    chosen = tuple(importer for importer in known if importer.key == key)
    if not chosen:
        raise click.UsageError(f"There is no kind {key!r}; --as takes {', '.join(i.key for i in known)}.")
    return chosen


def import_exports(paths: Sequence[Path], importers: Sequence[Importer], wish: Wish) -> int:
    """Everything that is found is said before the first of it is written."""
    found, is_whole = _found(paths, importers, wish)
    if wish.name is not None and len(found) > 1:
        named = ", ".join(quoted(one.account.name) for one in found)
        raise click.UsageError(f"--name names one account, and {len(found)} were found: {named}.")
    if wish.dry_run:
        _announce(found, wish)
        return 0 if is_whole else 1
    found = [settled(one, read_settings().home, yes=wish.yes) for one in found]
    lacking = [one for one in found if one.account.lacks]
    is_whole = is_whole and not lacking
    _announce(lacking, wish)
    with recipient(wish.to) as taking:
        ready = [one for one in found if not one.account.lacks]
        changed = [(one, fingerprint) for one in ready for fingerprint in _changed(taking, one, wish)]
        _announce([one for one, _ in changed], wish)
        for one, fingerprint in changed:
            tally = _bring(taking, one, fingerprint, wish)
            if tally is None:
                return 1
            is_whole = is_whole and (tally.stored > 0 or not tally.rejected)
    return 0 if is_whole else 1


def _found(paths: Sequence[Path], importers: Sequence[Importer], wish: Wish) -> tuple[list[FoundAccount], bool]:
    found: list[FoundAccount] = []
    is_whole = True
    for path in paths:
        with bytes_bar("Looking") as advance:
            looked = look_into(path, wish.zone, wish.mapping, importers, now(), lambda done: advance(done, None))
        for name, refusal in looked.refused.items():
            click.echo(f"{visible(name)} is left out: {visible(refusal.message)} {refusal.remedy}", err=True)
            is_whole = False
        if not looked.found and not looked.refused:
            raise nothing_known(str(path), looked.left)
        found += looked.found
        _say_left(path, looked.left, wish)
    return found, is_whole


def _say_left(path: Path, left: Sequence[UntakenPart], wish: Wish) -> None:
    """Of every part that is not imported, what it seems to be."""
    say = partial(click.echo, err=wish.as_json)
    if left:
        say(f"Not imported of {visible(path.name)}:")
    for part in left[:PARTS_MAX]:
        told = f"it looks like {part.guess.what}" if part.guess else "of a kind that is not known"
        files = counted(part.files, "file")
        say(f"  {visible(part.name)}: {files}, {size_text(part.size)}; {told}")
    further = len(left) - PARTS_MAX
    if further > 0:
        say(f"  and {further} more")


def _changed(taking: Recipient, found: FoundAccount, wish: Wish) -> Iterator[str | None]:
    """The fingerprint of what is to be read; nothing where it was read to its end before, which is said then."""
    name = wish.name or found.account.name
    with bytes_bar("Looking for what changed") as advance:
        fingerprint = fingerprint_of(found, advance)
    before = fingerprint and taking.finished_import(found.declaration, name, fingerprint)
    if before and not wish.again:
        _say_unchanged(taking, found, name, before, wish)
    else:
        yield fingerprint


def _bring(taking: Recipient, found: FoundAccount, fingerprint: str | None, wish: Wish) -> Tally | None:
    """What became of it; None where it was stopped."""
    name = wish.name or found.account.name
    writer = taking.writer(found.declaration, name)
    begun = found.files.meter.read
    missing = MissingChoice(wish.keep_missing, partial(settled_by_owner, name, yes=wish.yes, is_newer=wish.is_newer))
    run = partial(import_account, found, writer, fingerprint=fingerprint, missing=missing)
    tally = imported(found.size, run, name, lambda: found.files.meter.read - begun)
    if tally is not None:
        told = {**removal_document(tally.removal), **encode_without_text(tally.without_text)}
        say_texts_missing(tally.without_text, tally.texts_missing)
        print_receipt(
            writer.connection_id, name, tally, tally.rejected, tally.rejections, told, to=wish.to, as_json=wish.as_json
        )
        say_removal(tally.removal, as_json=wish.as_json)
    return tally


def _say_unchanged(taking: Recipient, found: FoundAccount, name: str, before: Finished, wish: Wish) -> None:
    writer = taking.writer(found.declaration, name)
    if wish.as_json:
        print_json(encode_unchanged(writer.connection_id, before))
        return
    click.echo(
        f"{visible(found.where)}: {quoted(name)} is unchanged since {moment(before.at)}, when "
        f"{counted(before.records, 'record')} {'was' if before.records == 1 else 'were'} read; --again reads it anyway."
    )


# What was found -----------------------------------------------------------------------------------------------------


def _announce(found: Sequence[FoundAccount], wish: Wish) -> None:
    for one in found:
        end = process_time() + SURVEY_SECONDS
        seen = survey(one, lambda end=end: process_time() > end)
        if wish.as_json and wish.dry_run:
            print_json(_document(one, seen))
        else:
            _print_survey(one, seen, wish)


def _print_survey(found: FoundAccount, seen: Survey, wish: Wish) -> None:
    say = partial(click.echo, err=wish.as_json)
    name = quoted(wish.name or found.account.name)
    files = counted(len(found.account.files), "file")
    say(f"{visible(found.where)}: {found.declaration.name} {name}, {files}, {size_text(found.size)}")
    is_whole = seen.share == 1
    rows = [_row(name, stream, is_whole=is_whole) for name, stream in seen.streams.items()]
    print_columns(rows, indent="  ", err=wish.as_json)
    for line in _further(found, seen):
        say(f"  {visible(line)}")


def _row(name: str, seen: SeenStream, *, is_whole: bool) -> tuple[str, str, str]:
    """What was counted; where the look ended early, there may be more, and of other days."""
    days = [iso_micros(at)[:DAY_CHARS] for at in (seen.earliest, seen.latest) if at is not None]
    records, span = counted(seen.records, "record"), " to ".join(days)
    return (name, records, span) if is_whole else (name, f"at least {records}", f"{span} and perhaps beyond")


def _further(found: FoundAccount, seen: Survey) -> Iterator[str]:
    if not seen.streams and not seen.rejected:
        yield "nothing in it is a record"
    if seen.attachments:
        yield counted(seen.attachments, "attachment")
    if seen.rejected and not found.account.lacks:  # else nothing of it was tried
        yield f"{counted(seen.rejected, 'part')} cannot be read as a record"
    if seen.share < 1:
        yield f"counted so far, in at most the first {seen.share:.0%}; all of it is imported"
    yield from found.account.notes
    if found.account.lacks:
        yield found.account.lacks
    if found.account.proposal:
        yield how_to_say(found.account.proposal)


def _document(found: FoundAccount, seen: Survey) -> Json:
    return encode_survey(
        found.importer.key,
        found.account.name,
        file=found.where,
        size=found.size,
        share=seen.share,
        attachments=seen.attachments,
        rejected=seen.rejected,
        notes=found.account.notes,
        streams=seen.streams,
    )


# What could be imported ---------------------------------------------------------------------------------------------


def print_kinds(*, as_json: bool) -> None:
    kinds = registry.all_importers()
    if as_json:
        print_json([encode_kind(kind.key, kind.takes, kind.obtain) for kind in kinds])
        return
    for kind in kinds:
        click.echo(f"{kind.key}: {kind.takes}")
        click.echo(f"  {kind.obtain}")
    click.echo("Records of your own: NDJSON, JSON, CSV, SQLite. A folder that `pdpp export` made.")


def print_usual(zone: tzinfo) -> int:
    """What lies where programs keep such files, and the line that imports it."""
    lines = [
        line
        for kind in registry.all_importers()
        for folder in kind.usual_folders
        for line in _usual(kind, folder, zone)
    ]
    if not lines:
        raise click.UsageError(
            "Missing argument 'PATH...': the usual folders hold nothing. `pdpp import --list` helps."
        )
    for line in lines:
        click.echo(line)
    return 0


def _usual(kind: Importer, folder: str, zone: tzinfo) -> Iterator[str]:
    path = Path(folder).expanduser()
    if not path.exists():
        return
    try:
        found = look_into(path, zone, None, (kind,)).found
    except InvalidRequest as refusal:
        yield f"{visible(str(path))} cannot be read: {visible(refusal.message)}"
        return
    for one in found:
        files = f"{counted(len(one.account.files), 'file')}, {size_text(one.size)}"
        yield f"{one.declaration.name} {quoted(one.account.name)}: {files}"
    if found:
        yield f"  {shell_line(named_home(), 'import', str(path))}"
