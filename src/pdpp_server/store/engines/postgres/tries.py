"""Tries in PostgreSQL: one process at a time counts in a ledger of an owner."""

from collections.abc import Generator
from contextlib import contextmanager

from pdpp_server.store.engines.postgres.aside import Aside
from pdpp_server.store.tries import TableLedger

_ONE_AT_A_TIME = "select pg_advisory_xact_lock(hashtextextended('tries ' || ?, named_owner()))"


class PostgresTries:
    def __init__(self, aside: Aside) -> None:
        self._aside = aside

    @contextmanager
    def open(self, name: str) -> Generator[TableLedger, None, None]:
        with self._aside.writing() as writing:
            writing.one(_ONE_AT_A_TIME, (name,))
            yield TableLedger(writing, name)

    def close(self) -> None:
        """The connections are those of the database."""
