"""The newest change as a reader sees it, whatever else happens; and the day of the last complete picture."""

from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import apsw
import pytest

from pdpp_server.grants.permitted import Scope
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.model.queries import SchemaQuery, SearchQuery
from pdpp_server.model.times import instant
from pdpp_server.store.engines import tables
from pdpp_server.store.engines.sqlite.migrations import migration_files
from pdpp_server.store.layout import MAX_DAY, day_of
from pdpp_server.store.records.freshness import newest_change, stretches, whole_days
from pdpp_server.store.records.noted import EVER, SHIFTS
from pdpp_server.store.records.scope import reaches
from tests.requirements import requirement
from tests.worlds.beneath import connection_of
from tests.worlds.chat import DECLARATION, EMITTED_AT, FAMILY, WORK
from tests.worlds.world import World

MESSAGES = DECLARATION.streams["messages"]
SHOWN = frozenset({"id", "text", "sent_at"})
MARCH: dict[str, Any] = {"since": instant("2026-03-01T00:00:00Z"), "until": instant("2026-04-01T00:00:00Z")}
AFTERNOON: dict[str, Any] = {"since": instant("2026-03-01T12:00:00Z"), "until": instant("2026-03-03T12:00:00Z")}
NEVER = datetime(2027, 1, 1, tzinfo=UTC)


def at(hour: int) -> str:
    return f"2026-11-20T{hour:02}:00:00.000Z"


def told(id: str, emitted_at: str, **data: Any) -> Incoming:
    return Incoming("test", "messages", None, {"id": id, **data}, emitted_at)


def gone(id: str, emitted_at: str) -> Incoming:
    return Incoming("test", "messages", id, None, emitted_at)


def seen(world: World, fields: frozenset[str] = SHOWN, connection: str = "", **narrowing: Any) -> str | None:
    scope = Scope("grt", MESSAGES, (connection or world.work,), fields, granted=fields, **narrowing)
    with world.services.database.reading() as reading:
        (reach,) = reaches(reading, scope)
        return newest_change(reading, reach)


@requirement("grants.freshness.visible")
def test_a_reader_is_told_of_the_newest_change_that_it_can_see(world: World) -> None:
    world.deliver(WORK, [told("m1", at(1), text="a", sent_at="2026-03-01T09:00:00Z")])
    world.deliver(WORK, [told("m1", at(2), text="a", sent_at="2026-03-01T09:00:00Z", likes=9)])
    world.deliver(FAMILY, [told("m9", at(3), text="a", sent_at="2026-03-01T09:00:00Z")])

    assert seen(world) == at(1)
    assert seen(world, SHOWN | {"likes"}) == at(2)
    assert seen(world, connection=world.family) == at(3)


@requirement("grants.freshness.visible")
def test_a_deletion_is_a_change_and_where_nothing_is_visible_there_is_none(world: World) -> None:
    world.deliver(FAMILY, [gone("m1", at(1))])
    assert seen(world, connection=world.family) == at(1)

    world.deliver(FAMILY, [gone("m2", at(2))])
    assert seen(world, connection=world.family) is None
    assert seen(world, connection=world.family, **MARCH) is None

    world.deliver(FAMILY, [told("m2", at(3), sent_at="2026-03-05T09:00:00Z")])
    assert seen(world, connection=world.family) == seen(world, connection=world.family, **MARCH) == at(3)


@requirement("grants.freshness.visible")
def test_what_lies_outside_the_time_of_a_grant_does_not_count(world: World) -> None:
    world.deliver(WORK, [told("m3", at(1), text="new", sent_at="2026-04-01T00:00:00Z")])
    assert seen(world, **MARCH) == EMITTED_AT

    world.deliver(WORK, [told("m3", at(2), text="new", sent_at="2026-03-31T00:00:00Z")])  # it comes in
    assert seen(world, **MARCH) == at(2)

    world.deliver(WORK, [told("m3", at(3), text="new", sent_at="2026-03-31T00:00:00Z", likes=1)])  # a hidden field
    assert seen(world, **MARCH) == at(2)

    world.deliver(WORK, [told("m3", at(4), text="new", sent_at="2026-05-01T00:00:00Z")])  # it goes out
    assert seen(world, **MARCH) == at(4)


