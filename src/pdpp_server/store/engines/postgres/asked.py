"""The table of what was asked, in PostgreSQL."""

import errno
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

import orjson

from pdpp_server.errors import DatabaseUnavailable
from pdpp_server.store.asked import SealedAsk
from pdpp_server.store.engines.asked import ADD, ALL, DROP, FIND
from pdpp_server.store.engines.postgres.aside import Aside
from pdpp_server.store.session import Session


class PostgresAsked:
    def __init__(self, aside: Aside, reading: Callable[[], AbstractContextManager[Session]]) -> None:
        self._aside, self._reading = aside, reading

    def keep(self, ask: SealedAsk) -> None:
        try:
            self._aside.write((ADD, ask._asdict()))
        except DatabaseUnavailable as error:
            raise OSError(errno.EIO, error.message) from error

    def find(self, request_ids: Iterable[str]) -> list[SealedAsk]:
        with self._reading() as reading:
            rows = reading.rows(FIND, {"request_ids": orjson.dumps(list(request_ids)).decode()})
            return [SealedAsk(*row) for row in rows]

    def every(self) -> list[SealedAsk]:
        with self._reading() as reading:
            return [SealedAsk(*row) for row in reading.rows(ALL)]

    def drop(self, asks: Iterable[SealedAsk]) -> None:
        with self._aside.writing() as writing:
            writing.run_many(DROP, [{"request_id": ask[0], "operation": ask[1]} for ask in asks])

    def close(self) -> None:
        """With the database, whose connections it uses."""
