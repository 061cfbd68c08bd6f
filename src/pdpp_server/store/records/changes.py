"""What changed since a bookmark, as the grant shows it: records that are new or different, tombstones of those gone."""

from collections.abc import Iterator
from heapq import merge
from itertools import chain, islice
from typing import Any, NamedTuple

import orjson

from pdpp_server.errors import CursorExpired, InvalidCursor
from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.queries import RecordsQuery
from pdpp_server.model.records import Record, RecordId, Tombstone
from pdpp_server.store.engine import Reading
from pdpp_server.store.records.fetch import require_declared
from pdpp_server.store.records.reach import Reach
from pdpp_server.store.records.scope import reaches, shows
from pdpp_server.store.records.showing import Showing, projected

CHUNK_MAX = 500

_CLOCK = "select version from clock"
# Until when nothing tells what changed: it was pruned, or went with its whole connection.
_FORGOTTEN = """
select max(until) from (
    select max(pruned) as until from streams where sid in (select cast(value as bigint) from json_each(:sids))
    union all
    select max(version) from removals where connection_id in (select value from json_each(:connections))) forgotten
"""

# `+version > 0` is always so; without it PostgreSQL may not use the index by version.
_PRESENT = """
select version, key, revised, at, emitted_at, data from records
where sid = :sid and version > :edge and version <= :horizon and +version > 0 and {narrowed}
order by version limit :chunk
"""
_PAST = """
select version, key from history
where sid = :sid and version > :edge and version <= :horizon and +version > 0 and {narrowed}
order by version limit :chunk
"""
_OF_KEYS = "key in (select value from json_each(:keys))"
# Most of what was never shown is passed over by a look at its number alone.
_IN_RANGE = "(revised <> 0 or rid >= :low and rid < :high)"
_PRESENT_IN_RANGE, _PAST_ANYWHERE = _PRESENT.format(narrowed=_IN_RANGE), _PAST.format(narrowed="true")
_PRESENT_OF_KEYS, _PAST_OF_KEYS = _PRESENT.format(narrowed=_OF_KEYS), _PAST.format(narrowed=_OF_KEYS)
_STATES = """
select version, live, at, emitted_at, deleted_at, data from history
where sid = :sid and key = :key and version <= :horizon
union all
select version, case when data is null then 0 else 1 end, at, emitted_at, deleted_at, data from records
where sid = :sid and key = :key and version <= :horizon
order by version
"""


class ChangeSpan(NamedTuple):
    """Versions by the one clock: what changed after `since` (0: ever) until `horizon`; until `after` it was shown."""

    since: int
    after: int
    horizon: int


class Change(NamedTuple):
    version: int
    entry: Record | Tombstone


class Changed(NamedTuple):
    changes: tuple[Change, ...]
    has_more: bool


class _State(NamedTuple):
    """A record from `version` on; without data although live where it was erased afterwards."""

    version: int
    live: int
    at: int | None
    emitted_at: str
    deleted_at: str | None
    data: str | None


def open_session(reading: Reading, since: int) -> ChangeSpan:
    """From that bookmark (0: the beginning) until now."""
    return ChangeSpan(since, since, reading.one(_CLOCK))


def changes(reading: Reading, permitted: Permitted[RecordsQuery], session: ChangeSpan, limit: int) -> Changed:
    """The next changes of a session, one for each record, in the order in which they could be seen.

    Raises:
        InvalidCursor: the session knows more than the store, which may have been restored from a backup.
        CursorExpired: what the records were at the bookmark, or at the horizon, is no longer kept.
    """
    reached = [reach for scope in permitted.scopes for reach in reaches(reading, scope)]
    require_declared(reading.layout, permitted)
    _require_known(reading, permitted, reached, session)
    chunk = limit // max(len(reached), 1) + 1
    walks = [_Walk(reading, reach, session, chunk).changes() for reach in reached]
    merged = walks[0] if len(walks) == 1 else merge(*walks, key=lambda change: change.version)
    found = tuple(islice(merged, limit + 1))
    return Changed(found[:limit], len(found) > limit)


