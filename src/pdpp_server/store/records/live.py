"""Live sources: what the owner said of each, and how far it has come."""

from collections.abc import Mapping
from typing import Any

import orjson

from pdpp_server.model.live import LiveSource
from pdpp_server.store.engine import Writing
from pdpp_server.store.session import Session

_ALL = """
select name, kind, settings, state, tried_at, succeeded_at, next_at, failures, trouble, said from live_sources
order by name
"""
_ADD = "insert into live_sources(name, kind, settings, sealed) values(?, ?, ?, ?)"
_SEALED = "select sealed from live_sources where name = ?"
_REMOVE = "delete from live_sources where name = ?"
_WENT_WELL = """
update live_sources set state = ?, said = ?, tried_at = ?, succeeded_at = ?, next_at = ?, failures = 0, trouble = ''
where name = ?
"""
_WENT_WRONG = """
update live_sources set tried_at = ?, next_at = ?, failures = failures + 1, trouble = ? where name = ?
"""


def list_live(reader: Session) -> list[LiveSource]:
    return [
        LiveSource(name, kind, orjson.loads(settings), orjson.loads(state), *rest)
        for name, kind, settings, state, *rest in reader.rows(_ALL)
    ]


def add_live(writer: Writing, name: str, kind: str, settings: Mapping[str, Any], sealed: bytes | None) -> None:
    writer.run(_ADD, (name, kind, orjson.dumps(settings).decode(), sealed))


def sealed_secret(reader: Session, name: str) -> bytes | None:
    return reader.one(_SEALED, (name,))


def remove_live(writer: Writing, name: str) -> None:
    writer.run(_REMOVE, (name,))


def note_good(writer: Writing, name: str, state: Mapping[str, Any], said: str, now: str, next_at: str) -> None:
    writer.run(_WENT_WELL, (orjson.dumps(state).decode(), said, now, now, next_at, name))


def note_bad(writer: Writing, name: str, trouble: str, now: str, next_at: str) -> None:
    writer.run(_WENT_WRONG, (now, next_at, trouble, name))
