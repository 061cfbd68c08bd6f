"""Exports as they are read: what a newer one of a collection has lost, and how that is removed."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import orjson

from pdpp_server.model.runs import AsOf, Coverage, Covered, FoundCollection, Loss, Mark
from pdpp_server.store.engine import Writing
from pdpp_server.store.records.brought import IS_REMOVED
from pdpp_server.store.records.ingest import Desk, bury
from pdpp_server.store.session import Session

_BEGIN = """
insert into runs(connection, file, begun_at) select connection, ?, ? from connections where connection_id = ?
returning run
"""
_OPEN = """
insert into collections(connection, name, opened) select connection, :name, :opened from connections
where connection_id = :connection_id
on conflict(connection, name) do update set opened = coalesce(collections.opened, excluded.opened) returning collection
"""
_FINISH = "update runs set finished_at = ? where run = ?"
_FORGET_CHANGED = """
delete from removed
where run = :run and not exists(select 1 from removed other where other.run = :run and other.was_changed = 0)
"""
_NOTE_VERSIONS = """
update removed set version =
    (select r.version from records r where r.sid = removed.sid and r.key = removed.key)
where run = ?
"""
_STATE = "select as_of, fingerprint, opened from collections where collection = ?"
_CLOSE = "update collections set opened = null where collection = ?"
_IS_NOW = "update collections set as_of = ?, fingerprint = ? where collection = ?"
_WITHIN = "(:after is null or r.at > :after) and (:before is null or r.at < :before)"
_COUNTS = """
select collection, count(*) filter(where first <> :run), count(*), count(*) filter(where run <> :run)
from brought where sid = :sid group by collection
"""
_MISSING = f"""
from brought b cross join records r using(sid, key)
where b.sid = :sid and b.collection = :collection and b.run <> :run and r.data is not null and {_WITHIN}
"""
_SOLE = """
and not exists(select 1 from brought o where o.sid = b.sid and o.key = b.key and o.collection <> :collection)
"""
_MISSING_WITHIN = f"select 1 {_MISSING} {_SOLE} and r.at between :first and :last limit 1"
_MISSING_DATA = f"select r.data {_MISSING} {_SOLE}"
_COUNT_MISSING = f"select count(*) {_MISSING} {_SOLE}"
_ANOTHER_BROUGHT = "select 1 from brought where sid = ? and collection <> ? limit 1"
_UNSEEN_KEYS = f"select b.key {_MISSING}"
_LOST_KEYS = f"{_UNSEEN_KEYS} {_SOLE}"
_KEEP_LOST = f"""
insert into removed(run, sid, key, data, follows) select :run, b.sid, b.key, r.data, :follows {_MISSING} {_SOLE}
{IS_REMOVED}
"""
_KEEP_BLOBS = """
insert into removed_blobs(blob_id, run, sid, key, mime_type)
select blob_id, run, sid, key, mime_type from removed join blob_bindings using(sid, key)
where removed.run = :run and removed.sid = :sid on conflict do nothing
"""
_NO_LONGER = """
delete from brought where sid = :sid and collection = :collection and key in (select value from json_each(:keys))
"""
_HELD_BY_NOBODY = """
select r.key from json_each(:keys) named cross join records r on r.sid = :sid and r.key = named.value
where r.data is not null and not exists(select 1 from brought b where b.sid = r.sid and b.key = r.key)
"""
_LIVE = """
from json_each(:keys) named cross join records r on r.sid = :sid and r.key = named.value
where r.data is not null
"""
_KEEP_KEYS = f"""
insert into removed(run, sid, key, data, follows) select :run, r.sid, r.key, r.data, :follows {_LIVE} {IS_REMOVED}
"""


# A run ----------------------------------------------------------------------------------------------------------------


def begin_run(writer: Writing, connection_id: str, file: str, now: str) -> int:
    return writer.one(_BEGIN, (file, now, connection_id))


def open_collection(writer: Writing, connection_id: str, name: str, fingerprint: str | None) -> int:
    """Its number. That its reading began is noted, for as long as it has not ended."""
    named = {"connection_id": connection_id, "name": name, "opened": fingerprint or ""}
    return writer.one(_OPEN, named)


def end_run(writer: Writing, run: int, now: str) -> None:
    """What it changed is kept where it also removed something, as it can be undone then."""
    writer.run(_FINISH, (now, run))
    writer.run(_FORGET_CHANGED, {"run": run})
    writer.run(_NOTE_VERSIONS, (run,))


class RunStanding(NamedTuple):
    """How an export stands to those of the same collection before it."""

    is_first: bool
    doubt: str = ""  # why it cannot be shown to be newer, if it cannot


def standing(reader: Session, collection: int, as_of: AsOf | None, fingerprint: str | None) -> RunStanding:
    last, known, opened = reader.one(_STATE, (collection,))
    is_first = last is None and known is None
    if opened is not None and opened != (fingerprint or ""):
        return RunStanding(is_first, "another export of the same was begun and not read to its end")
    if fingerprint is not None and fingerprint == known:
        return RunStanding(is_first)
    if as_of is None or last is None:
        return RunStanding(is_first, "the files do not say when they were made")
    if as_of.at > last or (as_of.at == last and as_of.is_varied):
        return RunStanding(is_first)
    if as_of.at == last:
        return RunStanding(is_first, "nothing in it is newer than what the last export held")
    return RunStanding(is_first, "it is older than the last export")


def note_read(
    writer: Writing, collection: int, as_of: AsOf | None, fingerprint: str | None, *, is_newest: bool
) -> None:
    """An export was read to its end; `is_newest` where that is shown, or the owner says so."""
    last, _, opened = writer.one(_STATE, (collection,))
    if is_newest or opened == (fingerprint or ""):
        writer.run(_CLOSE, (collection,))
    at = as_of.at if as_of else None
    if is_newest or (at is not None and last is not None and at > last):
        writer.run(_IS_NOW, (at or last, fingerprint, collection))


# What is missing ------------------------------------------------------------------------------------------------------


def found_of(
    reader: Session,
    sids: Mapping[str, int],
    run: int,
    covered: Mapping[int, Covered],
    fingerprint: str | None,
) -> list[FoundCollection]:
    """What a run found of the collections that it covered, beside what was known of them."""
    lost = losses(reader, sids, run, covered)
    found: list[FoundCollection] = []
    for collection, told in covered.items():
        is_first, doubt = standing(reader, collection, told.as_of, fingerprint)
        mine = tuple(loss for loss in lost if loss.mark.collection == collection)
        found.append(FoundCollection(collection, told, is_first, doubt, mine))
    return found


def losses(reader: Session, sids: Mapping[str, int], run: int, covered: Mapping[int, Covered]) -> list[Loss]:
    """What the run did not find again of the collections that it covered, stream by stream."""
    found: list[Loss] = []
    for stream in dict.fromkeys(name for one_covered in covered.values() for name in one_covered.streams):
        sid = sids[stream]
        counted = {collection: counts for collection, *counts in reader.rows(_COUNTS, {"sid": sid, "run": run})}
        for collection, (streams, _) in covered.items():
            if stream not in streams or collection not in counted:
                continue
            before, now, unseen = counted[collection]
            mark, coverage = Mark(run, collection), streams[stream]
            missing = reader.one(_COUNT_MISSING, _named(sid, mark, coverage)) if unseen else 0
            looks_filtered = bool(missing) and _looks_filtered(reader, sid, mark, coverage)
            found.append(Loss(mark, stream, before, now, unseen, missing, coverage, looks_filtered))
    return found


def _looks_filtered(reader: Session, sid: int, mark: Mark, coverage: Coverage) -> bool:
    """Whether nothing that is missing has something that everything in the export has."""
    sieve = coverage.sieve
    named = _named(sid, mark, coverage)
    if sieve is None:
        return False
    if sieve.within:
        first, last = sieve.within
        return reader.one(_MISSING_WITHIN, {**named, "first": first, "last": last}) is None
    held = (orjson.loads(data).get(sieve.field, ()) for (data,) in reader.each(_MISSING_DATA, named))
    return bool(sieve.shared.difference(*held))


def is_alone(reader: Session, sid: int, collection: int) -> bool:
    """Whether everything that is known of a stream came with that collection."""
    return reader.one(_ANOTHER_BROUGHT, (sid, collection)) is None


def remove(writer: Writing, desk: Desk, loss: Loss, now: str) -> int:
    """Tombstones for what is missing and nobody else brought; its data is kept until it is too late to undo."""
    named = _named(desk.place.sid, loss.mark, loss.coverage)
    unseen = orjson.dumps([key for (key,) in writer.rows(_UNSEEN_KEYS, named)]).decode()
    keys = [key for (key,) in writer.rows(_LOST_KEYS, named)]
    writer.run(_KEEP_LOST, {**named, "follows": loss.coverage.follows})
    writer.run(_KEEP_BLOBS, {"run": loss.mark.run, "sid": desk.place.sid})
    writer.run(_NO_LONGER, {"sid": desk.place.sid, "collection": loss.mark.collection, "keys": unseen})
    bury(writer, desk, keys, now)
    return len(keys)


def remove_keys(writer: Writing, desk: Desk, mark: Mark, keys: Sequence[str], now: str, follows: str = "") -> int:
    """The same for records that a live source says are gone: those that nobody else brought get a tombstone."""
    sid = desk.place.sid
    told = orjson.dumps(list(keys)).decode()
    writer.run(_NO_LONGER, {"sid": sid, "collection": mark.collection, "keys": told})
    sole = [key for (key,) in writer.rows(_HELD_BY_NOBODY, {"sid": sid, "keys": told})]
    lost = {"run": mark.run, "sid": sid, "keys": orjson.dumps(sole).decode(), "follows": follows}
    writer.run(_KEEP_KEYS, lost)
    writer.run(_KEEP_BLOBS, {"run": mark.run, "sid": sid})
    bury(writer, desk, sole, now)
    return len(sole)


def _named(sid: int, mark: Mark, coverage: Coverage) -> dict[str, int | None]:
    within = {"after": coverage.after, "before": coverage.before}
    return {"sid": sid, "run": mark.run, "collection": mark.collection, **within}