def _require_known(
    reading: Reading, permitted: Permitted[RecordsQuery], reached: list[Reach], session: ChangeSpan
) -> None:
    param = "cursor" if permitted.query.cursor else "changes_since"
    if max(session) > reading.one(_CLOCK):
        raise InvalidCursor("The bookmark is newer than anything here.", param=param)
    values = {
        "sids": orjson.dumps([reach.place.sid for reach in reached]).decode(),
        "connections": orjson.dumps([name for scope in permitted.scopes for name in scope.connections]).decode(),
    }
    oldest_needed = session.since or session.horizon
    if oldest_needed < (reading.one(_FORGOTTEN, values) or 0):
        raise CursorExpired("The history since this bookmark is no longer kept.", param=param)


class _Walk:
    """The changes of one stream of one connection.

    Every version is looked at, also superseded ones: a record is told of where it came to look as it does at the
    horizon. What happened to it since then, in fields that the grant hides, moves it nowhere.
    """

    def __init__(self, reading: Reading, reach: Reach, session: ChangeSpan, chunk: int) -> None:
        self._reading, self._reach, self._session, self._chunk = reading, reach, session, chunk
        self._scope = reach.scope
        self._showing = Showing(reading, reach.scope, reach.origin, reach.place.sid)
        self._values: dict[str, Any] = {**reach.values, **session._asdict(), "sid": reach.place.sid}
        if reach.scope.resources is not None:
            self._values["keys"] = orjson.dumps(sorted(reach.scope.resources)).decode()

    def changes(self) -> Iterator[Change]:
        told, past = self._present(), self._past()
        if (first := next(past, None)) is not None:  # most streams have no past to be merged
            told = merge(told, chain([first], past), key=lambda event: event[0])
        return (Change(version, entry) for version, entry in told if entry is not None)

    def _present(self) -> Iterator[tuple[int, Record | Tombstone | None]]:
        statement = _PRESENT_IN_RANGE if self._scope.resources is None else _PRESENT_OF_KEYS
        scope, shown = self._scope, self._showing.shown
        for version, key, revised, at, emitted_at, text in self._rows(statement):
            if revised:
                yield version, self._entry(version, key)
            elif text is not None and shows(scope, key, at):
                yield version, shown(key, orjson.loads(text), emitted_at)

    def _past(self) -> Iterator[tuple[int, Record | Tombstone | None]]:
        statement = _PAST_ANYWHERE if self._scope.resources is None else _PAST_OF_KEYS
        for version, key in self._rows(statement):
            yield version, self._entry(version, key)

    def _rows(self, statement: str) -> Iterator[Any]:
        """In chunks that grow: what is eligible cannot be counted before it is compared."""
        chunk, edge = self._chunk, self._session.after
        while True:
            found = self._reading.rows(statement, {**self._values, "edge": edge, "chunk": chunk})
            yield from found
            if len(found) < chunk:
                return
            edge = found[-1][0]
            chunk = min(chunk * 2, CHUNK_MAX)

    def _entry(self, version: int, key: str) -> Record | Tombstone | None:
        """What is told of a record at this version; None where it is told elsewhere, or not at all."""
        states = [_State._make(row) for row in self._reading.rows(_STATES, {**self._values, "key": key})]
        looks = [self._look(key, state) for state in states]
        latest, seen = states[-1], looks[-1]
        first = len(looks) - 1
        while first and looks[first - 1] == seen:
            first -= 1
        told = states[first]
        if told.version != version or seen == _UNKNOWN:  # erased since: the next session tells of it
            return None
        before = None
        for state, look in zip(states, looks, strict=True):
            if state.version <= self._session.since:
                before = look
        if before == seen:
            return None
        if latest.data is not None and seen is not None:
            return self._showing.shown(key, orjson.loads(latest.data), told.emitted_at)
        origin = self._reach.origin
        name = RecordId(origin.connection_id, self._scope.stream.name, key)
        return Tombstone(name, origin, told.emitted_at, told.deleted_at or told.emitted_at)

    def _look(self, key: str, state: _State) -> bytes | None:
        """What the reader saw of a record in that state; None where it was hidden."""
        if not state.live or not shows(self._scope, key, state.at):
            return None
        return _UNKNOWN if state.data is None else projected(self._scope.fields, orjson.loads(state.data))


_UNKNOWN = b""  # the look of what was visible and is erased: no projection is empty
