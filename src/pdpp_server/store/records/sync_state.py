"""How far the owner's own collectors have come: a cursor for each stream, as they gave it."""

from collections.abc import Mapping
from typing import Any

import orjson

from pdpp_server.store.engine import Writing
from pdpp_server.store.session import Session

_CURSORS = """
select stream, cursor, updated_at from sync_state where connection = ? and grant_id = ? order by stream
"""
_KEEP = """
insert into sync_state(connection, grant_id, stream, cursor, updated_at) values(?, ?, ?, ?, ?)
on conflict(connection, grant_id, stream) do update set cursor = excluded.cursor, updated_at = excluded.updated_at
"""
NO_GRANT = ""


def list_cursors(
    reader: Session, connection: int, grant_id: str | None
) -> tuple[dict[str, Mapping[str, Any]], str | None]:
    """Stream to cursor, and when the last of them was put there."""
    found = reader.rows(_CURSORS, (connection, grant_id or NO_GRANT))
    return {stream: orjson.loads(cursor) for stream, cursor, _ in found}, max((at for *_, at in found), default=None)


def keep_cursors(
    writer: Writing, connection: int, grant_id: str | None, cursors: Mapping[str, Mapping[str, Any]], now: str
) -> None:
    """Streams that are not named keep the cursor that they have."""
    named = (connection, grant_id or NO_GRANT)
    writer.run_many(_KEEP, [(*named, stream, orjson.dumps(c).decode(), now) for stream, c in cursors.items()])
