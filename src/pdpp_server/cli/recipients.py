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
from pdpp_server.wire.address import server_address

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


def server_there(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """A callback of click: what is no address is said before anything is read or asked for."""
    try:
        if value is not None:
            server_address(value, plain_http=read_settings().provider_plain_http)
    except ValueError:
        raise click.UsageError(
            "--to takes the address of a server: https://, unless it is on this machine, and no name, password, query "
            "or fragment in it."
        ) from None
    return value


def _exchange(settings: Settings, to: str) -> Exchange:
    return Exchange(to, settings.owner_token or _asked_token(to), BOUNDS, plain_http=settings.provider_plain_http)


def _asked_token(to: str) -> str:
    """Never an argument: those can be seen by everybody on the machine."""
    if not sys.stdin.isatty():
        raise click.UsageError(
            "--to needs a token of that server's owner: in PDPP_OWNER_TOKEN, or typed on a terminal. There, "
            "`pdpp owner token` makes one."
        )
    return click.prompt(f"Owner's token of {to} (`pdpp owner token` there)", hide_input=True, err=True)
