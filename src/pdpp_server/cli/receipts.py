"""An import under way and what became of it: the bar, Ctrl-C between batches, the counts, the rejected lines."""

import signal
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Protocol, TypeVar

import click
from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from pdpp_server.cli.home import named_home, shell_line
from pdpp_server.cli.terminal import counted, print_columns, print_json
from pdpp_server.evidence.text import quoted, visible
from pdpp_server.model.ingest import Rejection
from pdpp_server.wire.command.imports import encode_receipt
from pdpp_server.wire.envelope import Json

REJECTIONS_SHOWN = 20
TITLE_CHARS, BAR_CHARS = 24, 16


class Counts(Protocol):
    """What was stored so far."""

    @property
    def accepted(self) -> int: ...
    @property
    def unchanged(self) -> int: ...


CountsHeard = Callable[[int, Counts], None]
R = TypeVar("R", bound=Counts)


def imported(
    size: int, run: Callable[[CountsHeard], R], name: str = "", read: Callable[[], int] | None = None
) -> R | None:
    """What became of it; None where it was stopped, which is said then. `read` says how many bytes were read by now."""
    try:
        with _progress(size, name, read) as advance, _stopped_between_batches(advance) as heard:
            return run(heard)
    except _Stopped as stopped:
        stored = counted(stopped.records, "record")
        click.echo(f"Stopped. {stored} of the file are kept; run the same command again to go on.", err=True)
        return None


@contextmanager
def _progress(size: int, name: str, read: Callable[[], int] | None) -> Generator[CountsHeard, None, None]:
    """A bar on a terminal; elsewhere nothing. It names what it is about, and moves while a batch is being read."""
    rate = TextColumn("{task.fields[records]} records, {task.fields[rate]} a second")
    title = TextColumn(visible(name[:TITLE_CHARS]), markup=False)
    parts = (title, BarColumn(BAR_CHARS), TaskProgressColumn(), rate, TimeRemainingColumn())
    with _Moving(*parts, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        bar.read, bar.size = read, size
        task = bar.add_task("", total=size, records=0, rate=0)

        def advance(done: int, counts: Counts) -> None:
            records = counts.accepted + counts.unchanged
            seconds = bar.tasks[0].elapsed or 0
            bar.update(task, completed=done, records=records, rate=int(records / seconds) if seconds else 0)

        yield advance


class _Moving(Progress):
    """Asks how far the reading is whenever it is drawn: batches are stored by the thousand."""

    read: Callable[[], int] | None = None
    size = 0

    def get_renderables(self) -> Iterable[RenderableType]:
        if self.read is not None:
            for task in self.tasks:
                task.completed = max(task.completed, min(self.read(), self.size))
        return super().get_renderables()


class _Stopped(Exception):
    def __init__(self, records: int) -> None:
        super().__init__(records)
        self.records = records


@contextmanager
def _stopped_between_batches(advance: CountsHeard) -> Generator[CountsHeard, None, None]:
    """Ctrl-C lets the batch in hand be stored, so that what is said to be kept is what is kept; twice stops at once."""
    asked = False

    def ask(signal_number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            signal.default_int_handler(signal_number, frame)
        asked = True

    def heard(done: int, counts: Counts) -> None:
        advance(done, counts)
        if asked:
            raise _Stopped(counts.accepted + counts.unchanged)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield heard
    finally:
        signal.signal(signal.SIGINT, before)


def print_receipt(
    connection_id: str,
    name: str,
    counts: Counts,
    rejected: int,
    rejections: Sequence[Rejection],
    further: Json | None = None,
    *,
    to: str | None,
    as_json: bool,
) -> None:
    """Of many rejections only some are given; `rejected` counts them all. `further` is told to programs.

    The rest of them is where the records are: in this home, or in that of the server `to`.
    """
    if rejected:
        click.echo(f"{counted(rejected, 'line')} rejected:", err=True)
        print_columns(rejections[:REJECTIONS_SHOWN], indent="  ", err=True)
        if rejected > REJECTIONS_SHOWN:
            where = f"see them on the machine of {to} with" if to else "see them with"
            see = shell_line(None if to else named_home(), "sources", "--rejected", connection_id)
            click.echo(f"  and {rejected - REJECTIONS_SHOWN} more; {where}: {see}", err=True)
    if as_json:
        print_json(encode_receipt(connection_id, counts.accepted, counts.unchanged, rejected, further or {}))
        return
    words = f"{counts.accepted} accepted, {counts.unchanged} unchanged, {rejected} rejected"
    click.echo(f"{quoted(name)} is connection {connection_id}: {words}.")


def say_texts_missing(count: int, notes: Sequence[Rejection]) -> None:
    """Attached files are kept whatever they hold; of which there is no text, or not all of it, is said."""
    if count:
        click.echo(f"{counted(count, 'attached file')} without the whole text; the files are kept:", err=True)
        print_columns([(note.place, note.reason) for note in notes[:REJECTIONS_SHOWN]], indent="  ", err=True)
    if count > REJECTIONS_SHOWN:
        click.echo(f"  and {count - REJECTIONS_SHOWN} more; each record says it in its field `text_note`", err=True)
