"""Which exports were read to their end, so that the same one need not be read again."""

from pdpp_server.model.ingest import Finished
from pdpp_server.store.engine import Writing
from pdpp_server.store.session import Session

_FINISHED = """
select file, records, rejected, finished_at from imports join connections using(connection)
where connection_id = ? and fingerprint = ?
"""
_KEEP = """
insert into imports(connection, fingerprint, file, records, rejected, finished_at)
select connection, ?, ?, ?, ?, ? from connections where connection_id = ?
on conflict(connection, fingerprint) do update set file = excluded.file, records = excluded.records,
    rejected = excluded.rejected, finished_at = excluded.finished_at
"""
_FORGET = "delete from imports where connection = (select connection from runs where run = ?)"
_LATEST = """
select connection_id, file, records, rejected, finished_at from (
    select connection, file, records, rejected, finished_at,
           row_number() over(partition by connection order by finished_at desc, fingerprint) as place
    from imports) latest join connections using(connection)
where place = 1
"""


def finished_import(reader: Session, connection_id: str, fingerprint: str) -> Finished | None:
    """How files of that fingerprint were last read to their end."""
    row = reader.one(_FINISHED, (connection_id, fingerprint))
    return None if row is None else Finished(*row)


def keep_finished(writer: Writing, connection_id: str, fingerprint: str, finished: Finished) -> None:
    writer.run(_KEEP, (fingerprint, *finished, connection_id))


def forget_finished(writer: Writing, run: int) -> None:
    """An import was undone: what is brought into its connection is read again, whatever was read before."""
    writer.run(_FORGET, (run,))


def last_imports(reader: Session) -> dict[str, Finished]:
    """The latest import of each connection that has one."""
    return {connection_id: Finished(*row) for connection_id, *row in reader.rows(_LATEST)}
