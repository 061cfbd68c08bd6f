"""`pdpp owner`: credentials for the owner's own tools."""

import click

from pdpp_server.cli.home import open_home
from pdpp_server.cli.terminal import json_option, moment, print_json


@click.group()
def owner() -> None:
    """Credentials for your own tools, never for an agent."""


@owner.command()
@click.option(
    "--days", type=click.IntRange(1, 3650), metavar="N", default=30, show_default=True, help="How long it lives."
)
@json_option
def token(days: int, as_json: bool) -> None:
    """A token that may do what you may; agents are refused with it.

    \b
    Example:
      pdpp owner token --days 7
    """
    with open_home() as home:
        made, expires_at = home.owner.owner_token(days)
    if as_json:
        print_json({"token": made, "expires_at": expires_at})
        return
    click.echo(f"An owner's token until {moment(expires_at)}; it is shown only now:")
    click.echo(made)
