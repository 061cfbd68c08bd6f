"""What each engine says of tables in its own way."""

from typing import Any

import pytest
from apsw import InterruptError

from pdpp_server.errors import QueryTimeout
from pdpp_server.model.queries import SearchQuery
from pdpp_server.store.engines.sqlite import tables
from pdpp_server.store.engines.sqlite.session import SqliteSession
from pdpp_server.store.session import Values
from tests.worlds.chat import WORK, message
from tests.worlds.world import World


def test_what_was_said_right_before_and_after_a_match_is_found_with_it(world: World) -> None:
    said = {"m1": "Where shall we go?", "m2": "To the alpenglow hut.", "m3": "Fine with me."}
    times = [f"2026-07-01T09:0{minute}:00Z" for minute in range(len(said))]
    talk = zip(said.items(), times, strict=True)
    world.deliver(WORK, [message(key, text=text, author="Ada", sent_at=at) for (key, text), at in talk])

    page = world.reader.search(SearchQuery("alpenglow")).value

    assert {hit.id.key for hit in page.hits} == {"m1", "m2", "m3"}


HUT = SearchQuery("alpenglow")


def say(world: World, key: str, text: str, minute: int) -> None:
    world.deliver(WORK, [message(key, text=text, author="Ada", sent_at=f"2026-07-01T09:{minute:02}:00Z")])


def keys(world: World, token: str) -> set[str]:
    return {hit.id.key for hit in world.reader_of(token).search(HUT).value.hits}


def test_what_is_said_beside_a_match_later_is_found_with_it_from_then_on(world: World) -> None:
    token = world.grant(world.both("messages"))
    say(world, "m2", "To the alpenglow hut.", 2)
    assert keys(world, token) == {"m2"}

    say(world, "m3", "Fine with me.", 3)

    assert keys(world, token) == {"m2", "m3"}


@pytest.mark.sqlite("keeps what stands beside records in memory")
def test_what_stands_beside_a_match_is_looked_for_once_for_each_grant(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(world, "m1", "Where shall we go?", 1)
    say(world, "m2", "To the alpenglow hut.", 2)
    looked_for: list[Any] = []
    find = tables.SqliteTables._find_beside  # pyright: ignore[reportPrivateUsage]

    def spied(self: tables.SqliteTables, *asked: Any) -> Any:
        looked_for.append(asked)
        return find(self, *asked)

    monkeypatch.setattr(tables.SqliteTables, "_find_beside", spied)
    whole = world.grant(world.both("messages"))
    later = world.grant(world.both("messages", time_range={"since": "2026-07-01T09:02:00Z"}))

    assert [keys(world, token) for token in (whole, whole, later, later)] == [{"m1", "m2"}] * 2 + [{"m2"}] * 2
    assert len(looked_for) == 2


@pytest.mark.sqlite("keeps what stands beside records in memory")
def test_of_a_question_that_was_stopped_nothing_is_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for minute in range(3):
        say(world, f"m{minute}", "An alpenglow evening." if minute == 1 else "Fine with me.", minute)
    rows = SqliteSession.rows

    def stopped(self: SqliteSession, statement: str, values: Values = ()) -> list[Any]:
        if "from positions" in statement:
            raise InterruptError("interrupted")
        return rows(self, statement, values)

    with monkeypatch.context() as patch, pytest.raises(QueryTimeout):
        patch.setattr(SqliteSession, "rows", stopped)
        keys(world, world.token)

    assert keys(world, world.token) == {"m0", "m1", "m2"}


@pytest.mark.parametrize("change", [{"text": "To the alpenglow hut?"}, {"subject": "A trip"}], ids=["asking", "title"])
def test_what_was_told_of_a_record_is_told_anew_when_it_changes(world: World, change: dict[str, str]) -> None:
    """Whether it asks, and of which talk it is: both say what its neighbour gets of its score."""
    token = world.grant(world.both("messages"))
    scores: list[float | None] = []
    for told in ({}, {}, change, {}):
        asked = {"text": "To the alpenglow hut!", **told}
        first = message("m1", author="Ada", sent_at="2026-07-01T09:01:00Z", **asked)
        second = message("m2", text="Fine with me.", author="Tom", sent_at="2026-07-01T09:02:00Z")
        world.deliver(WORK, [first, second])
        hits = world.reader_of(token).search(HUT).value.hits
        scores.append(next((hit.score for hit in hits if hit.id.key == "m2"), None))

    assert scores[0] == scores[1] == scores[3] != scores[2]
    assert (scores[2] is None) == ("subject" in change)  # of another talk it is no neighbour any more


@pytest.mark.sqlite("keeps what was told of records in memory")
def test_what_a_field_tells_of_records_is_read_once_for_each_grant(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(world, "m1", "Where shall we go?", 1)
    say(world, "m2", "To the alpenglow hut.", 2)
    read: list[Any] = []
    field_of = tables.SqliteTables.field_of

    def spied(self: tables.SqliteTables, *asked: Any) -> dict[int, object]:
        read.append(asked)
        return field_of(self, *asked)

    monkeypatch.setattr(tables.SqliteTables, "field_of", spied)
    tokens = [world.grant(world.both("messages")) for _ in range(2)]
    for token in (tokens[0], tokens[0], tokens[1], tokens[1]):
        assert keys(world, token) == {"m1", "m2"}

    assert len(read) == 2  # titles; nothing is said after the match, so nobody looks whether it asks
