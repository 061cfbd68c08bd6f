"""Superseded versions: how many are kept for readers of changes."""

import apsw

from pdpp_server.store.rows import one

_EDGE = "select version - ? from clock"
_NOTE_PRUNED = """
update streams set pruned = dropped.until
from (select sid, max(until) until from history where until <= ? group by sid) dropped where dropped.sid = streams.sid
"""
_DROP = "delete from history where until <= ?"


def prune(writer: apsw.Connection, keep: int) -> None:
    """Forget what records were before the last `keep` changes of any stream; 0 keeps everything."""
    if keep:
        edge = one(writer, _EDGE, (keep,))
        writer.execute(_NOTE_PRUNED, (edge,))
        writer.execute(_DROP, (edge,))
