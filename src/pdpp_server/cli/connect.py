"""`pdpp connect`: the one path from a client, or another server, to what its owner agrees to."""

import json
import os
import re
import socket
import sys
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, Any
from urllib.parse import urlsplit

import click

from pdpp_server.app import create_app
from pdpp_server.cli.client_files import change, file_of, take_out
from pdpp_server.cli.home import Home, named_home, now, open_home, own_address, read_settings, shell_line, this_program
from pdpp_server.cli.provider import open_provider
from pdpp_server.cli.running import as_served
from pdpp_server.cli.saved import live_grant
from pdpp_server.cli.serve import listen_somewhere, serving
from pdpp_server.cli.terminal import json_option, print_json, print_line
from pdpp_server.errors import NotFound, PdppError
from pdpp_server.evidence.text import visible
from pdpp_server.port import credentials
from pdpp_server.port.connect import Server, by_browser, by_device, discover, register
from pdpp_server.port.credentials import Credential, CredentialError, is_client_name, read_document, refuse_kind
from pdpp_server.port.renewal import keep
from pdpp_server.settings import Settings
from pdpp_server.store.opened import token_kind
from pdpp_server.wire.address import is_loopback, server_address
from pdpp_server.wire.client_files import edited, is_bare, shown, stdio_lines
from pdpp_server.wire.client_formats import Command, http_entry, stdio_entry
from pdpp_server.wire.clients import WayIn, ways
from pdpp_server.wire.command.connecting import (
    encode_by_address,
    encode_by_command,
    encode_server_connected,
    encode_server_forgotten,
    encode_taken_out,
    encode_written,
)
from pdpp_server.wire.connect import Given
from pdpp_server.wire.credentials import Saved, decode_saved, granted_id
from pdpp_server.wire.discovery import MCP
from pdpp_server.wire.envelope import Json

