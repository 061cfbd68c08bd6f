"""What a reader counted of what one grant shows, kept until something in the same streams changes."""

from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

import apsw

from pdpp_server.store.records.asked import Where
from pdpp_server.store.session import Session

V = TypeVar("V")

_VERSION = "select version from streams where sid = ?"
_GENERATION = "select generation from layout"


class _Kept(NamedTuple, Generic[V]):
    as_of: tuple[int, ...]
    counted: V


class Counted(Generic[V]):
    """For one connection. Whoever reads by another grant gets nothing of it, not even its time."""

    def __init__(self, connection: apsw.Connection, session: Session, most: int) -> None:
        """Of more than `most`, all are forgotten."""
        self._connection, self._session, self._most = connection, session, most
        self._kept: dict[Hashable, _Kept[V]] = {}
        self._seen: int | None = None  # which state of the database the versions are of
        self._versions: dict[tuple[int, ...], tuple[int, ...]] = {}  # of streams, by their sids

    def of(self, where: Where, asked: Hashable, count: Callable[[], V]) -> V:
        """What was counted; from before, where every stream is as it was then."""
        if any(reach.rids is not None for reach in where.reaches):
            return count()
        shown = tuple([(reach.scope.grant_id, reach.place.sid, *reach.values.values()) for reach in where.reaches])
        key, as_of = (shown, asked), self._as_of(where)
        kept = self._kept.get(key)
        if kept is not None and kept.as_of == as_of:
            return kept.counted
        if len(self._kept) >= self._most:
            self._kept.clear()
        counted = count()
        self._kept[key] = _Kept(as_of, counted)
        return counted

    def _as_of(self, where: Where) -> tuple[int, ...]:
        """Versions of streams only grow, and a declaration that changes what is indexed makes a new layout. They are
        asked for once in each state of the database."""
        seen = self._connection.data_version()
        if seen != self._seen:
            self._seen, self._versions = seen, {}
        sids = tuple([reach.place.sid for reach in where.reaches])
        if sids not in self._versions:
            versions = [self._session.one(_VERSION, (sid,)) for sid in sids]
            self._versions[sids] = (self._session.one(_GENERATION), *versions)
        return self._versions[sids]
