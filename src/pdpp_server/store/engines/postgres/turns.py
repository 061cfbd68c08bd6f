"""Turns in PostgreSQL: a lock of the owner's in the database, which processes on other machines see too."""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg

from pdpp_server.errors import Conflict
from pdpp_server.store.engines.postgres.connecting import connect
from pdpp_server.store.engines.postgres.session import asking
from pdpp_server.store.engines.postgres.troubles import refuse

_BEGIN, _END = asking("begin"), asking("rollback")
# A turn may take as long as it takes; but a machine that vanished in the middle is missed within a minute.
_NAME = """
select set_config('pdpp.owner', ?, true), set_config('statement_timeout', ?, true),
    set_config('idle_in_transaction_session_timeout', '0', true), set_config('tcp_keepalives_idle', '30', true),
    set_config('tcp_keepalives_interval', '10', true), set_config('tcp_keepalives_count', '3', true)
"""
_WAIT = "select pg_advisory_xact_lock(hashtextextended('turn ' || ?, named_owner()))"
_TRY = "select pg_try_advisory_xact_lock(hashtextextended('turn ' || ?, named_owner()))"


class PostgresTurns:
    """On a connection of its own, whose transaction writes nothing and keeps nothing from vacuum: a turn may be long,
    and what is done in it needs connections too."""

    def __init__(self, url: str, owner: int, seconds: float) -> None:
        self._url = url
        self._named = asking(_NAME, (str(owner), f"{seconds * 1000:.0f}"))

    @contextmanager
    def held(self, name: str) -> Generator[None, None, None]:
        with self._answered(_TRY, name) as is_ours:
            if not is_ours:
                raise Conflict(
                    "Another process is doing that for this owner now.", remedy="Wait for it, then try again."
                )
            yield

    @contextmanager
    def in_turn(self, name: str) -> Generator[None, None, None]:
        with self._answered(_WAIT, name):
            yield

    @contextmanager
    def _answered(self, statement: str, name: str) -> Generator[Any, None, None]:
        connection = connect(self._url)
        try:
            try:
                *_, ((answer,),) = connection.ask(_BEGIN, self._named, asking(statement, (name,)))
            except psycopg.Error as error:
                refuse(error)
            yield answer
            with suppress(psycopg.Error):  # then it has ended already
                connection.ask(_END)  # whoever tries next finds it free
        finally:
            connection.close()