@requirement("grants.freshness.visible")
def test_days_that_the_time_of_a_grant_cuts_do_not_count(world: World) -> None:
    world.deliver(WORK, [told("m1", at(1), sent_at="2026-03-01T13:00:00Z")])
    world.deliver(WORK, [told("m9", at(2), sent_at="2026-03-03T11:00:00Z")])

    assert seen(world, **AFTERNOON) == EMITTED_AT  # that of m2, on the second of March

    assert seen(world, since=instant("2026-03-01T12:00:00Z"), until=instant("2026-03-01T18:00:00Z")) is None


@requirement("grants.freshness.visible")
def test_where_the_time_itself_is_hidden_nobody_is_told_when_what_it_bounds_has_changed(world: World) -> None:
    assert seen(world, SHOWN - {"sent_at"}, **MARCH) is None
    assert seen(world, SHOWN - {"sent_at"}) == EMITTED_AT


@requirement("grants.freshness.visible")
def test_of_named_records_only_those_count(world: World) -> None:
    world.deliver(WORK, [told("m1", at(1), text="a", sent_at="2026-03-01T09:00:00Z")])
    world.deliver(WORK, [told("m2", at(2), text="b", sent_at="2026-03-02T09:00:00Z")])
    world.deliver(WORK, [told("m1", at(3), text="a", sent_at="2026-03-01T09:00:00Z", likes=9)])

    assert seen(world, resources=frozenset({"m1", "m3"})) == at(1)
    assert seen(world, resources=frozenset({"m1", "m2"})) == at(2)
    assert seen(world, resources=frozenset({"m3", "nobody"})) == EMITTED_AT
    assert seen(world, resources=frozenset({"nobody"})) is None
    assert seen(world, resources=frozenset({"m1", "m4"}), **MARCH) == at(1)


@requirement("grants.freshness.visible")
def test_every_time_of_freshness_in_an_answer_is_that_of_the_newest_visible_change(world: World) -> None:
    world.clock.moment = NEVER
    world.deliver(WORK, [told("m4", at(1), text="the lease", sent_at="2026-05-01T00:00:00Z")])
    token = world.grant({"name": "messages", "instance_ids": [world.work], "fields": ["id", "text", "sent_at"]})
    world.deliver(WORK, [told("m4", at(2), text="the lease", sent_at="2026-05-01T00:00:00Z", author="somebody")])
    world.deliver(FAMILY, [told("m8", at(3), text="the lease")])
    world.owner.writer(DECLARATION, WORK).finish("later.ndjson", [])
    reader = world.reader_of(token)

    (entry,) = reader.schema(SchemaQuery()).value.entries
    assert [holding.changed_at for holding in entry.holdings] == [at(1)]
    assert reader.search(SearchQuery("lease")).value.as_of == at(1)


@requirement("grants.freshness.day")
def test_the_day_is_that_of_the_last_run_that_was_a_complete_picture(world: World) -> None:
    def days() -> list[str | None]:
        entries = world.reader.schema(SchemaQuery(connection_id=world.work)).value.entries
        return [holding.refreshed_on for entry in entries for holding in entry.holdings]

    writer = world.owner.writer(DECLARATION, WORK)
    assert days() == [None, None]

    world.clock.moment = datetime(2026, 12, 1, 23, 59, tzinfo=UTC)
    writer.finish_import(["all"], [], complete=["messages"])  # it found nothing new
    assert days() == [None, "2026-12-01"]

    world.clock.moment = datetime(2026, 12, 5, tzinfo=UTC)
    world.deliver(WORK, [told("m1", at(1), text="pushed")])
    writer.finish("a part", [])
    writer.finish_import(["all"], [Rejection("all:1", "invalid_record", "no record")], complete=["messages"])
    assert days() == [None, "2026-12-01"]

    writer.finish_import(["all"], [], complete=["messages", "channels"])
    assert days() == ["2026-12-05", "2026-12-05"]


