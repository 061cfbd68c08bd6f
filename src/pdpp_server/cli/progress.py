"""A bar on a terminal; elsewhere nothing."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from pdpp_server.cli.terminal import size_text

STEP_SECONDS = 0.1  # who reads many small files says so far more often than anybody can see


@contextmanager
def bytes_bar(
    what: str, told: Callable[[int], str] = size_text
) -> Generator[Callable[[int, int | None], None], None, None]:
    """Hears how many bytes are done, and of how many where that is known; `told` says it of something else."""
    parts = (
        TextColumn(what),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[size]}"),
        TimeRemainingColumn(),
    )
    with Progress(*parts, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=None, size="")
        shown_at = 0.0

        def advance(done: int, total: int | None) -> None:
            nonlocal shown_at
            now = monotonic()
            if now - shown_at >= STEP_SECONDS:
                shown_at = now
                bar.update(task, completed=done, total=total, size=told(done))

        yield advance


@contextmanager
def records_bar(what: str, total: int) -> Generator[Callable[[int], None], None, None]:
    """Hears how many records are done."""
    parts = (TextColumn(what), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*parts, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=total)

        def advance(done: int) -> None:
            bar.update(task, completed=done)

        yield advance
