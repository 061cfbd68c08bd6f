"""What a read needs, built once at start-up."""

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, Protocol, TypeVar

from pdpp_server.errors import DisclosureLogUnavailable
from pdpp_server.grants.lifecycle import ends_at, live_grants
from pdpp_server.grants.permit import permit
from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.activity import Disclosure
from pdpp_server.model.grants import Holder
from pdpp_server.model.queries import Query
from pdpp_server.model.times import iso
from pdpp_server.reads.bearers import REST_KINDS, require_kind, require_live, row_of
from pdpp_server.reads.disclosure import Disclosed, disclosure
from pdpp_server.store.db import Database, Reading
from pdpp_server.store.grants import GrantShelf, owners_grants
from pdpp_server.store.layout import Layout
from pdpp_server.store.log import DisclosureLog
from pdpp_server.wire.cursors import KEY_BYTES, Seal


@dataclass(frozen=True, slots=True)
class Call:
    """Who asks, under which request id, and which kinds of token are heard at that door."""

    bearer: str | None
    request_id: str
    kinds: frozenset[str] = REST_KINDS


STAGES = ("token", "permit", "read", "log")
Watch = Callable[[str, str, dict[str, float]], None]  # request id, operation, seconds by stage
Q = TypeVar("Q", bound=Query)


class Log(Protocol):
    def append(self, disclosure: Disclosure) -> None: ...
    def close(self) -> None: ...


@dataclass
class Services:
    database: Database
    log: Log
    keys: Path
    now: Callable[[], datetime]
    watch: Watch | None = None
    core_strict: bool = False
    change_history_limit: int = 0
    shelf: GrantShelf = field(default_factory=GrantShelf)
    known: "dict[bytes, _Known]" = field(default_factory=dict)

    @cached_property
    def seal(self) -> Seal:
        return Seal(_kept_key(self.keys / "cursors.key"))

    @cached_property
    def log_key(self) -> bytes:
        return _kept_key(self.keys / "activity.key")

    def reading(self, call: Call, operation: str) -> "Read":
        return Read(self, call, operation)

    def admit(self, call: Call) -> None:
        """The token of the call is heard at its door, and a grant of it is alive. Nothing is read with it."""
        Read(self, call, "admit").__enter__().store.__exit__(None, None, None)

    def close(self) -> None:
        self.database.close()
        self.log.close()


class _Known(NamedTuple):
    """A holder settled before: it stands while its row and the layout are the same, and until it ends."""

    row: tuple[Any, ...]
    layout: Layout
    ends: str
    holder: Holder


class Read:
    """One read, in one snapshot: who asks is settled on entering, nothing leaves before it is logged."""

    def __init__(self, services: Services, call: Call, operation: str) -> None:
        self._services, self._call, self._operation = services, call, operation
        self._now = iso(services.now())
        self._marks = [perf_counter()]  # then when each of STAGES ended

    def __enter__(self) -> "Read":
        self.store: Reading = self._services.database.reading().__enter__()
        try:
            self._holder = self._settle()
        except BaseException as error:
            self.store.__exit__(type(error), error, None)
            raise
        self._marks.append(perf_counter())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if watch := self._services.watch:
            self._marks.append(perf_counter())
            spent = (end - start for start, end in pairwise(self._marks))
            watch(self._call.request_id, self._operation, dict(zip(STAGES, spent, strict=False)))
        self.store.__exit__(kind, error, trace)

    @property
    def seal(self) -> Seal:
        return self._services.seal

    def permit(self, query: Q) -> Permitted[Q]:
        permitted = permit(self._holder, query, core_strict=self._services.core_strict)
        self._marks.append(perf_counter())
        return permitted

    def disclose(self, permitted: Permitted[Any], disclosed: Disclosed) -> None:
        """Write the line without which nothing may leave.

        Raises:
            DisclosureLogUnavailable: nothing may leave.
        """
        self._marks.append(perf_counter())
        call, services = self._call, self._services
        line = disclosure(permitted, disclosed, self._operation, call.request_id, self._now, services.log_key)
        services.log.append(line)

    def _settle(self) -> Holder:
        """Who asks. The token's row is read every time, so that a revocation counts from the next read on."""
        call, store, services = self._call, self.store, self._services
        digest, row = row_of(store, call.bearer)
        known = services.known.get(digest)
        if known and known.row == row and known.layout is store.layout and self._now < known.ends:
            require_kind(known.holder.kind, call.kinds)
            return known.holder
        return self._settle_anew(digest, row)

    def _settle_anew(self, digest: bytes, row: tuple[Any, ...]) -> Holder:
        store, services = self.store, self._services
        token, grants = require_live(store, row, self._call.kinds, self._now)
        live = live_grants(token, grants, self._now)
        shelf = services.shelf
        held = owners_grants(store) if token.kind == "owner" else [shelf.get(store, grant.grant_id) for grant in live]
        holder = Holder(token.kind, token.client_id, tuple(held), store.layout.origins, token.package_id)
        if token.package_id is None:  # the row of a package does not tell of its grants
            services.known[digest] = _Known(row, store.layout, ends_at(token, live), holder)
        return holder


def open_services(
    home: Path,
    *,
    now: Callable[[], datetime],
    log_sync: str = "normal",
    read_seconds: float = 5.0,
    change_history_limit: int = 0,
) -> Services:
    """Everything a read needs, on one home."""
    sync = "full" if log_sync == "full" else "normal"
    return Services(
        Database(home / "pdpp.sqlite", read_seconds=read_seconds),
        DisclosureLog(home / "activity", sync=sync),
        home / "keys",
        now,
        change_history_limit=change_history_limit,
    )


def _kept_key(path: Path) -> bytes:
    """The key in that file; made once, readable by the owner alone.

    Raises:
        DisclosureLogUnavailable: it cannot be kept, and without keys nothing is logged.
    """
    try:
        return _made_once(path)
    except OSError as error:
        raise DisclosureLogUnavailable(
            "The keys of this home cannot be kept, so nothing is read.",
            remedy="The owner must free disk space, or let the server write to the folder `keys` of its home.",
        ) from error


def _made_once(path: Path) -> bytes:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        draft = path.with_name(f".{secrets.token_hex(8)}.new")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
        with suppress(FileExistsError):  # another process was first: its key is the one
            path.hardlink_to(draft)
        draft.unlink()
    return path.read_bytes()