# What it costs ------------------------------------------------------------------------------------------------------


@pytest.mark.sqlite("reads the plans of SQLite")
@pytest.mark.parametrize("statement", [tables._NEWEST, tables._NAMED, tables._HAS_DAYS, tables._LIVE])
def test_no_look_for_the_newest_change_walks_a_table_or_a_stream(world: World, statement: str) -> None:
    kinds = "(select value from json_each(:kinds))"
    named = {"sid": 1, "kinds": "[]", "keys": "[]", "shift": 0, "first": 0, "end": 1}
    values = named if ":sid" in statement else (1, "[]", 0)[: statement.count("?")]

    with world.services.database.reading() as reading:
        plan = [str(row[-1]) for row in reading.rows("explain query plan " + statement.format(kinds=kinds), values)]

    assert not any(step.startswith("SCAN") and "VIRTUAL TABLE" not in step for step in plan), plan  # a given list
    assert not any(step.endswith("(sid=?)") for step in plan), plan


def test_any_stretch_of_days_is_few_places() -> None:
    random = Random(4)
    for _ in range(500):
        first, end = sorted(random.randrange(MAX_DAY + 2) for _ in range(2))
        places = list(stretches(first, end))
        days = sum(max(high - low, 0) << shift for shift, low, high in places)
        inside = all(first <= low << shift and high << shift <= end for shift, low, high in places if low < high)
        assert (days, inside) == (end - first, True)
        assert sum(max(high - low, 0) for _, low, high in places) <= 2 * 63 + 2 * 63 + 32


def test_days_are_whole_where_the_bounds_leave_nothing_of_them_out() -> None:
    midnight, noon = instant("2026-03-01T00:00:00Z"), instant("2026-03-01T12:00:00Z")
    day = day_of(midnight)

    def days(**bounds: Any) -> tuple[int, int]:
        return whole_days(Scope("grt", MESSAGES, (), SHOWN, **bounds))

    assert days(since=midnight) == (day, MAX_DAY + 1)
    assert days(since=noon) == (day + 1, MAX_DAY + 1)
    assert days(until=midnight) == days(until=noon) == (1, day)


@pytest.mark.sqlite("opens a file of an older version")
@requirement("grants.freshness.visible")
def test_a_home_of_before_knows_when_records_came_that_never_changed(world: World, tmp_path: Path) -> None:
    """Of one that was changed nobody knows in which fields, so it counts from its next change on."""
    world.deliver(WORK, [told("m1", at(1), text="changed")])
    world.deliver(WORK, [told("m7", at(2), text="new")])
    world.deliver(WORK, [told("m2", at(3), text="changed")])
    older = apsw.Connection(str(tmp_path / "older.sqlite"))
    with world.services.database.reading() as reading, older.backup("main", connection_of(reading), "main") as backup:
        backup.step()
    older.execute("drop table newest_changes; alter table streams drop column refreshed_on")
    (migration,) = (file for file in migration_files() if file.name.endswith("freshness.sql"))

    older.execute(migration.read_text())

    asked = "select emitted_at from newest_changes where what = '+' and shift = ? and place = 0 and sid = 1"
    assert older.execute(asked, (EVER,)).get == at(2)
    assert older.execute("select count(distinct shift) from newest_changes").get == len(SHIFTS) + 1
    older.close()


@requirement("grants.freshness.visible")
def test_what_is_erased_leaves_no_time_behind(world: World) -> None:
    world.owner.remove_source(world.work)

    with world.services.database.reading() as reading:
        left = reading.rows("select distinct sid from newest_changes order by sid")
        assert left == reading.rows("select sid from streams where live > 0 order by sid")
