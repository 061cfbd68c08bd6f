"""Live sources: what the owner said of each, and how far it has come."""

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from pdpp_server.model.live import LiveSource
from pdpp_server.store.engine import Reading, Writing
from pdpp_server.store.session import Session

_ALL = """
select name, kind, settings, state, tried_at, succeeded_at, next_at, failures, trouble, said from live_sources
order by name
"""
_ADD = "insert into live_sources(name, kind, settings, sealed) values(?, ?, ?, ?)"
_KEEP_SEALED = "update live_sources set sealed = ? where name = ?"
_SEALED = "select sealed from live_sources where name = ?"
_REMOVE = "delete from live_sources where name = ?"
_WENT_WELL = """
update live_sources set state = ?, said = ?, tried_at = ?, succeeded_at = ?, next_at = ?, failures = 0, trouble = ''
where name = ?
"""
_WENT_WRONG = """
update live_sources set tried_at = ?, next_at = ?, failures = failures + 1, trouble = ? where name = ?
"""
_DUE = "update live_sources set next_at = null where name = ? and failures = 0"
_ASKED_FOR = "update live_sources set next_at = null where name = ?"
_KEEP_STATE = "update live_sources set state = ? where name = ?"
_CURSOR = "select cursor from live_cursors where collection = ?"
_KEEP_CURSOR = """
insert into live_cursors(collection, cursor) values(?, ?) on conflict(collection) do update set cursor = excluded.cursor
"""
_NOTE_ITEM = "insert into live_items(collection, item, sid, key) values(?, ?, ?, ?) on conflict do nothing"
_ITEMS = "select distinct item from live_items where collection = ?"
_COUNT_ITEMS = "select count(distinct item) from live_items where collection = ?"
_RECORDS_OF = """
select distinct sid, key from live_items
where collection = :collection and sid > 0 and item in (select value from json_each(:items))
"""
_ONLY_OF = """
select distinct gone.key from live_items gone
where gone.collection = :collection and gone.sid = :sid and gone.item in (select value from json_each(:items))
and not exists(
  select 1 from live_items other
  where other.collection = :collection and other.sid = :sid and other.key = gone.key
  and other.item not in (select value from json_each(:items))
)
"""
_DROP_ITEMS = """
delete from live_items where collection = :collection and item in (select value from json_each(:items))
"""
_NOT_LEFT = """
select value from json_each(:keys)
where not exists(select 1 from live_items where collection = :collection and sid = :sid and key = value)
"""
_COLLECTIONS = """
select collection, name from collections join connections using(connection)
where connection_id = :connection_id and substr(name, 1, length(:beginning)) = :beginning
"""
_DATA = """
select r.key, r.data from json_each(:keys) named cross join records r on r.sid = :sid and r.key = named.value
where r.data is not null
"""
_HOLDERS = """
select b.key, coalesce(c.name, '') from brought b left join collections c using(collection)
where b.sid = ? and b.key in (select value from json_each(?))
"""


def list_live(reader: Session) -> list[LiveSource]:
    return [
        LiveSource(name, kind, orjson.loads(settings), orjson.loads(state), *rest)
        for name, kind, settings, state, *rest in reader.rows(_ALL)
    ]


def add_live(writer: Writing, name: str, kind: str, settings: Mapping[str, Any], sealed: bytes | None) -> None:
    writer.run(_ADD, (name, kind, orjson.dumps(settings).decode(), sealed))


def keep_sealed(writer: Writing, name: str, sealed: bytes | None) -> None:
    writer.run(_KEEP_SEALED, (sealed, name))


def sealed_secret(reader: Session, name: str) -> bytes | None:
    return reader.one(_SEALED, (name,))


def remove_live(writer: Writing, name: str) -> None:
    writer.run(_REMOVE, (name,))


def note_good(writer: Writing, name: str, state: Mapping[str, Any], said: str, now: str, next_at: str) -> None:
    writer.run(_WENT_WELL, (orjson.dumps(state).decode(), said, now, now, next_at, name))


def note_bad(writer: Writing, name: str, trouble: str, now: str, next_at: str) -> None:
    writer.run(_WENT_WRONG, (now, next_at, trouble, name))


def note_due(writer: Writing, name: str) -> None:
    """Unless it failed lately, and waits."""
    writer.run(_DUE, (name,))


