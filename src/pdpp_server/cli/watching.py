"""The inbox, watched: by `pdpp import --watch`, and beside the server."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import tzinfo
from functools import partial
from pathlib import Path
from threading import Event, Thread
from time import monotonic

import click

from pdpp_server.cli.home import now, open_home
from pdpp_server.cli.mappings import kept_mapping
from pdpp_server.evidence.text import visible
from pdpp_server.importers import registry
from pdpp_server.importers.watch import Inbox, bring_in
from pdpp_server.settings import Settings, machine_zone

PAUSE_SECONDS = 5


def watch(folder: Path, settings: Settings, zone: tzinfo, stopping: Event, say: Callable[[str], None]) -> None:
    """Look into the folder now and then, until asked to stop."""

    kept = partial(kept_mapping, settings.home)

    def bring(path: Path) -> str:
        with open_home(settings) as home:
            return bring_in(path, home.owner, zone, registry.all_importers(), stopping.is_set, now(), kept)

    inbox = Inbox(folder, bring, say)
    while not stopping.is_set():
        inbox.step(monotonic())
        stopping.wait(PAUSE_SECONDS)


@contextmanager
def inbox_watched(settings: Settings) -> Generator[None, None, None]:
    """While the server runs, unless the owner wants no inbox; a folder that is not there may come later."""
    folder, stopping = settings.inbox_folder, Event()
    if folder is None:
        yield
        return
    watching = Thread(target=watch, args=(folder, settings, machine_zone(), stopping, say), name="inbox")
    watching.start()
    try:
        yield
    finally:
        stopping.set()
        watching.join()


def say(line: str) -> None:
    click.echo(f"inbox: {visible(line)}", err=True)
