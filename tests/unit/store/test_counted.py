"""What is kept of counts has its room, whoever asks and whatever for."""

from collections.abc import Iterator, Sequence

import pytest

from pdpp_server.grants.permitted import Scope
from pdpp_server.model.sources import Origin
from pdpp_server.store.engines.sqlite.counted import COUNT_SIZE, REACH_SIZE, SIDE_SIZE, Counted, CountedOfRecords
from pdpp_server.store.layout import StreamPlace
from pdpp_server.store.records.asked import Where
from pdpp_server.store.records.reach import Reach
from pdpp_server.store.session import Session
from tests.worlds.beneath import connection_of
from tests.worlds.chat import DECLARATION
from tests.worlds.world import World

pytestmark = pytest.mark.sqlite("keeps counts in memory, which that engine does alone")

SCOPE = Scope("g", DECLARATION.streams["messages"], ("cin",), frozenset({"id"}))
REACH = Reach(SCOPE, Origin("cin", "chat", "cin"), StreamPlace(5, {}, {}, None, {}), "whole", {"low": 1, "high": 2})


@pytest.fixture
def reading(world: World) -> Iterator[Session]:
    with world.services.database.reading() as reading:
        yield reading


def test_no_more_is_kept_than_there_is_room_for(reading: Session) -> None:
    """What has a size takes as much of the room; what alone is too large for it is not kept, and drives out nothing."""
    made: list[str] = []
    kept = Counted[str](connection_of(reading), reading, 2 * COUNT_SIZE + 4, len)

    def keep(name: str) -> str:
        return kept.of(Where([], (), is_part=False), name, lambda: made.append(name) or name)

    large = "d" * (2 * COUNT_SIZE + 2)
    for name in ("aa", "bb", "aa", "ccc", "ccc", "aa", large, large, "aa"):
        assert keep(name) == name

    assert made == ["aa", "bb", "ccc", "aa", large, large]


def test_reaches_take_room_once_for_all_that_is_counted_of_them(reading: Session) -> None:
    """Else whoever has many sources would keep their names with every word that was ever asked for."""
    made: list[str] = []
    kept = Counted[str](connection_of(reading), reading, 2 * REACH_SIZE + 2 * COUNT_SIZE)
    for name in ("one", "two", "one", "two"):
        kept.of(Where([REACH, REACH], (), is_part=False), name, lambda name=name: made.append(name) or name)

    assert made == ["one", "two"]


def test_what_is_told_of_records_is_told_anew_where_there_was_no_room_for_more(reading: Session) -> None:
    told: list[int] = []

    def tell(rids: Sequence[int]) -> dict[int, int]:
        told.extend(rids)
        return {rid: -rid for rid in rids}

    kept = CountedOfRecords[int](connection_of(reading), reading, REACH_SIZE + COUNT_SIZE + 3 * SIDE_SIZE)
    for rids in ([1, 2], [2, 3], [3, 4], [4, 1]):
        assert kept.of(REACH, "asked", rids, tell) == {rid: -rid for rid in rids}

    assert told == [1, 2, 3, 4, 4, 1]