CLIENTS = {
    "claude-code": "Claude Code",
    "claude-desktop": "Claude Desktop",
    "codex": "Codex",
    "cursor": "Cursor",
    "vscode": "VS Code",
    "chatgpt": "ChatGPT",
}
STDIO_ONLY, HOSTED = "claude-desktop", "chatgpt"
OURSELVES = "PDPP command"  # what other servers' owners see
WAIT_SECONDS = 600
# What a client asks of its user before it trusts a file of the folder in which it is started.
ASKS = {
    "claude-code": "Start `claude` in this folder. It asks whether to use the server {name} of this project: say yes, "
    "then see it under /mcp.",
    "vscode": "VS Code asks whether you trust the server {name} when it starts it for the first time: say yes.",
}
OUTSIDE = "Name its https address in PDPP_PUBLIC_URL; docs/outside.md shows ways to have one."


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked for beside the client."""

    name: str
    client: str | None
    client_id: str | None
    stdio: bool
    write: bool
    device: bool
    browser: bool
    wait: float
    as_json: bool
    details: str | None = None


def _server_name(_: click.Context, __: click.Parameter, value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", value):
        raise click.BadParameter("a name has 1 to 64 letters, digits, dashes or underscores.")
    return value


def _client_name(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is not None and not is_client_name(value):
        raise click.BadParameter(credentials.NAME_RULE)
    return value


@click.command()
@click.argument("target", metavar="CLIENT|URL")
@click.option("--write", is_flag=True, help="Put the entry into the client's own configuration file.")
@click.option("--remove", is_flag=True, help="Take the entry out again, and end what was agreed for --stdio.")
@click.option("--stdio", is_flag=True, help="Connect by a command instead of an address: no server has to run.")
@click.option(
    "--name", default="my-data", show_default=True, callback=_server_name, help="What the client calls your data."
)
@click.option("--client", metavar="NAME", callback=_client_name, help="What the saved credential is called.")
@click.option("--client-id", metavar="ID", help="Ask as that client of the server instead of registering one.")
@click.option("--device", is_flag=True, help="Say yes in a browser on another machine.")
@click.option(
    "--selection",
    "file",
    type=click.File("rb"),
    help="With a URL: the authorization_details (RFC 9396) to ask for.",
)
@click.option("--no-browser", is_flag=True, help="Print the address to open, and open nothing.")
@click.option(
    "--wait",
    default=WAIT_SECONDS,
    show_default=True,
    type=click.FloatRange(0.1, 3600),
    metavar="SECONDS",
    help="How long to wait for your yes or no.",
)
@json_option
def connect(target: str, remove: bool, no_browser: bool, file: IO[bytes] | None, **wished: Any) -> None:
    """Connect a client to your data, or this machine to another server.

    CLIENT is claude-code, claude-desktop, codex, cursor, vscode or chatgpt. Each takes one address and signs in by
    itself: it sends you to a page of your own server, where you choose what it may read. Claude Desktop, and the others
    with --stdio, start a command instead: then the page opens now, and no server has to run afterwards. No token is
    ever copied and pasted.

    \b
    Example:
      pdpp connect claude-code             the address, and the line that adds it
      pdpp connect claude-desktop --write  your consent, then the entry in its configuration file
      pdpp connect codex --stdio --write   the same, for a client that could use the address
      pdpp connect cursor --remove         as if it had never been connected

    With a URL this machine becomes a client of that PDPP server: its owner is asked there, and the credential is kept
    in this home and renewed by itself.

    \b
    Example:
      pdpp connect https://data.example.org
      pdpp search lease --provider-url https://data.example.org
    """
    wishes = Wishes(**wished, browser=not no_browser, details=_details(file) if file else None)
    settings = as_served(read_settings())
    if target in CLIENTS and wishes.details is not None:
        raise click.UsageError("--selection goes with an address; on your own page you choose yourself.")
    if target in CLIENTS:
        (_remove if remove else _connect_client)(settings, target, wishes)
        return
    if "://" not in target:
        raise click.UsageError(f"{target!r} is no client that is known here ({', '.join(CLIENTS)}), and no address.")
    address = _typed(settings, target)
    (_forget if remove else _connect_server)(settings, address, wishes)


# A client of this home --------------------------------------------------------------------------------------------


def _connect_client(settings: Settings, client: str, wishes: Wishes) -> None:
    if wishes.client_id or (wishes.device and not _by_command(client, wishes)):
        raise click.UsageError(f"{CLIENTS[client]} signs in by itself: --client-id and --device are not for it.")
    if client == HOSTED and (wishes.stdio or wishes.write):
        raise click.UsageError("ChatGPT runs elsewhere and has no file here: it takes the address only.")
    if _by_command(client, wishes):
        _connect_by_command(settings, client, wishes)
    else:
        _connect_by_address(settings, client, wishes)


def _by_command(client: str, wishes: Wishes) -> bool:
    return wishes.stdio or client == STDIO_ONLY


def _connect_by_address(settings: Settings, client: str, wishes: Wishes) -> None:
    address = f"{own_address(settings)}{MCP}"
    parts = urlsplit(address)
    if client == HOSTED and (parts.scheme != "https" or is_loopback(parts.hostname or "")):
        raise click.ClickException(f"ChatGPT cannot reach {address}: it asks from its own machines. {OUTSIDE}")
    (way,) = (way for way in ways(wishes.name, address) if way.client == CLIENTS[client])
    is_running = _is_running(address)
    entry = None if client == HOSTED else http_entry(client, address)
    if not wishes.as_json:
        click.echo(f"{way.client} takes this address, and sends you to your own page to say yes:\n  {address}")
        _print_way(way)
        if not is_running:
            click.echo("No server answers there now. Keep one running (with --install: always):")
            print_line(f"  {shell_line(named_home(), 'serve')}")
    _finish(client, wishes, entry, encode_by_address(client, address, way, is_running=is_running))
    if not wishes.as_json and client != HOSTED:
        click.echo("Without a server:")
        print_line(f"  {shell_line(named_home(), 'connect', client, '--stdio')}")


def _print_way(way: WayIn) -> None:
    for line in way.lines:
        print_line(f"  {line}")
    if way.link:
        click.echo(f"This link opens it:\n  {way.link}")
    if way.place:
        click.echo(f"In {way.client}: {way.place}; then paste the address.")


def _is_running(address: str) -> bool:
    """Whether a server calls itself by that address."""
    try:
        return bool(discover(address))
    except PdppError:
        return False


def _connect_by_command(settings: Settings, client: str, wishes: Wishes) -> None:
    saved_as = wishes.client or client
    with open_home(settings) as home:
        grant_id = live_grant(home, saved_as) or _consented(home, client, saved_as, wishes)
    command = Command(*this_program(), variables=_variables())
    command = command._replace(words=(*command.words, "mcp", "--client", saved_as))
    lines = stdio_lines(client, wishes.name, command)
    if not wishes.as_json:
        click.echo(f"{CLIENTS[client]} may read by {grant_id}; see or end it with `pdpp grants list`.")
        for line in lines:
            click.echo("This line adds it:")
            print_line(f"  {line}")
    _finish(client, wishes, stdio_entry(client, command), encode_by_command(client, saved_as, grant_id, lines))


def _variables() -> dict[str, str]:
    home = named_home()
    return {"PDPP_HOME": str(home)} if home else {}


def _consented(home: Home, client: str, saved_as: str, wishes: Wishes) -> str:
    """The owner says yes on a page that is served for this moment only; the grant's id."""
    if not home.owner.sources():
        raise click.ClickException("Nothing is here yet that could be read. Bring something in: pdpp import PATH")
    settings = home.settings
    saved = _free_place(settings, saved_as, None)
    if wishes.device and (reached := _reached_from_elsewhere(settings)):
        client_id, given = _given(reached, CLIENTS[client], saved, wishes)
        return _kept(settings, saved_as, client, client_id, given)
    with listen_somewhere() as listening:
        here = replace(settings, public_url=None, host="127.0.0.1", port=listening.getsockname()[1])
        app = create_app(here, home.services)
        with serving(app, listening) as origin:
            if code := app.state.sign_in.setup_code:
                click.echo(f"You have no password yet. The page asks for this setup code: {code}", err=True)
            server = discover(f"{origin}{MCP}")
            client_id, given = _given(server, CLIENTS[client], saved, wishes)
    return _kept(settings, saved_as, client, client_id, given)