def keep_state(writer: Writing, name: str, state: Mapping[str, Any]) -> None:
    writer.run(_KEEP_STATE, (orjson.dumps(state).decode(), name))


def note_asked_for(writer: Writing, name: str) -> None:
    writer.run(_ASKED_FOR, (name,))


# What a collection of such a source holds -----------------------------------------------------------------------------


def collections_of(reader: Session, connection_id: str, beginning: str) -> dict[str, int]:
    """Those whose name begins so, by name."""
    named = {"connection_id": connection_id, "beginning": beginning}
    return {name: collection for collection, name in reader.rows(_COLLECTIONS, named)}


def cursor_of(reader: Session, collection: int) -> dict[str, Any]:
    told = reader.one(_CURSOR, (collection,))
    return {} if told is None else orjson.loads(told)


def keep_cursor(writer: Writing, collection: int, cursor: Mapping[str, Any]) -> None:
    writer.run(_KEEP_CURSOR, (collection, orjson.dumps(cursor).decode()))


def note_items(writer: Writing, collection: int, rows: Iterable[tuple[str, int, str]]) -> None:
    """Item, sid and key of what it became; 0 and nothing where it became nothing."""
    writer.run_many(_NOTE_ITEM, [(collection, *row) for row in rows])


def items_of(reader: Session, collection: int) -> list[str]:
    return [item for (item,) in reader.rows(_ITEMS, (collection,))]


def count_items(reader: Session, collection: int) -> int:
    return reader.one(_COUNT_ITEMS, (collection,))


def records_of_items(reader: Session, collection: int, items: Iterable[str]) -> dict[int, list[str]]:
    """By sid, the keys of the records that these items became."""
    found: dict[int, list[str]] = {}
    for sid, key in reader.rows(_RECORDS_OF, {"collection": collection, "items": _json(items)}):
        found.setdefault(sid, []).append(key)
    return found


def keys_only_of(reader: Session, collection: int, sid: int, items: Iterable[str]) -> list[str]:
    """The records that these items became and no other item of the collection did."""
    named = {"collection": collection, "sid": sid, "items": _json(items)}
    return [key for (key,) in reader.rows(_ONLY_OF, named)]


def drop_items(writer: Writing, collection: int, items: Iterable[str]) -> dict[int, list[str]]:
    """Items are gone; by sid, the keys of records that no other item of the collection is."""
    items = list(items)
    became = records_of_items(writer, collection, items)
    writer.run(_DROP_ITEMS, {"collection": collection, "items": _json(items)})
    named = {"collection": collection}
    return {
        sid: [key for (key,) in writer.rows(_NOT_LEFT, {**named, "sid": sid, "keys": _json(keys)})]
        for sid, keys in became.items()
    }


def replace_items(
    writer: Writing, collection: int, items: Iterable[str], rows: Iterable[tuple[str, int, str]]
) -> dict[int, list[str]]:
    """Items became other records; by sid, the keys of those that no item of the collection is any longer."""
    items = list(items)
    before = records_of_items(writer, collection, items)
    writer.run(_DROP_ITEMS, {"collection": collection, "items": _json(items)})
    note_items(writer, collection, rows)
    named = {"collection": collection}
    return {
        sid: [key for (key,) in writer.rows(_NOT_LEFT, {**named, "sid": sid, "keys": _json(keys)})]
        for sid, keys in before.items()
    }


def stored_data(reader: Session, sid: int, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
    return {key: orjson.loads(data) for key, data in reader.rows(_DATA, {"sid": sid, "keys": _json(keys)})}


def data_with(reading: Reading, fid: int, value: str) -> list[dict[str, Any]]:
    """The records whose indexed field has that value."""
    return [orjson.loads(data) for data in reading.records.having(fid, value)]


def holders(reader: Session, sid: int, keys: Iterable[str]) -> dict[str, list[str]]:
    """The names of the collections that brought each record; other hands have none."""
    found: dict[str, list[str]] = {}
    for key, name in reader.rows(_HOLDERS, (sid, _json(keys))):
        found.setdefault(key, []).append(name)
    return found


def _json(values: Iterable[str]) -> str:
    return orjson.dumps(list(values)).decode()
