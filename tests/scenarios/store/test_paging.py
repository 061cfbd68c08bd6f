"""Cursors belong to their grant and query, and leave nothing behind."""

from dataclasses import replace
from pathlib import Path

import pytest

from pdpp_server.errors import InvalidCursor
from pdpp_server.model.queries import Condition, RecordsQuery, SearchQuery
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import open_services
from tests.engine.beneath import tables_of
from tests.requirements import requirement
from tests.worlds.chat import WORK, message
from tests.worlds.told import ToldReader
from tests.worlds.world import World, close

QUERY = SearchQuery("lease", limit=1)


def cursor_of(world: World, token: str | None = None) -> str:
    cursor = world.reader_of(token or world.token).search(QUERY).value.next_cursor
    assert cursor
    return cursor


@requirement("rs.cursors.bound-to-grant")
def test_a_cursor_of_another_grant_is_refused_even_to_the_same_reader(world: World) -> None:
    world.grant(world.both("messages"), world.both("channels"))
    mine, other = (world.owner.preview_token(row.grant.grant_id) for row in world.owner.grants())

    cursor = cursor_of(world, mine)

    world.reader_of(mine).search(replace(QUERY, cursor=cursor))
    for token in (other, world.token):
        with pytest.raises(InvalidCursor):
            world.reader_of(token).search(replace(QUERY, cursor=cursor))


@pytest.mark.parametrize(
    "change",
    [{"text": "leases"}, {"streams": ("messages",)}, {"connection_id": "work"}],
    ids=["words", "streams", "source"],
)
@requirement("rs.cursors.bound-to-query")
def test_a_cursor_of_another_query_is_refused(change: dict[str, object], world: World) -> None:
    if "connection_id" in change:
        change = {"connection_id": world.work}

    with pytest.raises(InvalidCursor):
        world.reader.search(replace(QUERY, cursor=cursor_of(world), **change))  # pyright: ignore[reportArgumentType]


@requirement("rs.cursors.bound-to-query")
def test_a_cursor_goes_on_with_another_limit(world: World) -> None:
    whole = [hit.id for hit in world.reader.search(replace(QUERY, limit=10)).value.hits]

    rest = world.reader.search(replace(QUERY, limit=10, cursor=cursor_of(world))).value

    assert [hit.id for hit in rest.hits] == whole[1:]


@requirement("rs.cursors.bounded-size")
def test_cursors_have_one_length_whatever_they_point_at(world: World) -> None:
    world.deliver(WORK, [message("x" * 300, text="lease " * 300, sent_at="2026-01-01T00:00:00Z")])
    query, lengths = QUERY, list[int]()
    for _ in range(4):
        cursor = world.reader.search(query).value.next_cursor
        assert cursor
        lengths.append(len(cursor))
        query = replace(QUERY, cursor=cursor)

    assert len({*lengths}) == 1
    assert max(lengths) <= 160


@pytest.mark.sqlite("looks into the files of a home")
@requirement("rs.cursors.sealed")
def test_the_key_that_another_process_made_first_is_the_one_that_seals(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    cursor = cursor_of(world)
    late = open_services(world.home, now=world.clock)
    monkeypatch.setattr(Path, "exists", lambda _: False)  # it looked just before the other one wrote

    page = ToldReader(LocalReader(late, world.token)).search(replace(QUERY, cursor=cursor)).value
    monkeypatch.undo()
    close(late)

    assert len(page.hits) == 1
    made = {path.name for path in (world.home / "keys").iterdir()}
    assert {name for name in made if not name.startswith("asked-")} == {"cursors.key", "activity.key"}


@requirement("rs.cursors.no-growing-table")
def test_paging_leaves_no_row_behind(world: World) -> None:
    before = _rows(world)
    query = QUERY
    for _ in range(3):
        query = replace(QUERY, cursor=world.reader.search(query).value.next_cursor)

    assert _rows(world) == before


def _rows(world: World) -> dict[str, int]:
    with world.services.database.reading() as reading:
        return {table: reading.one(f'select count(*) from "{table}"') for table in tables_of(reading)}


@requirement("rs.cursors.bound-to-query")
def test_a_page_goes_on_with_its_own_filter_only(world: World) -> None:
    query = RecordsQuery("messages", conditions=(Condition("likes", "gte", "0"),), limit=1)
    cursor = world.reader.query_records(query).value.next_cursor
    assert cursor

    world.reader.query_records(replace(query, cursor=cursor))
    for conditions in ((), (Condition("likes", "gte", "1"),), (Condition("author", "eq", "Ada"),)):
        with pytest.raises(InvalidCursor):
            world.reader.query_records(replace(query, conditions=conditions, cursor=cursor))


@requirement("rs.cursors.bound-to-grant")
def test_a_cursor_of_the_owners_preview_is_no_cursor_of_the_client(world: World) -> None:
    """Both read under the same grant, in the same scopes: only who holds it tells them apart."""
    preview = world.reader_of(world.owner.preview_token(world.grant_id))
    listed, found = RecordsQuery("messages", limit=1), replace(QUERY, limit=1)
    cursor = preview.query_records(listed).value.next_cursor

    preview.query_records(replace(listed, cursor=cursor))
    with pytest.raises(InvalidCursor):
        world.reader.query_records(replace(listed, cursor=cursor))
    with pytest.raises(InvalidCursor):
        world.reader.search(replace(found, cursor=preview.search(found).value.next_cursor))


@requirement("rs.records.page")
@pytest.mark.parametrize("ascending", [True, False], ids=["oldest first", "newest first"])
def test_pages_over_named_records_show_none_of_them_twice(ascending: bool, world: World) -> None:
    """Records of one time stand beside each other, in the order of their keys."""
    keys = [f"n{number}" for number in range(5)]
    world.deliver(WORK, [message(key, text="same", sent_at="2026-01-01T00:00:00Z") for key in keys])
    token = world.grant({"name": "messages", "instance_ids": [world.work], "resources": keys})
    query = RecordsQuery("messages", ascending=ascending, limit=2)

    found: list[str] = []
    for _ in range(3):
        page = world.reader_of(token).query_records(query).value
        found += [record.id.key for record in page.records]
        query = replace(query, cursor=page.next_cursor)

    assert found == (keys if ascending else keys[::-1])
    assert query.cursor is None
