"""Things as they were before a run: what it removed is back, what it changed is as before, what it added is gone.

A thing is a record with those that follow from it: an event with its times, a note with its links.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import orjson

from pdpp_server.model.ingest import Incoming, Receipt
from pdpp_server.model.runs import OTHER_HANDS, Mark, Restored, Run
from pdpp_server.model.streams import Stream
from pdpp_server.store.engine import Writing
from pdpp_server.store.records.imports import forget_finished
from pdpp_server.store.records.ingest import Desk, bury, deliver, put_back
from pdpp_server.store.session import Session

_RUN = """
select run, connection_id, file, coalesce(finished_at, begun_at),
    (select count(*) from removed where removed.run = runs.run and was_changed = 0)
from runs join connections using(connection) where run = ?
"""
_LATELY = """
select run, connection_id, file, coalesce(finished_at, begun_at), count(*) from removed
join runs using(run) join connections using(connection) where was_changed = 0
group by run, connection_id, file, finished_at, begun_at order by run desc
"""
# A later run has it, or an account that is followed does: that tells how it is now.
_IS_HELD = """
(exists(select 1 from brought b where b.sid = x.sid and b.key = x.key and b.run > :run)
or exists(
    select 1 from runs join collections c using(connection)
    join live_items i on i.collection = c.collection and i.sid = x.sid and i.key = x.key where runs.run = :run
))
"""
_OF_RUN = """
from removed x join streams s on s.sid = x.sid left join records r on r.sid = x.sid and r.key = x.key
where x.run = :run order by x.sid, x.key
"""
_KEPT = f"""
select s.name, x.key, x.data, x.was_changed, x.follows, coalesce(r.data is not null, false),
    coalesce(x.version <> r.version, x.was_changed = 1) or {_IS_HELD} {_OF_RUN}
