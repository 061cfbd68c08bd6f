"""`pdpp serve`: run the personal server."""

import errno
import logging
import socket
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread

import click
import uvicorn
from starlette.types import ASGIApp

from pdpp_server.app import create_app
from pdpp_server.cli.home import read_settings
from pdpp_server.cli.live import live_followed
from pdpp_server.cli.meaning import meaning_caught_up
from pdpp_server.cli.running import marked
from pdpp_server.cli.service import install, uninstall
from pdpp_server.cli.watching import inbox_watched
from pdpp_server.cli.workers import Workers, asked_to_stop
from pdpp_server.http.hosts import LOOPBACK
from pdpp_server.http.protocol import CONNECTIONS_MAX, guarded, room_for_connections
from pdpp_server.one_owner import services_of
from pdpp_server.owner.sign_in import SignIn
from pdpp_server.settings import Settings
from pdpp_server.store.opened import chosen_owner, open_owners

if sys.platform == "win32":

    def _descriptors() -> int:
        """Nobody counts them there."""
        return 2 * CONNECTIONS_MAX

else:
    import resource

    def _descriptors() -> int:
        """How many this process may open."""
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return 2 * CONNECTIONS_MAX if soft == resource.RLIM_INFINITY else soft


START_SECONDS = 20
BACKLOG = 2048  # what uvicorn itself would ask for


@click.command()
@click.option("--host", help="The address to listen on.  [default: 127.0.0.1, or PDPP_HOST]")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    help="The port to listen on, 0 for a free one.  [default: 8787, or PDPP_PORT]",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    help="How many processes answer on that port.  [default: 1, or PDPP_WORKERS]",
)
@click.option("--log/--no-log", default=None, help="A line of JSON for each request.  [default: not on a terminal]")
@click.option("--install", "does_install", is_flag=True, help="Keep it running: as a service of systemd or launchd.")
@click.option("--uninstall", "does_uninstall", is_flag=True, help="End that service, and take it away.")
def serve(
    host: str | None,
    port: int | None,
    workers: int | None,
    log: bool | None,
    does_install: bool,
    does_uninstall: bool,
) -> None:
    """Serve this home over HTTP until you press Ctrl-C.

    Only this machine can reach it unless you say otherwise. For others, put it behind https and name its address in
    PDPP_PUBLIC_URL. With --install it runs whenever you are signed in, with the settings of this shell.

    \b
    Example:
      pdpp serve
      pdpp serve --install
      PDPP_PUBLIC_URL=https://data.example.org pdpp serve --host 0.0.0.0
    """
    settings = read_settings()
    if does_uninstall:
        uninstall(settings)
        return
    chosen = replace(
        settings,
        host=host or settings.host,
        port=settings.port if port is None else port,
        workers=workers or settings.workers,
    )
    _require_purpose(chosen, is_named=host is not None)
    if does_install:
        given = {"--host": host, "--port": port, "--workers": workers}
        install(chosen, [word for name, value in given.items() if value is not None for word in (name, str(value))])
        return
    run = _serve if chosen.workers == 1 else _serve_by_many
    run(chosen, logs=not sys.stderr.isatty() if log is None else log)


def _require_purpose(chosen: Settings, *, is_named: bool) -> None:
    """Raises click.UsageError: others could reach it, and nobody said so on purpose."""
    if chosen.host not in LOOPBACK and chosen.public_url is None:
        if not is_named:
            raise click.UsageError(
                f"PDPP_HOST is {chosen.host}, which others can reach. Name the address they use in PDPP_PUBLIC_URL, "
                f"or say --host {chosen.host} if you mean it."
            )
        click.echo(
            f"Warning: others can reach {chosen.host}. Requests are answered only for the names in PDPP_TRUSTED_HOSTS, "
            "and nothing is encrypted; https and PDPP_PUBLIC_URL are the better way.",
            err=True,
        )


def _serve(chosen: Settings, *, logs: bool) -> None:
    listening = listen(chosen.host, chosen.port)
    chosen = replace(chosen, port=listening.getsockname()[1])
    app = create_app(chosen)
    if not logs:
        quiet()
    server = server_of(app)
    _print_addresses(chosen, address_of(listening), app.state.sign_in.setup_code)
    try:
        with ExitStack() as stack:
            _look_after(chosen, stack)
            server.run(sockets=[listening])
    except KeyboardInterrupt:
        click.echo("Ended.")


