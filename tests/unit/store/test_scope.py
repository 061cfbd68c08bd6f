"""The WHERE of a scope and the look at one record decide alike, at every edge."""

from collections.abc import Iterator
from typing import Any

import pytest

from pdpp_server.grants.permitted import Scope
from pdpp_server.model.times import DAY_MICROS, instant
from pdpp_server.store.layout import day_of
from pdpp_server.store.records.scope import reaches, shows
from tests.requirements import requirement
from tests.worlds.chat import DECLARATION, WORK, message
from tests.worlds.world import World

DAY = "2026-07-02"
TIMES = {
    "before": "2026-07-01T23:59:59.999999Z",
    "start": f"{DAY}T00:00:00Z",
    "inside": f"{DAY}T12:00:00+02:00",
    "last": f"{DAY}T23:59:59.999999Z",
    "after": "2026-07-03T00:00:00Z",
    "day": DAY,
    "old": "1700-01-01T00:00:00Z",
    "older": "0001-01-01T00:00:00Z",
    "far": "9999-12-31T23:59:59Z",
    "farther": "2400-01-01T00:00:00Z",
    "none": None,
    "unreadable": "one day",
}
BOUNDS = [None, "0001-01-01", "1700-01-01", "1750-01-01", "2026-07-02", "2026-07-02T10:00:00Z", "2026-07-03",
          "2100-01-01", "2400-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]  # fmt: skip


@pytest.fixture
def dated(world: World) -> Iterator[World]:
    records = [message(key, sent_at=time) if time else message(key) for key, time in TIMES.items()]
    assert world.deliver(WORK, records).accepted == len(TIMES)
    yield world


def chosen(world: World, scope: Scope) -> set[str]:
    """The keys that the WHERE lets through."""
    with world.services.database.reading() as reading:
        (reach,) = reaches(reading, scope)
        where = reading.records.narrowing(reach, "records.rid")
        asked = f"select key from records where {where} and data is not null"
        return {row[0] for row in reading.rows(asked, reach.values)}


def rows(world: World) -> dict[str, int | None]:
    with world.services.database.reading() as reading:
        place = reading.layout.place(world.work, "messages")
        assert place
        found: list[Any] = reading.rows("select key, at from records where sid = ?", (place.sid,))
        return dict(found)


@requirement("grants.permit.time")
def test_both_ways_of_narrowing_agree_at_every_edge(dated: World) -> None:
    scope = Scope("g", DECLARATION.streams["messages"], (dated.work,), frozenset({"id"}))
    stored = rows(dated)

    for since in BOUNDS:
        for until in BOUNDS:
            bounded = scope._replace(since=instant(since), until=instant(until))
            wanted = {key for key, at in stored.items() if shows(bounded, key, at)}
            assert chosen(dated, bounded) == wanted, (since, until)


@requirement("grants.permit.time")
def test_since_is_inside_until_is_not_and_no_time_is_hidden(dated: World) -> None:
    scope = Scope(
        "g", DECLARATION.streams["messages"], (dated.work,), frozenset({"id"}), instant(DAY), instant("2026-07-03")
    )

    assert chosen(dated, scope) == {"start", "inside", "last", "day"}


@requirement("grants.permit.resources")
def test_named_records_are_all_that_is_shown_within_the_time(dated: World) -> None:
    named = Scope(
        "g",
        DECLARATION.streams["messages"],
        (dated.work,),
        frozenset({"id"}),
        resources=frozenset({"old", "day", "gone"}),
    )

    assert chosen(dated, named) == {"old", "day"}
    assert chosen(dated, named._replace(since=instant("2000-01-01"))) == {"day"}
    assert chosen(dated, named._replace(resources=frozenset())) == set()


@requirement("grants.permit.connections")
def test_a_connection_that_is_gone_gives_no_reach(world: World) -> None:
    scope = Scope("g", DECLARATION.streams["messages"], ("cin_gone", world.family), frozenset({"id"}))

    with world.services.database.reading() as reading:
        assert [reach.origin.connection_id for reach in reaches(reading, scope)] == [world.family]


@pytest.mark.parametrize("time", ["0001-01-01", "1799-12-31", "1800-01-01", "1970-01-01", "2158-11-10", "9999-12-31"])
def test_a_day_number_is_never_before_that_of_an_earlier_time(time: str) -> None:
    at = instant(time)
    assert at is not None

    assert day_of(None) == 0 <= day_of(at - DAY_MICROS) <= day_of(at) <= day_of(at + DAY_MICROS) < 1 << 17
