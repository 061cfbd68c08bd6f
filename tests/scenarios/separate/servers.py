"""The two servers, each on a socket of its own; both stand behind one public address, as behind a proxy."""

from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from httpx2 import Client, Response

from pdpp_server.app import create_app
from pdpp_server.owner.backup import back_up
from pdpp_server.owner.consent import ConsentDesk
from pdpp_server.owner.restore import restore
from pdpp_server.reads.services import Services, open_services
from pdpp_server.settings import Settings
from pdpp_server.store.engines.sqlite.db import SqliteDatabase
from pdpp_server.store.engines.sqlite.described import plain_tables
from pdpp_server.store.moving import Moving
from pdpp_server.store.opened import open_database
from tests.engine.beneath import is_postgres
from tests.worlds.served import served
from tests.worlds.world import NOW, World

PUBLIC = "https://data.example"
NAME = "archive"


@dataclass(frozen=True)
class Servers:
    """`world` issues; `http` asks the one that reads, whose own services are `copy`."""

    world: World
    copy: Services
    http: Client

    def get(self, token: str, path: str = "/v1/streams/messages/records") -> Response:
        return self.http.get(path, headers={"Authorization": f"Bearer {token}"})

    def call(self, token: str, tool: str, **arguments: Any) -> Response:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        return self.http.post("/mcp", json=message, headers={"Authorization": f"Bearer {token}"})


@contextmanager
def opened(world: World, **changed: Any) -> Generator[Servers]:
    secret = ConsentDesk(world.services).name_resource_server(NAME)
    with served(create_app(Settings(home=world.home, public_url=PUBLIC), world.services)) as issuing:
        settings = Settings(home=copied(world), **(introspecting(issuing, secret) | changed))
        with (
            closing(open_services(settings.home, now=world.clock)) as copy,
            served(create_app(settings, copy)) as reading,
            Client(base_url=reading) as http,
        ):
            yield Servers(world, copy, http)


def introspecting(issuing: str, secret: str) -> dict[str, Any]:
    return {
        "public_url": PUBLIC,
        "issuer": PUBLIC,
        "introspection_url": f"{issuing}/introspect",
        "introspection_client": NAME,
        "introspection_secret": secret,
    }


def copied(world: World) -> Path:
    """A home restored from a backup: it knows every token and grant as they were then."""
    folder, home = world.home.with_name("backup"), world.home.with_name("copy")
    if is_postgres():
        _copy_owner(world, folder, home)
        return home
    back_up(world.home, folder, now=NOW, keep=1, progress=lambda *_: None)
    restore(folder, home, at=None, replace=False, now=NOW, progress=lambda *_: None)
    return home


def _copy_owner(world: World, folder: Path, home: Path) -> None:
    """As another owner of the same database. Which tables there are is described by a home that is a folder."""
    with closing(SqliteDatabase(folder / "pdpp.sqlite")) as described, described.reading() as reading:
        tables = plain_tables(reading)
    source = world.services.database
    with closing(open_database(home)) as target, source.writing() as still:
        Moving(source, still, target, tables).copy(lambda _: None)