def _look_after(chosen: Settings, stack: ExitStack) -> None:
    """What goes on beside the server: the inbox, live sources, the index of meaning. Where there are several owners,
    nobody's: each is asked for by name."""
    alone = _only_owner(chosen)
    if alone is not None:
        for each in (inbox_watched(alone), live_followed(alone), meaning_caught_up(alone)):
            stack.enter_context(each)
    stack.enter_context(marked(chosen))


def _only_owner(chosen: Settings) -> Settings | None:
    """The settings that name the one owner whom this server serves; None where there are several."""
    if chosen.database_url is None or chosen.owner is not None:
        return chosen
    owners = open_owners(chosen)
    try:
        return None if len(owners.every()) > 1 else replace(chosen, owner=chosen_owner(owners, None).name)
    finally:
        owners.close()


def _serve_by_many(chosen: Settings, *, logs: bool) -> None:
    """What must be done once is done here: the inbox, live sources, the index of meaning. The others answer."""
    if sys.platform == "win32":
        raise click.UsageError("Several processes cannot share one port on Windows; start one `pdpp serve`.")
    listening = listen(chosen.host, chosen.port)
    chosen = replace(chosen, port=listening.getsockname()[1])
    alone = _only_owner(chosen)
    _print_addresses(chosen, address_of(listening), setup_code_of(alone) if alone else None)
    with ExitStack() as stack:
        stopping = stack.enter_context(asked_to_stop())
        _look_after(chosen, stack)
        Workers(chosen, listening, logs=logs).run(stopping)
    click.echo("Ended.")


def setup_code_of(chosen: Settings) -> str | None:
    services = services_of(chosen)
    try:
        return SignIn(services).setup_code
    finally:
        services.close()


def _print_addresses(chosen: Settings, listening: str, setup_code: str | None) -> None:
    """The address that people and agents use; behind a proxy, also the one that the proxy needs."""
    address = chosen.public_url or listening
    click.echo(f"Serving {chosen.home} at {address}")
    if address != listening:
        click.echo(f"  {listening}    where it listens, for the proxy or tunnel before it")
    click.echo(f"  {address}              your pages, in a browser")
    click.echo(f"  {address}/v1/schema    what a token may read (Authorization: Bearer TOKEN)")
    click.echo(f"  {address}/mcp          the tools of agents, with a client's token")
    click.echo(f"  {address}/healthz      whether all is well")
    if setup_code:
        click.echo(f"No password is set yet. Open {address}/welcome and choose one with the setup code {setup_code}")
    click.echo("Ctrl-C ends it.")


def quiet() -> None:
    """A line for each request would hide the rest, the slow ones too: each sign-in is one. Bugs are still told."""
    logging.getLogger("pdpp_server.access").setLevel(logging.ERROR)


def listen(host: str, port: int) -> socket.socket:
    """The socket, open before anything else is, so that a taken port is said first and an early request only waits."""
    try:
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except socket.gaierror:
        raise click.UsageError(f"{host} is no address of this machine.") from None
    listening = socket.socket(family, socket.SOCK_STREAM)
    if sys.platform != "win32":  # there it would let two servers have one port
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(place)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            taken = f"Port {port} of {host} is taken, perhaps by another `pdpp serve`."
            raise click.ClickException(f"{taken} Choose another with --port, or 0 for a free one.") from None
        raise click.ClickException(f"{host}:{port} cannot be listened on: {error.strerror}.") from None
    return listening


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def server_of(app: ASGIApp) -> uvicorn.Server:
    """We write our own access log, and no server header. Who asks is for us to say, so uvicorn believes no header."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=guarded(room_for_connections(_descriptors())),
            ws="none",
            proxy_headers=False,
            log_level="error",  # its warnings are of requests that are no HTTP
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=5,
        )
    )


def listen_somewhere(port: int | None = None) -> socket.socket:
    """On this machine only: the port asked for, else the usual one, else a free one."""
    usual = Settings(home=Path()).port
    try:
        return listen("127.0.0.1", usual if port is None else port)
    except click.ClickException:
        if port is not None:
            raise
        return listen("127.0.0.1", 0)


@contextmanager
def serving(app: ASGIApp, listening: socket.socket) -> Generator[str, None, None]:
    """The whole server, in a thread of this process, from its first answer until we leave; the address it has."""
    server = server_of(app)
    quiet()
    thread = Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        _require_health(listening.getsockname()[1])
        yield address_of(listening)
    finally:
        server.should_exit = True
        thread.join()


def _require_health(port: int) -> None:
    """The socket listens already, so the first answer comes when the server is there; it is waited for, not polled."""
    asking = HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)
    try:
        asking.request("GET", "/healthz")
        if asking.getresponse().status != 200:
            raise click.ClickException("The server does not call itself healthy.")
    finally:
        asking.close()
