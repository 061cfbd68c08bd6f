"""What a reader counted of what one grant shows, kept until something in the same streams changes."""

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, NamedTuple, TypeVar

import apsw

from pdpp_server.store.engines.sqlite.mapped import is_mapped
from pdpp_server.store.records.asked import Where
from pdpp_server.store.records.reach import Reach
from pdpp_server.store.session import Session

V = TypeVar("V")

_VERSION = "select version from streams where sid = ?"
_GENERATION = "select generation from layout"


class _Kept(NamedTuple, Generic[V]):
    as_of: tuple[int, ...]
    counted: V


class Counted(Generic[V]):
    """For one connection. Whoever reads by another grant gets nothing of it, not even its time."""

    def __init__(
        self, connection: apsw.Connection, session: Session, most: int, size: Callable[[V], int] = lambda _: 1
    ) -> None:
        """Of more than `most`, all are forgotten; what has a size alone more than that is not kept."""
        self._connection, self._session, self._most, self._size = connection, session, most, size
        self._room = most
        self._kept: dict[Hashable, _Kept[V]] = {}
        self._seen: int | None = None  # which state of the database the versions are of
        self._versions: dict[tuple[int, ...], tuple[int, ...]] = {}  # of streams, by their sids

    def of(self, where: Where, asked: Hashable, count: Callable[[], V]) -> V:
        """What was counted; from before, where every stream is as it was then."""
        if any(reach.rids is not None and not is_mapped(reach) for reach in where.reaches):
            return count()
        shown = tuple([(reach.scope.grant_id, reach.place.sid, *_bounds(reach)) for reach in where.reaches])
        key, as_of = (shown, asked), self._as_of(where)
        kept = self._kept.get(key)
        if kept is not None and kept.as_of == as_of:
            return kept.counted
        if kept is not None:
            self._room += self._size(self._kept.pop(key).counted)
        counted = count()
        self._keep(key, _Kept(as_of, counted), self._size(counted))
        return counted

    def _keep(self, key: Hashable, counted: _Kept[V], size: int) -> None:
        if size > self._room:
            self._kept.clear()
            self._room = self._most
        if size <= self._room:
            self._kept[key] = counted
            self._room -= size

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


def _bounds(reach: Reach) -> Iterable[Hashable]:
    """What narrows a reach."""
    return (reach.values["map_number"],) if is_mapped(reach) else reach.values.values()
