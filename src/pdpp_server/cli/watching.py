"""The inbox, watched: by `pdpp import --watch`, and beside the server."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import tzinfo
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic

import click

from pdpp_server.cli.beside import going_on
from pdpp_server.cli.home import now, open_home
from pdpp_server.cli.mappings import kept_mapping
from pdpp_server.evidence.text import visible
from pdpp_server.importers import registry
from pdpp_server.importers.watch import Inbox, bring_in
from pdpp_server.settings import Settings, machine_zone

PAUSE_SECONDS = 5


def watch(folder: Path, settings: Settings, zone: tzinfo, say: Callable[[str], None], stopping: Event) -> None:
    """Look into the folder now and then, until asked to stop."""

    kept = partial(kept_mapping, settings.home)

    def bring(path: Path) -> str:
        with open_home(settings) as home:
            return bring_in(path, home.owner, zone, registry.all_importers(), stopping.is_set, now(), kept)

    inbox = Inbox(folder, bring, say)
    while not stopping.is_set():
        inbox.step(monotonic())
        stopping.wait(PAUSE_SECONDS)


def inbox_watched(settings: Settings) -> AbstractContextManager[None]:
    """While the server runs, unless the owner wants no inbox; a folder that is not there may come later."""
    folder = settings.inbox_folder
    if folder is None:
        return nullcontext()
    return going_on("inbox", partial(watch, folder, settings, machine_zone(), say))


def say(line: str) -> None:
    click.echo(f"inbox: {visible(line)}", err=True)
