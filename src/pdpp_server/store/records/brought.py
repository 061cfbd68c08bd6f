"""Which collection brought which record: noted with every delivery, so that a later run knows what is missing."""

from collections.abc import Collection, Iterable

import orjson

from pdpp_server.model.runs import OTHER_HANDS, Mark
from pdpp_server.store.engine import Writing

_IS_NOTED = "select 1 from brought where sid = ? limit 1"
_KNOWN = "select distinct key from brought where sid = :sid and key in {keys}"
_NOTE = """
insert into brought(sid, key, collection, first, run) values(?, ?, ?, ?, ?)
on conflict(sid, key, collection) do update set run = excluded.run
"""
_BY_OTHERS = """
insert into brought(sid, key, collection, first, run)
select distinct sid, key, 0, 0, 0 from brought where sid = :sid and key in {keys} on conflict do nothing
"""
_STILL = """
update brought set run = :run
where sid = :sid and collection = :collection and key in {keys}
"""
IS_REMOVED = "on conflict(run, sid, key) do update set was_changed = 0, follows = excluded.follows"
_KEEP_REPLACED = """
insert into removed(run, sid, key, data, was_changed) select :run, r.sid, r.key, r.data, 1
from json_each(:keys) named cross join records r on r.sid = :sid and r.key = named.value
where r.data is not null on conflict(run, sid, key) do nothing
"""
_KEEP_BLOBS = """
insert into removed_blobs(blob_id, run, sid, key, mime_type)
select blob_id, :run, sid, key, mime_type from blob_bindings where sid = :sid and key in {keys} on conflict do nothing
"""
_FORGET = (
    "delete from brought where sid = :sid and key in {keys}",
    "delete from removed where sid = :sid and key in {keys}",
    "delete from removed_blobs where sid = :sid and key in {keys}",
)


def note_brought(writer: Writing, sid: int, mark: Mark | None, keys: Iterable[str], live: Collection[str]) -> None:
    """Records were delivered; `live` are those that were there before.

    What was there and nobody noted came by other hands, and so does what is delivered without a mark.
    """
    if mark is None:
        if writer.one(_IS_NOTED, (sid,)):
            writer.run(_listed(writer, _BY_OTHERS), _named(sid, keys))
        return
    known = {key for (key,) in writer.rows(_listed(writer, _KNOWN), _named(sid, live))} if live else set[str]()
    collection, run = mark.collection, mark.run
    writer.run_many(_NOTE, [(sid, key, OTHER_HANDS, 0, 0) for key in live if key not in known])
    writer.run_many(_NOTE, [(sid, key, collection, run, run) for key in sorted(keys)])


def keep_replaced(writer: Writing, sid: int, run: int, keys: Iterable[str], *, with_blobs: bool) -> None:
    """A run is about to change these records: what they are now is kept for whoever undoes it."""
    named = {**_named(sid, keys), "run": run}
    writer.run(_KEEP_REPLACED, named)
    if with_blobs:
        writer.run(_listed(writer, _KEEP_BLOBS), named)


def note_still(writer: Writing, sid: int, mark: Mark, keys: Iterable[str]) -> None:
    """Records are still in an export that does not tell them again."""
    writer.run(_listed(writer, _STILL), {**_named(sid, keys), "run": mark.run, "collection": mark.collection})


def forget_brought(writer: Writing, sid: int, keys: Iterable[str]) -> None:
    """The owner deleted records: what could bring them back goes too."""
    named = _named(sid, keys)
    for statement in _FORGET:
        writer.run(_listed(writer, statement), named)


def _listed(writer: Writing, statement: str) -> str:
    return statement.format(keys=writer.texts("keys"))


def _named(sid: int, keys: Iterable[str]) -> dict[str, int | str]:
    return {"sid": sid, "keys": orjson.dumps(list(keys)).decode()}
