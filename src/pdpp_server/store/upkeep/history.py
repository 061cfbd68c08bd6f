"""Superseded versions: how many are kept for readers of changes, and when each came."""

from pdpp_server.model.records import Version
from pdpp_server.store.engine import Writing
from pdpp_server.store.session import Session

_EDGE = "select version - ? from clock"
_NOTE_PRUNED = """
update streams set pruned = dropped.until
from (select sid, max(until) as until from history where until <= ? group by sid) dropped
where dropped.sid = streams.sid
"""
_DROP = "delete from history where until <= ?"
_VERSIONS = """
select emitted_at, deleted_at from (
    select version, emitted_at, deleted_at from records where sid = :sid and key = :key
    union all select version, emitted_at, deleted_at from history where sid = :sid and key = :key) versions
order by version desc
"""


def prune(writer: Writing, keep: int) -> None:
    """Forget what records were before the last `keep` changes of any stream; 0 keeps everything."""
    if keep:
        edge = writer.one(_EDGE, (keep,))
        writer.run(_NOTE_PRUNED, (edge,))
        writer.run(_DROP, (edge,))


def versions(reader: Session, sid: int, key: str) -> list[Version]:
    """Newest first."""
    return [Version(*row) for row in reader.rows(_VERSIONS, {"sid": sid, "key": key})]
