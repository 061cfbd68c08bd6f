"""Erasing whole streams and connections: the records, what they were before, and every index that knew them."""

import orjson

from pdpp_server.store.engine import Write, Writing
from pdpp_server.store.layout import NEW_GENERATION, ConnectionPlace, first_rid
from pdpp_server.store.records.ingest import Desk, desk_of
from pdpp_server.store.upkeep.rebuild import rebuild_words

ERASED_ONE_BY_ONE = 200

_LIVE = "select live from streams where sid = ?"
_CHUNK = "select rid, key, data from records where rid >= ? and rid < ? and data is not null order by rid limit 500"
_IS_EMPTY = """
select not exists(select 1 from records where rid >= :low and rid < :high)
    and not exists(select 1 from history where sid = :sid)
    and not exists(select 1 from blob_bindings where sid = :sid)
"""
_ERASE = """
delete from records where rid >= :low and rid < :high;
delete from history where sid = :sid;
delete from field_values where fid in (select fid from fields where sid = :sid);
delete from positions where fid in (select fid from fields where sid = :sid);
delete from days where sid = :sid;
delete from newest_changes where sid = :sid;
delete from blob_refs where rid >= :low and rid < :high;
delete from blob_bindings where sid = :sid;
delete from brought where sid = :sid;
delete from live_items where collection in (
    select collection from collections where connection = (select connection from streams where sid = :sid));
delete from live_cursors where collection in (
    select collection from collections where connection = (select connection from streams where sid = :sid));
delete from removed where sid = :sid;
delete from removed_blobs where sid = :sid;
update collections set as_of = null, fingerprint = null, opened = null
    where connection = (select connection from streams where sid = :sid);
delete from imports where connection = (select connection from streams where sid = :sid);
delete from sync_state where (connection, stream) in (select connection, name from streams where sid = :sid);
"""
_TURN_CLOCK = "update clock set version = version + 1 returning version"
_EMPTIED = "update streams set version = :version, pruned = :version, live = 0 where sid = :sid"
_NOTE_REMOVAL = """
insert into removals(connection_id, version) values(?, ?)
on conflict(connection_id) do update set version = excluded.version
"""
_REMOVE = """
delete from fields where sid in (select sid from streams where connection = :connection);
delete from streams where connection = :connection;
delete from rejections where connection = :connection;
delete from sync_state where connection = :connection;
delete from collections where connection = :connection;
delete from runs where connection = :connection;
delete from connections where connection = :connection;
delete from declarations where source_id = :source_id
    and declaration not in (select declaration from connections)
    and declaration not in (select declaration from grants);
"""


def empty_stream(write: Write, desk: Desk) -> None:
    """Bookmarks from before expire, for nothing tells what is gone; unless there was nothing."""
    writer, sid = write, desk.place.sid
    if writer.one(_IS_EMPTY, _span(sid)):
        return
    are_left = _are_words_left(writer, desk)
    _erase(writer, sid)
    writer.run(_EMPTIED, {"sid": sid, "version": writer.one(_TURN_CLOCK)})
    if are_left:
        rebuild_words(writer)
    writer.note_erasure()


def remove_connection(write: Write, connection: ConnectionPlace) -> None:
    """Everything that came by it. Grants that name it stay, and show what is left to them."""
    writer = write
    declaration = write.layouts.declaration(writer, connection.declaration)
    names = connection.declared & connection.streams.keys()
    are_left = [name for name in names if _are_words_left(writer, desk_of(declaration, connection, name))]
    for place in connection.streams.values():
        _erase(writer, place.sid)
    writer.run(_NOTE_REMOVAL, (connection.origin.connection_id, writer.one(_TURN_CLOCK)))
    writer.run(_REMOVE, {"connection": connection.number, "source_id": declaration.source.id})
    writer.run(NEW_GENERATION)
    writer.note_erasure()
    if are_left or not connection.streams.keys() <= connection.declared:
        rebuild_words(writer)  # of a stream that is no longer declared nobody knows which of its words are indexed


def _erase(writer: Writing, sid: int) -> None:
    writer.run(_ERASE, _span(sid))
    writer.meanings.drop_between(first_rid(sid), first_rid(sid + 1))


def _are_words_left(writer: Writing, desk: Desk) -> bool:
    """Of few records every word is erased here: the index holds no text, so each is shown to it once more.

    Word by word takes longer than importing, so the words of many are left to whoever makes the index anew.
    """
    if writer.one(_LIVE, (desk.place.sid,)) > ERASED_ONE_BY_ONE:
        return True
    low, high = first_rid(desk.place.sid), first_rid(desk.place.sid + 1)
    while desk.place.slots and (chunk := writer.rows(_CHUNK, (low, high))):
        found = [(rid, key, orjson.loads(data)) for rid, key, data in chunk]
        writer.index.drop_words(desk.place, desk.words(found))
        low = chunk[-1][0] + 1
    return False


def _span(sid: int) -> dict[str, int]:
    return {"sid": sid, "low": first_rid(sid), "high": first_rid(sid + 1)}
