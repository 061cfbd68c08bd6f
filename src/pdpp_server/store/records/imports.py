"""Which exports were read to their end, so that the same one need not be read again."""

from pdpp_server.model.ingest import Finished
from pdpp_server.store.engine import Writing
from pdpp_server.store.session import Session

_FINISHED = """
select file, records, rejected, finished_at from imports join connections using(connection)
where connection_id = ? and fingerprint = ?
"""
_KEEP = """
insert or replace into imports(connection, fingerprint, file, records, rejected, finished_at)
select connection, ?, ?, ?, ?, ? from connections where connection_id = ?
"""
_LATEST = """
select connection_id, file, records, rejected, max(finished_at) from imports join connections using(connection)
group by connection
"""


def finished_import(reader: Session, connection_id: str, fingerprint: str) -> Finished | None:
    """How files of that fingerprint were last read to their end."""
    row = reader.one(_FINISHED, (connection_id, fingerprint))
    return None if row is None else Finished(*row)


def keep_finished(writer: Writing, connection_id: str, fingerprint: str, finished: Finished) -> None:
    writer.run(_KEEP, (fingerprint, *finished, connection_id))


def last_imports(reader: Session) -> dict[str, Finished]:
    """The latest import of each connection that has one."""
    return {connection_id: Finished(*row) for connection_id, *row in reader.rows(_LATEST)}
