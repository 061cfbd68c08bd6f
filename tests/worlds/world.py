"""One owner's whole server in a folder: services on a clock that stands still, the owner's desk, readers."""

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pdpp_server.model.ingest import Incoming, Receipt
from pdpp_server.owner.desk import Owner
from pdpp_server.port.local import LocalReader
from pdpp_server.port.reader import Reader
from pdpp_server.reads.services import Services, open_services
from pdpp_server.store.log import DisclosureLog
from pdpp_server.wire.grants import decode_selection
from tests.worlds import chat
from tests.worlds.told import ToldReader

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


class Clock:
    """Stands still until a test sets `moment`."""

    def __init__(self, moment: datetime = NOW) -> None:
        self.moment = moment

    def __call__(self) -> datetime:
        return self.moment


@dataclass(frozen=True)
class World:
    """`token` is a client's, over all streams of both chat accounts; `work` and `family` are their connection ids."""

    home: Path
    clock: Clock
    services: Services
    owner: Owner
    work: str
    family: str
    token: str
    grant_id: str
    owner_token: str
    open_reader: Callable[[str], Reader] | None = None  # where it is read from outside: see tests/worlds/served.py

    @property
    def reader(self) -> ToldReader:
        return self.reader_of(self.token)

    def reader_of(self, token: str) -> ToldReader:
        return ToldReader(self.open_reader(token) if self.open_reader else LocalReader(self.services, token))

    def both(self, stream: str, **narrowing: Any) -> dict[str, Any]:
        """A stream of both accounts, for `grant`; narrow it with fields, time_range or resources."""
        return {"name": stream, "instance_ids": [self.work, self.family], **narrowing}

    def grant(self, *streams: dict[str, Any], expires_at: str | None = None) -> str:
        """A new client's token for these streams of the chat source."""
        details = [chat.detail(*streams)]
        return self.owner.create_grant(decode_selection(details), "Another agent", expires_at).token

    def deliver(self, account: str, records: Iterable[Incoming]) -> Receipt:
        """Records for the chat account of that name, as an import would deliver them."""
        return self.owner.writer(chat.DECLARATION, account).deliver(records)


def build(home: Path, clock: Clock) -> World:
    """The chat world in an empty folder. Whoever builds it closes it."""
    services = open_services(home, now=clock)
    owner = Owner(services, home)
    ids = {name: _filled(owner, name) for name in (chat.WORK, chat.FAMILY)}
    everywhere = list(ids.values())
    details = [chat.detail(*({"name": name, "instance_ids": everywhere} for name in ("messages", "channels")))]
    issued = owner.create_grant(decode_selection(details), "Agent", None)
    owner_token, _ = owner.owner_token(days=30)
    return World(
        home, clock, services, owner, ids[chat.WORK], ids[chat.FAMILY], issued.token, issued.grant_id, owner_token
    )


def copied(closed: World, home: Path, clock: Clock) -> World:
    """A world with the same records, ids and tokens in a folder of its own, in a tenth of the time of building it."""
    shutil.copytree(closed.home, home)
    services = open_services(home, now=clock)
    return replace(closed, home=home, clock=clock, services=services, owner=Owner(services, home))


def close(services: Services) -> None:
    services.close()
    if isinstance(services.log, DisclosureLog):
        services.log.close()


def _filled(owner: Owner, account: str) -> str:
    writer = owner.writer(chat.DECLARATION, account)
    receipt = writer.deliver(chat.RECORDS[account])
    assert receipt.accepted == len(chat.RECORDS[account])
    writer.finish("chat.ndjson", [])
    return writer.connection_id
