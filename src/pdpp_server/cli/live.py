"""Live sources on the command line: `pdpp sources add`, `pdpp sources stop`, `pdpp sync`; and beside the server."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import click
import orjson

from pdpp_server.cli.beside import going_on
from pdpp_server.cli.home import Home, named_home, now, open_home, shell_line
from pdpp_server.cli.removals import settled_by_owner
from pdpp_server.cli.terminal import connection_name, counted, json_option, moment, print_json
from pdpp_server.errors import Conflict, PdppError
from pdpp_server.evidence.text import quoted, visible
from pdpp_server.importers import registry
from pdpp_server.importers.live.adding import mailbox_settings, tried
from pdpp_server.importers.live.dav import dav_settings
from pdpp_server.importers.live.folder import folder_settings
from pdpp_server.importers.live.imap import mailbox_of, wait_for_mail
from pdpp_server.importers.live.oauth import SERVICES, Agreed, MailClient, agreed, agreed_in_browser, secret_of
from pdpp_server.importers.live.sync import Syncing, sync_one
from pdpp_server.importers.live.trouble import not_followed_yet
from pdpp_server.importers.missing import MissingChoice
from pdpp_server.importers.watch import Stopped
from pdpp_server.model.live import LiveSource
from pdpp_server.model.times import iso
from pdpp_server.settings import Settings, machine_zone
from pdpp_server.wire.command.sources import encode_live, encode_stopped
from pdpp_server.wire.connect import TokenService, decode_token_service, encode_mail_service, encode_renewing

PAUSE_SECONDS = 1.0
LISTEN_AGAIN_SECONDS = 60.0


_certificate_option = click.option(
    "--certificate", default="", metavar="SHA256", help="Accept this certificate on purpose, and no other."
)


@click.group()
def add() -> None:
    """Follow a source: what changes there comes here by itself, while `pdpp serve` runs or with `pdpp sync`.

    \b
    Example:
      pdpp sources add folder ~/Notes
      pdpp sources add imap imap.example.org ann@example.org
    """


@add.command()
@click.argument("path", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--name", callback=connection_name, help="What you call it.  [default: the folder's name]")
@json_option
def folder(path: Path, name: str | None, as_json: bool) -> None:
    """A folder that another program fills: a vault of notes, a Maildir, downloaded exports.

    It is read now, and again whenever something in it changed. Nothing is ever written there.

    \b
    Example:
      pdpp sources add folder ~/Notes
    """
    with open_home() as home:
        settings = folder_settings(path)
        chosen = name or Path(settings["path"]).name
        home.owner.live.add(chosen, "folder", settings)
        try:  # it is opened by reading it
            with not_followed_yet():
                said = _asked(home, chosen)
        except PdppError:
            home.owner.live.stop(chosen)
            raise
        _say_followed(home, chosen, said, as_json=as_json)


@add.command()
@click.argument("host")
@click.argument("user")
@click.option("--port", type=click.IntRange(1, 65_535), help="[default: 993, or 143 without TLS from the start]")
@click.option(
    "--security",
    type=click.Choice(["tls", "starttls", "none"]),
    default="tls",
    show_default=True,
    help="`none` is for a server on this machine alone.",
)
@_certificate_option
@click.option("--name", callback=connection_name, help="The account it is.  [default: its address]")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input instead of asking.")
@click.option("--token-command", default="", metavar="COMMAND", help="What prints an OAuth access token (XOAUTH2).")
@click.option("--oauth", metavar="SERVICE", help="Agree on its page: `microsoft`, `google`, or a JSON file.")
@click.option("--client-id", default="", metavar="ID", help="With --oauth: the id of your own registration there.")
@click.option(
    "--browser", is_flag=True, help="With --oauth: agree in a browser on this machine, without a code to type."
)
@json_option
def imap(
    host: str,
    user: str,
    port: int | None,
    security: str,
    certificate: str,
    name: str | None,
    password_stdin: bool,
    token_command: str,
    oauth: str | None,
    client_id: str,
    browser: bool,
    as_json: bool,
) -> int:
    """A mailbox on a mail server.

    The password is asked for, tried, and kept in the keyring of this machine where there is one, else sealed in the
    home. Folders are opened for reading only: nothing is marked as read, nothing is written. Mail that an export of
    the same address brought is the same mail.

    \b
    Example:
      pdpp sources add imap imap.example.org ann@example.org
    """
    settings = mailbox_settings(
        host,
        user,
        account=name or "",
        port=port,
        security=security,
        certificate=certificate,
        token_command=token_command,
    )
    say = partial(click.echo, err=as_json)
    kept = opens = None
    if not oauth and (client_id or browser):
        raise click.UsageError("--client-id and --browser go with --oauth.")
    if oauth:
        given = _agreed(settings, oauth, client_id, say, in_browser=browser, is_piped=password_stdin)
        kept, opens = encode_renewing(given.renewing), given.access_token
    elif not token_command:
        kept = opens = _password(user, host, is_piped=password_stdin)
    for told in tried("imap", settings, opens or ""):
        say(f"  {visible(told)}")
    account = settings["account"]
    with open_home() as home:
        home.owner.live.add(account, "imap", settings, kept)
        return _first_sync(home, account, as_json=as_json)


def _agreed(
    settings: dict[str, Any],
    oauth: str,
    client_id: str,
    say: Callable[[str], None],
    *,
    in_browser: bool,
    is_piped: bool,
) -> Agreed:
    """What the owner agreed to on a page of the service; where it is renewed stands in the settings."""
    if not client_id:
        raise click.UsageError("--oauth needs --client-id: the id that the service gave you for a program of yours.")
    service = SERVICES.get(oauth) or _service_in(Path(oauth))
    settings["oauth"] = encode_mail_service(service, client_id)
    secret = _secret("Client secret that came with the client id", is_piped=is_piped) if service.gives_secret else ""
    client = MailClient(client_id, secret)
    if in_browser or service.device is None:
        asks = "Open this address in a browser on this machine, and agree there:\n  "
        return agreed_in_browser(service, client, lambda url, _: say(f"{asks}{visible(url)}"))
    return agreed(service, client, lambda url, code: say(f"Open {visible(url)} and type {visible(code)} there."))


def _service_in(path: Path) -> TokenService:
    if not path.is_file():
        known = ", ".join(SERVICES)
        raise click.UsageError(f"--oauth takes {known}, or a file: see docs/live-sources.md.")
    try:
        return decode_token_service(orjson.loads(path.read_bytes()))
    except (orjson.JSONDecodeError, PdppError, AttributeError) as error:
        raise click.UsageError(
            f"{path} is no JSON with token_endpoint, scope, and device_endpoint or authorization_endpoint."
        ) from error


def _dav(kind: str, url: str, user: str, certificate: str, name: str | None, *, is_piped: bool, as_json: bool) -> int:
    password = _password(user, url, is_piped=is_piped)
    settings = dav_settings(kind, url, user, certificate)
    for told in tried(kind, settings, password):
        click.echo(f"  {visible(told)}", err=as_json)
    chosen = name or f"{kind} {user}"
    with open_home() as home:
        home.owner.live.add(chosen, kind, settings, password)
        return _first_sync(home, chosen, as_json=as_json)


def _dav_command(kind: str, says: str) -> None:
    """Calendars and address books are followed by the same words."""

    @add.command(kind, help=says.replace("KIND", kind))
    @click.argument("url")
    @click.argument("user")
    @_certificate_option
    @click.option("--name", callback=connection_name, help="What you call this source.")
    @click.option("--password-stdin", is_flag=True, help="Read the password from standard input instead of asking.")
    @json_option
    def _(url: str, user: str, certificate: str, name: str | None, password_stdin: bool, as_json: bool) -> int:
        return _dav(kind, url, user, certificate, name, is_piped=password_stdin, as_json=as_json)


_EXAMPLE = """

    \b
    Example:
      pdpp sources add KIND https://dav.example.org/ ann
    """
_dav_command("caldav", f"The calendars on a CalDAV server: each becomes a connection, called as it is there.{_EXAMPLE}")
_dav_command(
    "carddav", f"The address books on a CardDAV server: each becomes a connection, called as it is there.{_EXAMPLE}"
)


def _password(user: str, host: str, *, is_piped: bool) -> str:
    return _secret(f"Password of {user} at {host}", is_piped=is_piped)


def _secret(what: str, *, is_piped: bool) -> str:
    """Never an argument: those can be seen by everybody on the machine."""
    if is_piped:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise click.UsageError("The password is asked for on a terminal; elsewhere give it with --password-stdin.")
    return click.prompt(what, hide_input=True, err=True)


def _first_sync(home: Home, name: str, *, as_json: bool) -> int:
    """What was opened is followed, also where its first read fails: what came is kept, and it is tried again."""
    try:
        said = _asked(home, name)
    except PdppError as refusal:
        if as_json:
            print_json(encode_live(home.owner.live.named(name)))
        told = f"{quoted(name)} is followed, but its first read failed. {refusal.message} {refusal.remedy}"
        click.echo(visible(told.strip()), err=True)
        return 1
    _say_followed(home, name, said, as_json=as_json)
    return 0


def _asked(home: Home, name: str) -> str:
    with home.owner.live.held():
        return sync_one(_syncing(home), home.owner.live.named(name))


def _say_followed(home: Home, name: str, said: str, *, as_json: bool) -> None:
    if as_json:
        print_json(encode_live(home.owner.live.named(name)))
    else:
        click.echo(f"{quoted(name)} is followed. {visible(said)}")
        click.echo("It is read again while `pdpp serve` runs, and whenever you run `pdpp sync`.")


@click.command()
@click.argument("name")
@json_option
def stop(name: str, as_json: bool) -> None:
    """Follow a source no longer. What it brought stays.

    \b
    Example:
      pdpp sources stop Notes
    """
    with open_home() as home:
        home.owner.live.stop(name)
    if as_json:
        print_json(encode_stopped(name))
    else:
        click.echo(f"{quoted(name)} is not followed any more; what it brought stays.")


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--yes", is_flag=True, help="Remove even more than half of what a source has no longer.")
@click.option("--keep-missing", is_flag=True, help="Remove nothing.")
@json_option
def sync(names: tuple[str, ...], yes: bool, keep_missing: bool, as_json: bool) -> int:
    """Ask the sources that are followed, once: for cron and timers, where no `pdpp serve` runs.

    Without NAME all of them, except those that failed lately and wait for their next try.

    \b
    Example:
      pdpp sync
      pdpp sync Notes --yes
    """
    with open_home() as home:
        wanted = [home.owner.live.named(name) for name in names] or _not_waiting(home)
        if not wanted and not as_json:
            click.echo(
                "No source is due. `pdpp sources add` follows one; `pdpp sources` says when each is tried again."
            )
        is_well = True
        with home.owner.live.held():
            for source in wanted:
                is_well = _said(home, source, yes=yes, keep=keep_missing, as_json=as_json) and is_well
    return 0 if is_well else 1


def _not_waiting(home: Home) -> list[LiveSource]:
    due = {source.name for source in home.owner.live.due()}
    return [source for source in home.owner.live.all() if not source.failures or source.name in due]


def _said(home: Home, source: LiveSource, *, yes: bool, keep: bool, as_json: bool) -> bool:
    """Whether it went well; either way it is said."""
    missing = MissingChoice(keep, partial(settled_by_owner, source.name, yes=yes, is_newer=False))
    trouble = ""
    try:
        said = sync_one(_syncing(home, missing), source)
    except PdppError as refusal:
        said, trouble = "", f"{refusal.message} {refusal.remedy}".strip()
    if as_json:
        print_json(encode_live(home.owner.live.named(source.name)))
    elif trouble:
        click.echo(f"{quoted(source.name)}: {visible(trouble)}", err=True)
    else:
        click.echo(f"{quoted(source.name)}: {visible(said)}")
        _say_withheld(home.owner.live.named(source.name))
    return not trouble


def _syncing(
    home: Home, missing: MissingChoice | None = None, is_stopping: Callable[[], bool] = lambda: False
) -> Syncing:
    return Syncing(home.owner, machine_zone(), registry.all_importers(), now, is_stopping, missing or MissingChoice())


# What is followed -----------------------------------------------------------------------------------------------------


def print_live(home: Home) -> None:
    for source in home.owner.live.all():
        name = quoted(source.name)
        last = f"last read {moment(source.succeeded_at)}" if source.succeeded_at else "never read"
        click.echo(f"{name} is followed ({source.kind}), {last}, {_next(source)}")
        if source.trouble:
            times = counted(source.failures, "time")
            click.echo(f"  failed {times}: {visible(source.trouble)}")
        _say_withheld(source)


def _say_withheld(source: LiveSource) -> None:
    if source.withheld:
        let_go = shell_line(named_home(), "sync", source.name, "--yes")
        gone = counted(source.withheld, "item")
        click.echo(f"  {gone} gone there, more than half: kept here until you say that they may go: {let_go}")


def _next(source: LiveSource) -> str:
    """One that is due waits for somebody to ask it: nothing runs but what the owner runs."""
    if source.next_at is None or source.is_due(iso(now())):
        return "due now (by `pdpp serve` or `pdpp sync`)"
    return f"next try {moment(source.next_at)}"


# Beside the server ----------------------------------------------------------------------------------------------------


def live_followed(settings: Settings) -> AbstractContextManager[None]:
    """While the server runs, each source is asked when it is due."""
    return going_on("live sources", partial(_follow, settings))


def _follow(settings: Settings, stopping: Event) -> None:
    waiting: dict[str, Thread] = {}
    with open_home(settings) as home:
        while not stopping.is_set():
            _wait_for_mail(settings, home, waiting, stopping)
            try:
                _ask_due(home, stopping)
            except Exception as bug:  # noqa: BLE001 - a source that trips us must not end the others
                _tell(f"Something unforeseen: {type(bug).__name__}.")  # its message may hold data, so it stays out
            stopping.wait(PAUSE_SECONDS)


def _wait_for_mail(settings: Settings, home: Home, waiting: dict[str, Thread], stopping: Event) -> None:
    """One who listens for each mailbox: what it hears makes that source due at once."""
    for source in home.owner.live.all():
        listener = waiting.get(source.name)
        if source.kind == "imap" and source.succeeded_at and not (listener and listener.is_alive()):
            waiting[source.name] = Thread(target=_listen, args=(settings, source, stopping), daemon=True)
            waiting[source.name].start()


def _listen(settings: Settings, source: LiveSource, stopping: Event) -> None:
    with open_home(settings) as home:
        followed = home.owner.live

        def is_over() -> bool:
            return stopping.is_set() or all(one.name != source.name for one in followed.all())

        def told() -> None:
            followed.due_now(source.name)

        try:
            wait_for_mail(mailbox_of(source.settings), secret_of(followed, source), is_over, told)
        except PdppError:  # whoever asks it now and then says what is wrong
            stopping.wait(LISTEN_AGAIN_SECONDS)


def _ask_due(home: Home, stopping: Event) -> None:
    due = home.owner.live.due()
    if not due:
        return
    try:
        with home.owner.live.held():
            for source in due:
                if not stopping.is_set():
                    _ask(home, source, stopping)
    except Conflict:
        return  # a `pdpp sync` is at it


def _ask(home: Home, source: LiveSource, stopping: Event) -> None:
    try:
        said = sync_one(_syncing(home, is_stopping=stopping.is_set), source)
    except Stopped:
        return
    except PdppError as refusal:
        _tell(f"{source.name}: {refusal.message} {refusal.remedy}")
    else:
        if not said.startswith("nothing changed"):
            _tell(f"{source.name}: {said}")


def _tell(line: str) -> None:
    click.echo(f"live: {visible(line)}", err=True)
