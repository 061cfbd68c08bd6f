"""Where an import goes: into this home, or with `--to URL` to a server elsewhere."""

import sys
from collections.abc import Generator
from contextlib import contextmanager

import click

from pdpp_server.cli.home import now, open_home, read_settings
from pdpp_server.owner.elsewhere import ServerElsewhere
from pdpp_server.owner.recipient import Recipient
from pdpp_server.port.exchange import Bounds, Exchange
from pdpp_server.settings import Settings

BOUNDS = Bounds(seconds=600, wait_seconds=60)  # a batch may be long, and nobody waits for it but the owner


@contextmanager
def recipient(to: str | None) -> Generator[Recipient, None, None]:
    if to is None:
        with open_home() as home:
            yield home.owner
        return
    exchange = _exchange(read_settings(), to)
    try:
        yield ServerElsewhere(exchange, now)
    finally:
        exchange.close()


def _exchange(settings: Settings, to: str) -> Exchange:
    token = settings.owner_token or _asked_token(to)
    try:
        return Exchange(to, token, BOUNDS, plain_http=settings.provider_plain_http)
    except ValueError:
        raise click.UsageError(
            "--to takes the address of a server: https://, unless it is on this machine, and no name, password, query "
            "or fragment in it."
        ) from None


def _asked_token(to: str) -> str:
    """Never an argument: those can be seen by everybody on the machine."""
    if not sys.stdin.isatty():
        raise click.UsageError(
            "--to needs a token of that server's owner: in PDPP_OWNER_TOKEN, or typed on a terminal. There, "
            "`pdpp owner token` makes one."
        )
    return click.prompt(f"Owner's token of {to} (`pdpp owner token` there)", hide_input=True, err=True)
