"""What was tried how often, by whom: counted by every process of a server together."""

from contextlib import AbstractContextManager
from hashlib import sha256
from typing import NamedTuple, Protocol

from pdpp_server.store.session import Session


class Spent(NamedTuple):
    """What somebody has tried: how often, by the rule's own count, and since when or when last."""

    times: float
    at: float


NOTHING = Spent(0, 0)


class Ledger(Protocol):
    """Nobody else changes it meanwhile. A `kind` is what is counted, `whose` are those who are counted."""

    def get(self, kind: str, whose: str) -> Spent: ...

    def put(self, kind: str, whose: str, spent: Spent) -> None: ...

    def drop(self, kind: str, whose: str) -> None: ...

    def clear(self, kind: str) -> None: ...


class Tries(Protocol):
    """Ledgers that outlive a process, by name."""

    def open(self, name: str, /) -> AbstractContextManager[Ledger]: ...

    def close(self) -> None: ...


class WritingSession(Session, Protocol):
    def run(self, statement: str, values: tuple[object, ...] = ()) -> None: ...


_GET = "select times, at from tries where name = ? and kind = ? and whose = ?"
_PUT = """
insert into tries(name, kind, whose, times, at) values(?, ?, ?, ?, ?)
on conflict(name, kind, whose) do update set times = excluded.times, at = excluded.at
"""
_DROP = "delete from tries where name = ? and kind = ? and whose = ?"
_CLEAR = "delete from tries where name = ? and kind = ?"
_FORGET = "delete from tries where name = ? and at < ?"
FORGOTTEN_SECONDS = 86_400.0


class TableLedger:
    """In the transaction of whoever opened it. Whose tries they are is kept as a digest, for tokens are among them."""

    def __init__(self, writing: WritingSession, name: str) -> None:
        self._writing, self._name = writing, name

    def get(self, kind: str, whose: str) -> Spent:
        row = self._writing.one(_GET, (self._name, kind, _digest(whose)))
        return NOTHING if row is None else Spent(*row)

    def put(self, kind: str, whose: str, spent: Spent) -> None:
        self._writing.run(_PUT, (self._name, kind, _digest(whose), float(spent.times), float(spent.at)))
        self._writing.run(_FORGET, (self._name, spent.at - FORGOTTEN_SECONDS))

    def drop(self, kind: str, whose: str) -> None:
        self._writing.run(_DROP, (self._name, kind, _digest(whose)))

    def clear(self, kind: str) -> None:
        self._writing.run(_CLEAR, (self._name, kind))


def _digest(whose: str) -> str:
    return sha256(whose.encode("utf-8", "surrogatepass")).hexdigest()[:32]
