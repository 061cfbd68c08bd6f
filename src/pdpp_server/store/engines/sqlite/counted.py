"""What a reader counted of what one grant shows, kept until something in the same streams changes."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

import apsw

from pdpp_server.store.engines.sqlite.mapped import is_mapped
from pdpp_server.store.layout import GENERATION
from pdpp_server.store.records.asked import Where
from pdpp_server.store.records.reach import Reach
from pdpp_server.store.session import Session

V = TypeVar("V")

# What is kept has a size, in things of about 150 bytes: so much beside what was counted, and so much for each reach.
COUNT_SIZE, REACH_SIZE, SIDE_SIZE = 3, 5, 3

_VERSION = "select version from streams where sid = ?"
_Shown = tuple[tuple[Hashable, ...], ...]  # by grant and stream what narrows it


class _OfShown(NamedTuple, Generic[V]):
    as_of: tuple[int, ...]
    counted: dict[Hashable, V]


class Counted(Generic[V]):
    """For one connection. Whoever reads by another grant gets nothing of it, not even its time."""

    def __init__(
        self, connection: apsw.Connection, session: Session, most: int, size: Callable[[V], int] = lambda _: 0
    ) -> None:
        """Where there is no room for more, all are forgotten; what alone is larger than `most` is not kept."""
        self._connection, self._session, self._most, self._size = connection, session, most, size
        self._room = most
        self._kept: dict[_Shown, _OfShown[V]] = {}
        self._seen: int | None = None  # which state of the database these are of
        self._generation = 0
        self._versions: dict[int, int] = {}  # of streams, by their sids

    def of(self, where: Where, asked: Hashable, count: Callable[[], V]) -> V:
        """What was counted; from before, where every stream is as it was then."""
        if any(reach.rids is not None and not is_mapped(reach) for reach in where.reaches):
            return count()
        shown = tuple([(reach.scope.grant_id, reach.place.sid, *_bounds(reach)) for reach in where.reaches])
        as_of, kept = self._as_of(where), self._kept.get(shown)
        if kept is not None and kept.as_of != as_of:
            self._forget(shown)
            kept = None
        if kept is not None and asked in kept.counted:
            return kept.counted[asked]
        counted = count()
        self._keep(shown, as_of, asked, counted)
        return counted

    def grew(self, by: int) -> None:
        """Something that is kept takes so much more room."""
        self._room -= by
        if self._room < 0:
            self._forget_all()

    def _keep(self, shown: _Shown, as_of: tuple[int, ...], asked: Hashable, counted: V) -> None:
        size, of_shown = COUNT_SIZE + self._size(counted), REACH_SIZE * len(shown)
        if size + of_shown > self._most:
            return
        if size + (0 if shown in self._kept else of_shown) > self._room:
            self._forget_all()
        if shown not in self._kept:
            self._kept[shown] = _OfShown(as_of, {})
            self._room -= of_shown
        self._kept[shown].counted[asked] = counted
        self._room -= size

    def _forget(self, shown: _Shown) -> None:
        forgotten = self._kept.pop(shown).counted.values()
        self._room += REACH_SIZE * len(shown) + sum(COUNT_SIZE + self._size(counted) for counted in forgotten)

    def _forget_all(self) -> None:
        self._kept.clear()
        self._room = self._most

    def _as_of(self, where: Where) -> tuple[int, ...]:
        """Versions of streams only grow; what they do not tell of makes a new layout. They are asked for once in each
        state of the database."""
        seen = self._connection.data_version()
        if seen != self._seen:
            self._seen, self._versions = seen, {}
            self._generation = self._session.one(*GENERATION)
        return (self._generation, *[self._version(reach.place.sid) for reach in where.reaches])

    def _version(self, sid: int) -> int:
        if sid not in self._versions:
            self._versions[sid] = self._session.one(_VERSION, (sid,))
        return self._versions[sid]


class CountedOfRecords(Generic[V]):
    """The same of single records, each looked at once."""

    def __init__(self, connection: apsw.Connection, session: Session, most: int) -> None:
        self._counted = Counted[dict[int, V]](connection, session, most, lambda known: SIDE_SIZE * len(known))

    def of(
        self, reach: Reach, asked: Hashable, rids: Sequence[int], find: Callable[[Sequence[int]], Mapping[int, V]]
    ) -> dict[int, V]:
        known = self._counted.of(Where([reach], (), is_part=False), asked, dict[int, V])
        if unknown := [rid for rid in rids if rid not in known]:
            found = find(unknown)
            known.update(found)
            self._counted.grew(SIDE_SIZE * len(found))
        return {rid: known[rid] for rid in rids}


def _bounds(reach: Reach) -> Iterable[Hashable]:
    """What narrows a reach."""
    return (reach.values["map_number"],) if is_mapped(reach) else reach.values.values()
