"""Which collection brought which record: noted with every delivery, so that a later run knows what is missing."""

from collections.abc import Collection, Iterable

import orjson

from pdpp_server.model.runs import OTHER_HANDS, Mark
from pdpp_server.store.engine import Writing

_IS_NOTED = "select 1 from brought where sid = ? limit 1"
_KNOWN = "select distinct key from brought where sid = ? and key in (select value from json_each(?))"
_NOTE = """
insert into brought(sid, key, collection, first, run) values(?1, ?2, ?3, ?4, ?4)
on conflict do update set run = excluded.run
"""
_BY_OTHERS = """
insert or ignore into brought(sid, key, collection, first, run)
select distinct sid, key, 0, 0, 0 from brought where sid = ? and key in (select value from json_each(?))
"""
_STILL = """
update brought set run = :run
where sid = :sid and collection = :collection and key in (select value from json_each(:keys))
"""
_FORGET = (
    "delete from brought where sid = ? and key in (select value from json_each(?))",
    "delete from removed where sid = ? and key in (select value from json_each(?))",
    "delete from removed_blobs where sid = ? and key in (select value from json_each(?))",
)


def note_brought(writer: Writing, sid: int, mark: Mark | None, keys: Iterable[str], live: Collection[str]) -> None:
    """Records were delivered; `live` are those that were there before.

    What was there and nobody noted came by other hands, and so does what is delivered without a mark.
    """
    if mark is None:
        if writer.one(_IS_NOTED, (sid,)):
            writer.run(_BY_OTHERS, (sid, _json(keys)))
        return
    known = {key for (key,) in writer.rows(_KNOWN, (sid, _json(live)))} if live else set[str]()
    writer.run_many(_NOTE, [(sid, key, OTHER_HANDS, 0) for key in live if key not in known])
    writer.run_many(_NOTE, [(sid, key, mark.collection, mark.run) for key in sorted(keys)])


def note_still(writer: Writing, sid: int, mark: Mark, keys: Iterable[str]) -> None:
    """Records are still in an export that does not tell them again."""
    named = {"sid": sid, "keys": _json(keys)}
    writer.run(_STILL, {**named, "run": mark.run, "collection": mark.collection})


def forget_brought(writer: Writing, sid: int, keys: Iterable[str]) -> None:
    """The owner deleted records: what could bring them back goes too."""
    named = (sid, _json(keys))
    for statement in _FORGET:
        writer.run(statement, named)


def _json(keys: Iterable[str]) -> str:
    return orjson.dumps(list(keys)).decode()
