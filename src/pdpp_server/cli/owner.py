"""`pdpp owner`: the password of your pages, credentials for your own tools, and keys."""

import sys

import click

from pdpp_server.cli.home import open_home
from pdpp_server.cli.terminal import json_option, moment, print_json
from pdpp_server.owner.consent import ConsentDesk
from pdpp_server.owner.sign_in import PASSWORD_CHARS_MIN, SignIn, generated_secret
from pdpp_server.wire.address import server_address
from pdpp_server.wire.command.owners import encode_password, encode_resource_server, encode_rotated, encode_token
from pdpp_server.wire.discovery import MCP

GENERATED_GROUPS = 5


@click.group()
def owner() -> None:
    """Your password, credentials for your own tools, keys. Never for an agent.

    \b
    Example:
      pdpp owner password
      pdpp owner token --days 7
    """


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
        print_json(encode_token(made, expires_at))
        return
    click.echo(f"An owner's token until {moment(expires_at)}; it is shown only now:")
    click.echo(made)


@owner.command()
@click.option("--generate", is_flag=True, help="Make one up and print it.")
@json_option
def password(generate: bool, as_json: bool) -> None:
    """Set the password of your pages, or set it anew. Every browser that was signed in is signed out.

    \b
    Example:
      pdpp owner password
      pdpp owner password --generate
    """
    if as_json and not generate:
        raise click.UsageError("--json goes with --generate: a password of your own is typed.")
    chosen = generated_secret(GENERATED_GROUPS) if generate else _typed()
    with open_home() as home:
        SignIn(home.services).set_password(chosen)
    if as_json:
        print_json(encode_password(chosen))
        return
    click.echo("The password is set; whoever was signed in is signed out.")
    if generate:
        click.echo(f"It is shown only now:\n{chosen}")


def _typed() -> str:
    prompt, again = f"New password, at least {PASSWORD_CHARS_MIN} characters", "The same again"
    try:
        chosen: str = click.prompt(
            prompt, hide_input=sys.stdin.isatty(), confirmation_prompt=again, value_proc=_long_enough, err=True
        )
    except click.Abort:
        if sys.stdin.isatty():
            raise
        elsewhere = "elsewhere --generate makes one up"
        raise click.ClickException(f"A password is typed twice, on a terminal; {elsewhere}.") from None
    return chosen


def _long_enough(typed: str) -> str:
    """Asked before it is typed a second time."""
    if len(typed) < PASSWORD_CHARS_MIN:
        raise click.UsageError(f"A password has at least {PASSWORD_CHARS_MIN} characters.")
    return typed


@owner.group()
def keys() -> None:
    """The keys of this home.

    \b
    Example:
      pdpp owner keys rotate
    """


@keys.command()
@json_option
def rotate(as_json: bool) -> None:
    """Replace the key that seals cursors and bookmarks: all that are open now end.

    Whoever is in the middle of a list begins it again, and readers of changes start from the beginning. Records,
    grants, tokens and the log stay as they are. Servers and agents that run go on with the old key until they are
    started again.

    \b
    Example:
      pdpp owner keys rotate
    """
    with open_home() as home:
        home.owner.rotate_cursor_key()
    if as_json:
        print_json(encode_rotated("cursors"))
    else:
        click.echo("The key of cursors is new. Start `pdpp serve` and your agents again.")


@owner.command("resource-server")
@click.argument("name")
@click.option("--address", metavar="URL", help="Its PDPP_PUBLIC_URL, unless that is the address of this server.")
@json_option
def resource_server(name: str, address: str | None, as_json: bool) -> None:
    """Let a resource server elsewhere ask this one about tokens. Naming it again gives it a new secret.

    With an address of its own, clients may ask for tokens for that address; they are good there and nowhere else.
    A new address takes the place of the old one, and clients stay.

    \b
    Example:
      pdpp owner resource-server archive
      pdpp owner resource-server archive --address https://archive.example.org
    """
    its_own = _its_own(address) if address else None
    with open_home() as home:
        secret = ConsentDesk(home.services).name_resource_server(name, its_own)
    if as_json:
        print_json(encode_resource_server(name, its_own, secret))
        return
    if its_own:
        click.echo(f"Tokens can be had for {its_own}; there, set PDPP_PUBLIC_URL to exactly that.")
    click.echo(f"{name} asks POST /introspect with its name and this secret, which is shown only now:")
    click.echo(secret)


def _its_own(address: str) -> str:
    try:
        chosen = server_address(address)
    except ValueError:
        raise click.UsageError(
            "The address of a resource server begins with https://, unless it is on this machine, and has no name, "
            "password, query or fragment in it."
        ) from None
    if chosen.endswith(MCP):
        raise click.UsageError(f"That is the address for agents. Give the server's own: {chosen.removesuffix(MCP)}")
    return chosen