def _reached_from_elsewhere(settings: Settings) -> Server | None:
    """The server of this home, where it runs under an address that another machine can open."""
    if settings.public_url is None or is_loopback(urlsplit(settings.public_url).hostname or ""):
        return None
    with suppress(PdppError, ValueError):
        return discover(server_address(f"{settings.public_url}{MCP}", plain_http=True))
    return None


def _kept(settings: Settings, saved_as: str, client: str, client_id: str, given: Given) -> str:
    refuse_kind(token_kind(settings, given.access_token))
    address = own_address(settings)
    kept = Saved(address, address, client_id, CLIENTS[client], resource=f"{address}{MCP}")
    keep(str(settings.home), saved_as, kept, given, now())
    return given.grant_id or ""


def _finish(client: str, wishes: Wishes, entry: Json | None, report: Json) -> None:
    """The entry in the client's file: written, or shown and offered."""
    path = file_of(client)
    if path is None or entry is None:
        if wishes.as_json:
            print_json(report)
        return
    is_asked = not (wishes.write or wishes.as_json) and sys.stdin.isatty() and sys.stdout.isatty()
    if not wishes.as_json:
        click.echo(f"In {path}:")
        print_line(shown(client, wishes.name, entry))
    writes = wishes.write or (is_asked and click.confirm(f"Write it into {path}?"))
    changed = writes and change(path, lambda text: edited(client, text, wishes.name, entry))
    if wishes.as_json:
        print_json(encode_written(report, str(path), entry, is_written=writes, is_changed=changed))
    elif writes:
        click.echo("Written. Start the client anew to see it." if changed else "It is there already.")
        if client in ASKS:
            click.echo(ASKS[client].format(name=wishes.name))


def _remove(settings: Settings, client: str, wishes: Wishes) -> None:
    """Both may be gone already: then there is nothing to do."""
    path = file_of(client)
    changed = path is not None and take_out(
        path, lambda text: edited(client, text, wishes.name, None), partial(is_bare, client)
    )
    revoked = _revoked(settings, wishes.client or client)
    if wishes.as_json:
        file = str(path) if path else None
        print_json(encode_taken_out(client, file, is_changed=changed, revoked=revoked))
        return
    if changed:
        click.echo(f"Removed {wishes.name} from {path}.")
    if revoked:
        click.echo(f"Ended {revoked}: the credential is gone.")
    if not (changed or revoked):
        click.echo("There was nothing to remove.")
    click.echo("What a client signed in for by itself is ended with `pdpp grants revoke`, or on the page /clients.")


def _revoked(settings: Settings, saved_as: str) -> str | None:
    folder = str(settings.home)
    with suppress(CredentialError):
        document = read_document(folder, saved_as)
        grant_id = granted_id(document)
        saved = decode_saved(document)
        if grant_id and saved and saved.token_endpoint is None:
            with open_home(settings) as home, suppress(NotFound):
                home.owner.revoke(grant_id)
        credentials.remove(folder, saved_as)
        return grant_id
    return None


# Another server ---------------------------------------------------------------------------------------------------