"""
_FIRST_BROUGHT = """
from brought x join records r on r.sid = x.sid and r.key = x.key
where x.sid = :sid and x.first = :run and r.data is not null
and not exists(select 1 from brought o where o.sid = x.sid and o.key = x.key and o.first < :run)
"""
_ADDED = f"select x.key, {_IS_HELD} {_FIRST_BROUGHT}"
_LIVE = "from records x where x.sid = :sid and x.key = :key and x.data is not null"
_IS_AS_BEFORE = f"select 1 {_LIVE} and not {_IS_HELD}"
_BIND_AGAIN = """
insert into blob_bindings(blob_id, sid, key, mime_type)
select blob_id, sid, key, mime_type from removed_blobs where run = ? and sid = ? and key = ? on conflict do nothing
"""
_BROUGHT_WITH = """
insert into brought(sid, key, collection, first, run)
select ?, ?, collection, first, run from brought where sid = ? and key = ? on conflict do nothing
"""
_NO_LONGER = "delete from brought where sid = ? and key = ?"
_UNDONE = "update runs set undone_at = ? where run = ?"
_FORGET_RUN = ("delete from removed where run = :run", "delete from removed_blobs where run = :run")
_TOO_LATE = "select distinct run from removed join runs using(run) where runs.begun_at < ?"

_Named = tuple[str, str]  # stream and key of a record


class _Kept(NamedTuple):
    """A record as it was before the run, and what became of it."""

    stream: str
    key: str
    data: str
    was_changed: int  # and not removed
    follows: str
    is_there: int
    is_touched: int  # since the run

    @property
    def name(self) -> _Named:
        return self.stream, self.key

    @property
    def incoming(self) -> Incoming:
        return Incoming(self.key, self.stream, None, orjson.loads(self.data), None)


def find_run(reader: Session, run: int) -> Run | None:
    row = reader.one(_RUN, (run,))
    return None if row is None else Run(*row)


def removing_runs(reader: Session) -> list[Run]:
    """Those that can be undone, the newest first."""
    return [Run(*row) for row in reader.rows(_LATELY)]


def undo(writer: Writing, desks: Mapping[str, Desk], run: int, now: str) -> Restored:
    """Things as they were before the run, but for those of which something newer was told since.

    What it had removed is the owner's own from now on: no later run removes it again.
    """
    every = [_Kept(*row) for row in writer.rows(_KEPT, {"run": run})]
    kept = [one for one in every if one.stream in desks]
    undoing = _Undoing(writer, desks, run, now)
    removed = [one for one in kept if not one.was_changed]
    changed = [one for one in kept if one.was_changed]
    back = [one for one in changed if one.is_there and not one.is_touched]
    told = Restored(
        there_again=sum(bool(one.is_there) for one in removed),
        left=len(changed) - len(back),
        unfit=len(every) - len(kept),
    )
    told = undoing.withdraw(told)
    told = undoing.change_back(back, told)
    told = undoing.restore(
        [one for one in removed if not one.is_there], {one.name for one in changed} - _names(back), told
    )
    forget_runs(writer, [run])
    forget_finished(writer, run)
    writer.run(_UNDONE, (now, run))
    return told


class _Undoing(NamedTuple):
    writer: Writing
    desks: Mapping[str, Desk]
    run: int
    now: str

    def withdraw(self, told: Restored) -> Restored:
        """What nobody had before the run goes."""
        for desk in self.desks.values():
            sid = desk.place.sid
            added = list(self.writer.rows(_ADDED, {"sid": sid, "run": self.run}))
            going = [key for key, is_held in added if not is_held]
            bury(self.writer, desk, going, self.now)
            self.writer.run_many(_NO_LONGER, [(sid, key) for key in going])
            told = told._replace(withdrawn=told.withdrawn + len(going), left=told.left + len(added) - len(going))
        return told

    def change_back(self, records: Iterable[_Kept], told: Restored) -> Restored:
        receipt = Receipt()
        for desk, batch in self._bound(records):
            receipt += put_back(self.writer, desk, batch, self.now)
        return told._replace(
            changed_back=told.changed_back + receipt.accepted, unfit=told.unfit + len(receipt.rejected)
        )

    def restore(self, gone: list[_Kept], changed_since: set[_Named], told: Restored) -> Restored:
        """What was removed; of a thing that is there, only where the thing itself is as it was."""
        own = {one.name: one for one in gone if not one.follows}
        beside: list[tuple[_Kept, _Named]] = []
        for one in gone:
            followed = _followed(self.desks[one.stream].stream, one) if one.follows else None
            if followed is None or followed in own:
                own[one.name] = one
            elif followed not in changed_since and self._is_as_before(followed):
                beside.append((one, followed))
        receipt = Receipt()
        for desk, batch in self._bound(own.values()):
            receipt += deliver(self.writer, desk, batch, self.now, Mark(0, OTHER_HANDS))
        for desk, batch in self._bound(one for one, _ in beside):
            receipt += put_back(self.writer, desk, batch, self.now)
        for one, (stream, key) in beside:
            sid, other = self.desks[one.stream].place.sid, self.desks[stream].place.sid
            self.writer.run(_BROUGHT_WITH, (sid, one.key, other, key))
        return told._replace(
            restored=receipt.accepted,
            left=told.left + len(gone) - len(own) - len(beside),
            unfit=told.unfit + len(receipt.rejected),
        )

    def _is_as_before(self, named: _Named) -> bool:
        stream, key = named
        if stream not in self.desks:
            return False
        sid = self.desks[stream].place.sid
        return self.writer.one(_IS_AS_BEFORE, {"sid": sid, "key": key, "run": self.run}) is not None

    def _bound(self, records: Iterable[_Kept]) -> Iterable[tuple[Desk, list[Incoming]]]:
        """By stream, with the blobs that they had."""
        by_stream: dict[str, list[_Kept]] = {}
        for one in records:
            by_stream.setdefault(one.stream, []).append(one)
        for stream, found in by_stream.items():
            desk = self.desks[stream]
            if desk.stream.blob_fields:
                self.writer.run_many(_BIND_AGAIN, [(self.run, desk.place.sid, one.key) for one in found])
            yield desk, [one.incoming for one in found]


def _names(records: Iterable[_Kept]) -> set[_Named]:
    return {one.name for one in records}


def _followed(stream: Stream, one: _Kept) -> _Named | None:
    """The record from which that one follows, where it names one."""
    towards = (
        there for there in stream.relationships if there.stream == one.follows and there.cardinality == "has_one"
    )
    relation = next(towards, None)
    key = orjson.loads(one.data).get(relation.foreign_key) if relation else None
    return (one.follows, key) if isinstance(key, str) else None


def forget_removed(writer: Writing, before: str) -> None:
    """What was removed by runs that began before then is gone for good."""
    late = [run for (run,) in writer.rows(_TOO_LATE, (before,))]
    if late:
        forget_runs(writer, late)
        writer.note_erasure()


def forget_runs(writer: Writing, runs: Iterable[int]) -> None:
    for statement in _FORGET_RUN:
        writer.run_many(statement, [{"run": run} for run in runs])
