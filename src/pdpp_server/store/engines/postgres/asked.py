"""The table of what was asked, in PostgreSQL."""

import errno
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

import orjson
import psycopg

from pdpp_server.store.asked import SealedAsk
from pdpp_server.store.engines.postgres.aside import Aside
from pdpp_server.store.session import Session

_ADD = """
insert into asked(request_id, operation, month, sealed) values(:request_id, :operation, :month, :sealed)
on conflict do nothing
"""
_FIND = """
select request_id, operation, month, sealed from asked where request_id in (select value from json_each(:request_ids))
"""
_ALL = "select request_id, operation, month, sealed from asked"
_DROP = "delete from asked where request_id = :request_id and operation = :operation"


class PostgresAsked:
    def __init__(self, aside: Aside, reading: Callable[[], AbstractContextManager[Session]]) -> None:
        self._aside, self._reading = aside, reading

    def keep(self, ask: SealedAsk) -> None:
        try:
            with self._aside.writing() as writing:
                writing.run(_ADD, ask._asdict())
        except psycopg.Error as error:
            raise OSError(errno.EIO, str(error)) from error

    def find(self, request_ids: Iterable[str]) -> list[SealedAsk]:
        with self._reading() as reading:
            rows = reading.rows(_FIND, {"request_ids": orjson.dumps(list(request_ids)).decode()})
            return [SealedAsk(*row) for row in rows]

    def every(self) -> list[SealedAsk]:
        with self._reading() as reading:
            return [SealedAsk(*row) for row in reading.rows(_ALL)]

    def drop(self, asks: Iterable[SealedAsk]) -> None:
        with self._aside.writing() as writing:
            writing.run_many(_DROP, [{"request_id": ask[0], "operation": ask[1]} for ask in asks])

    def close(self) -> None:
        self._aside.close()