def _typed(settings: Settings, url: str) -> str:
    try:
        address = server_address(url, plain_http=settings.provider_plain_http)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if address.endswith(MCP):
        raise click.UsageError(f"That is the address for agents. Give the server's own: {address.removesuffix(MCP)}")
    return address


def _connect_server(settings: Settings, address: str, wishes: Wishes) -> None:
    if wishes.stdio or wishes.write:
        raise click.UsageError("--stdio and --write go with a client's name, not with an address.")
    saved_as = wishes.client or _name_of(address)
    saved = _free_place(settings, saved_as, address)
    server = discover(address)
    client_id, given = _given(server, OURSELVES, saved, wishes)
    open_provider(settings, address, Credential(given.access_token)).close()  # an owner's token is refused there
    found = server.found
    kept = Saved(address, found.issuer, client_id, OURSELVES, resource=server.resource, token_endpoint=found.token)
    path = keep(str(settings.home), saved_as, kept, given, now())
    words = ("mcp", "--client", saved_as, "--provider-url", address)
    if wishes.as_json:
        print_json(encode_server_connected(address, saved_as, path, given.grant_id))
        return
    click.echo(f"Connected to {address}; the credential is kept in {path}.")
    click.echo("Read it yourself:")
    print_line(f"  {shell_line(named_home(), 'schema', '--provider-url', address)}")
    click.echo("This line goes into an agent's configuration:")
    print_line(f"  {shell_line(named_home(), *words)}")


def _forget(settings: Settings, address: str, wishes: Wishes) -> None:
    saved_as = wishes.client or _name_of(address)
    removed = credentials.remove(str(settings.home), saved_as)
    if wishes.as_json:
        print_json(encode_server_forgotten(address, saved_as, is_changed=removed))
    else:
        click.echo("Forgotten here; its owner can end it there." if removed else "There was nothing to remove.")


def _name_of(address: str) -> str:
    """One file for each server: its host, port and path."""
    return re.sub(r"[^A-Za-z0-9.-]", "_", address.partition("://")[2])[:64].lstrip(".")


def _free_place(settings: Settings, saved_as: str, address: str | None) -> Saved | None:
    """What is saved under that name already, of that server or of this home; never another's, which would be lost."""
    try:
        saved = decode_saved(read_document(str(settings.home), saved_as))
    except CredentialError:
        return None
    if saved and (saved.provider_url if saved.token_endpoint else None) != address:
        raise click.UsageError(
            f"The name {saved_as} is taken by the credential for {saved.provider_url}; choose another with --client."
        )
    return saved


# Consent ----------------------------------------------------------------------------------------------------------


def _given(server: Server, name: str, saved: Saved | None, wishes: Wishes) -> tuple[str, Given]:
    client_id = wishes.client_id or register(server, name, saved.client_id if saved else None)
    ask: Callable[..., Given] = by_device if wishes.device else by_browser

    def tell(address: str, code: str | None) -> None:
        shown_code = f" and compare the code {code}" if code else ""
        click.echo(visible(f"Open this address in your browser{shown_code}, then say what may be read:"), err=True)
        click.echo(f"  {visible(address)}", err=True)
        if wishes.browser and not wishes.device and _has_screen():
            webbrowser.open(address)
        elif not wishes.device and not _has_screen():
            click.echo("The browser has to run on this machine; for another one, use --device.", err=True)
        elif wishes.device:
            _say_where_it_opens(address)

    return client_id, ask(server, client_id, tell, wishes.wait, details=wishes.details)


def _details(file: IO[bytes]) -> str:
    """The selection as it is sent: one object is a list of one."""
    try:
        selection = json.loads(file.read())
    except ValueError:
        raise click.BadParameter("the file holds no JSON.", param_hint="--selection") from None
    return json.dumps(selection if isinstance(selection, list) else [selection], separators=(",", ":"))


def _say_where_it_opens(address: str) -> None:
    """Another machine reaches an address of this one only through a tunnel, or where the server has a public one."""
    parts = urlsplit(address)
    if not is_loopback(parts.hostname or ""):
        return
    click.echo(
        "Only this machine can open that address, for its server has no public one (PDPP_PUBLIC_URL). On the other "
        "machine, run this first, with the name by which it knows this one:",
        err=True,
    )
    print_line(f"  ssh -N -L {parts.port}:{parts.hostname}:{parts.port} {socket.gethostname()}", err=True)


def _has_screen() -> bool:
    """A browser in the terminal would take it from us, unless it was asked for."""
    if os.environ.get("BROWSER"):
        return True
    return sys.platform in {"darwin", "win32"} or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
