"""The home that the environment names, opened for one command."""

import os
import shlex
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pdpp_server.owner.desk import Owner
from pdpp_server.reads.services import Services, open_services
from pdpp_server.settings import Settings
from pdpp_server.store.opened import database_of
from pdpp_server.wire.address import local_address


@dataclass(frozen=True, slots=True)
class Home:
    settings: Settings
    services: Services
    owner: Owner


def now() -> datetime:
    return datetime.now(UTC)


def read_settings() -> Settings:
    return Settings.from_environ(os.environ)


def services_of(settings: Settings) -> Services:
    services = open_services(
        settings.home,
        now=now,
        change_history_limit=settings.change_history_limit,
        keep_asked=settings.keep_asked,
        database=database_of(settings),
    )
    services.core_strict = settings.core_strict
    if asked := settings.introspecting:
        from pdpp_server.resource_server.separate import Separate  # noqa: PLC0415 - dear to import, and few need it

        services.introspect = Separate(asked, now).rights
    return services


@contextmanager
def open_home(settings: Settings | None = None) -> Generator[Home, None, None]:
    chosen = settings or read_settings()
    services = services_of(chosen)
    try:
        yield Home(chosen, services, Owner(services, chosen.home))
    finally:
        services.close()


def own_address(settings: Settings) -> str:
    """By which clients know the server of this home."""
    return settings.public_url or local_address(settings.host, settings.port)


def shell_line(home: Path | None, *words: str, **variables: str) -> str:
    """A line for a shell that runs this same `pdpp`, on that home where it is not the one of the environment."""
    if home is not None:
        variables = {"PDPP_HOME": str(home), **variables}
    named = [f"{name}={shlex.quote(value)}" for name, value in variables.items()]
    return " ".join([*named, shlex.quote(program()), *map(shlex.quote, words)])


def named_home() -> Path | None:
    """The folder that a line must name, because another shell would not know it."""
    return Path(os.environ["PDPP_HOME"]).absolute() if os.environ.get("PDPP_HOME") else None


def program() -> str:
    """`pdpp` where the shell finds this one under that name, else its whole path."""
    here = _plain(sys.argv[0])
    found = shutil.which("pdpp")
    return str(here) if here.name == "pdpp" and (found is None or _plain(found) != here) else "pdpp"


def this_program() -> tuple[str, tuple[str, ...]]:
    """The whole path: a client that is started from a menu does not look where a shell looks."""
    here = _plain(sys.argv[0])
    beside = Path(sys.executable).with_name(f"pdpp{here.suffix if here.suffix == '.exe' else ''}")
    for path in (here, beside):
        if path.stem == "pdpp" and path.exists():
            return str(path), ()
    return sys.executable, ("-m", "pdpp_server.cli.main")


def _plain(path: str) -> Path:
    """Whole and without detours; a link stays one, since what it leads to may move with the next version."""
    return Path(os.path.normpath(Path(path).absolute()))
