"""The connection beneath a reading or a writing, for whoever counts its steps or breaks something."""

import apsw

from pdpp_server.store.engine import Session
from pdpp_server.store.engines.sqlite.session import SqliteSession


def connection_of(session: Session) -> apsw.Connection:
    assert isinstance(session, SqliteSession)
    return session.connection
