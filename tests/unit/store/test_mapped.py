"""What a filter leaves is kept as a map for a grant, and finds what a look at every record finds."""

from typing import Any

import pytest

from pdpp_server.model.queries import Condition, SearchQuery
from pdpp_server.store.engines.sqlite import mapped
from pdpp_server.store.records import filters
from tests.requirements import requirement
from tests.worlds.chat import WORK, deletion, message
from tests.worlds.world import World

pytestmark = pytest.mark.sqlite("keeps what a filter leaves, which that engine does alone")

MIA = (Condition("author", "eq", "Mia"),)


@pytest.fixture(autouse=True)
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """As few as there are here would be looked up one by one."""
    monkeypatch.setattr(filters, "FEW_OF_A_FILTER", 0)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Each time that somebody looks for what passes a filter."""
    heard: list[Any] = []
    passing = filters.passing_rids

    def spied(*asked: Any) -> list[int]:
        heard.append(asked)
        return passing(*asked)

    monkeypatch.setattr(filters, "passing_rids", spied)
    return heard


def say(world: World, *keys: str, author: str = "Mia", text: str = "a meeting", day: int = 1) -> None:
    sent = [message(key, text=text, author=author, sent_at=f"2026-07-{day:02}T12:00:00Z") for key in keys]
    world.deliver(WORK, sent)


def found(world: World, token: str, words: str = "meeting") -> set[str]:
    page = world.reader_of(token).search(SearchQuery(words, ("messages",), limit=50, conditions=MIA)).value
    return {hit.id.key for hit in page.hits}


@requirement("store.search.filters-by-index")
def test_what_a_filter_leaves_is_found_once_for_a_grant_until_the_stream_changes(world: World, read: list[Any]) -> None:
    say(world, "m1", "m2")
    say(world, "t1", author="Tom")
    token = world.grant(world.both("messages"))

    assert [found(world, token), found(world, token), found(world, token, "meeting walrus")] == [{"m1", "m2"}] * 3
    streams = len(read)
    say(world, "m3")
    assert found(world, token) == {"m1", "m2", "m3"}
    say(world, "m3", author="Tom")
    assert found(world, token) == {"m1", "m2"}
    world.deliver(WORK, [deletion("m1")])
    assert found(world, token) == {"m2"}

    assert streams == 2  # one of each connection
    assert len(read) == streams + 3  # only the stream that changed


@requirement("store.search.filters-by-index")
def test_what_a_filter_leaves_of_one_grant_is_nothing_to_another(world: World) -> None:
    say(world, "m1", day=1)
    say(world, "m2", day=2)
    whole = world.grant(world.both("messages"))
    later = world.grant(world.both("messages", time_range={"since": "2026-07-02T00:00:00Z"}))

    assert [found(world, token) for token in (whole, later, whole, later)] == [{"m1", "m2"}, {"m2"}] * 2


@requirement("store.search.filters-by-index")
def test_what_a_map_lets_through_is_looked_up(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped, "_ROOM", 0)  # then every record falls on the same byte
    say(world, "m1", day=1)
    say(world, "t1", day=2, author="Tom")
    say(world, "m2", day=3)

    assert found(world, world.grant(world.both("messages"))) == {"m1", "m2"}


@requirement("store.search.filters-by-index")
def test_what_a_filter_by_a_long_value_leaves_is_found_each_time(world: World, read: list[Any]) -> None:
    """Thousands of such values would be most of what is kept."""
    author = "Mia " * 50
    say(world, "m1", "m2", author=author)
    asked = SearchQuery("meeting", ("messages",), conditions=(Condition("author", "eq", author),))

    pages = [world.reader.search(asked).value for _ in range(2)]

    assert [{hit.id.key for hit in page.hits} for page in pages] == [{"m1", "m2"}] * 2
    assert len(read) == 2 * 2  # streams
