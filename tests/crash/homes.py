"""Homes to begin with."""

from collections.abc import Iterable
from pathlib import Path

from pdpp_server.model.ingest import Incoming
from pdpp_server.owner.backup import back_up
from pdpp_server.owner.desk import Owner
from pdpp_server.reads.services import open_services
from pdpp_server.wire.grants import decode_selection
from tests.crash.life import ACCOUNT
from tests.worlds import chat
from tests.worlds.world import NOW, close


def filled(home: Path, lines: Iterable[Incoming]) -> str:
    """The connection that holds them."""
    services = open_services(home, now=lambda: NOW)
    writer = Owner(services, home).writer(chat.DECLARATION, ACCOUNT)
    writer.deliver(lines)
    writer.finish("life.ndjson", [])
    close(services)
    return writer.connection_id


def granted(home: Path) -> str:
    """A client's token for everything."""
    services = open_services(home, now=lambda: NOW)
    selection = decode_selection([chat.detail({"name": "messages"}, {"name": "channels"})])
    issued = Owner(services, home).create_grant(selection, "Agent", None)
    close(services)
    return issued.token


def owned(home: Path) -> str:
    """The owner's own token. The server has its own clock, so it lives long."""
    services = open_services(home, now=lambda: NOW)
    token, _ = Owner(services, home).owner_token(days=36_500)
    close(services)
    return token


def backed_up(home: Path, target: Path) -> None:
    back_up(home, target, now=NOW, keep=10, progress=lambda *_: None)
