"""What the owner deletes is gone, for readers and on the disk."""

import random
import re
from dataclasses import replace
from pathlib import Path

import apsw
import orjson
import pytest

from pdpp_server.errors import ConnectionNotFound, NotFound
from pdpp_server.importers.ndjson import import_ndjson
from pdpp_server.model.ingest import Incoming
from pdpp_server.model.queries import FetchQuery, SchemaQuery, SearchQuery
from pdpp_server.reads.services import open_services
from pdpp_server.store.engines.sqlite import db
from pdpp_server.store.engines.sqlite.scrub import scrub
from pdpp_server.wire.declarations import decode_declaration
from tests.engine.beneath import bytes_beside_log, is_postgres
from tests.requirements import requirement
from tests.worlds.chat import DECLARATION, DOCUMENT, WORK, channel, deletion, message
from tests.worlds.told import told
from tests.worlds.world import World, close


@requirement("store.deletes.tombstone", "store.erasure.index")
def test_a_deleted_record_is_found_counted_and_fetched_no_more(world: World) -> None:
    reader = world.reader
    assert len(reader.search(SearchQuery("walrus")).value.hits) == 1

    world.deliver(WORK, [deletion("m2")])

    assert reader.search(SearchQuery("walrus")).value.hits == ()
    with pytest.raises(NotFound):
        reader.fetch(FetchQuery("messages", "m2", world.work))
    counted = {
        (entry.stream.name, holding.origin.connection_id): holding.records
        for entry in reader.schema(SchemaQuery()).value.entries
        for holding in entry.holdings
    }
    assert counted["messages", world.work] == 4


@requirement("store.erasure.index")
def test_the_words_of_a_deleted_record_are_in_no_byte_of_the_index(world: World) -> None:
    world.deliver(WORK, [deletion("m2")])

    world.services.database.truncate_wal()

    kept = bytes_beside_log(world.home)
    assert b"walru" not in kept
    assert b"lunch" in kept


@requirement("store.erasure.index")
def test_a_deletion_that_was_imported_leaves_nothing_in_any_file_of_the_database(world: World, tmp_path: Path) -> None:
    writer = world.owner.writer(DECLARATION, WORK)
    for name, incoming in {
        "came.ndjson": {"stream": "messages", "data": {"id": "gone", "text": "zyxwvut secret"}},
        "went.ndjson": {"stream": "messages", "key": "gone", "op": "delete"},
    }.items():
        (tmp_path / name).write_bytes(orjson.dumps(incoming))
        import_ndjson(tmp_path / name, writer, lambda *_: None)

    assert b"zyxwvut" not in bytes_beside_log(world.home)


def _require_sound(world: World) -> None:
    if is_postgres():  # which has no such checks of its own
        return
    with world.services.database.writing() as writer:
        assert writer.one("pragma integrity_check") == "ok"
        writer.run("insert into words(words, rank) values('integrity-check', 0)")


def _delete_moved_records(world: World) -> None:
    """Records of many sizes and days in no order, so that the database moves them about; then most are deleted."""
    chance = random.Random(3)
    keys = chance.sample(range(300), 300)
    for start in range(0, 300, 25):
        world.deliver(WORK, [_moved(chance, number) for number in keys[start : start + 25]])
    world.deliver(WORK, [deletion(f"k{number}") for number in keys[:270]])
    world.services.database.truncate_wal()
    assert _deleted_texts(world), "SQLite leaves no copies any more: nothing need be scrubbed"


def _moved(chance: random.Random, number: int) -> Incoming:
    text = f"zyx-k{number}-wvu " + "x" * chance.choice([20, 300, 900])
    return message(f"k{number}", text=text, sent_at=f"20{chance.randrange(10, 26)}-01-01T00:00:00Z")


def _deleted_texts(world: World) -> set[bytes]:
    with world.services.database.reading() as reading:
        live = {key.encode() for (key,) in reading.rows("select key from records where data is not null")}
    return {*re.findall(rb"zyx-(k\d+)-wvu", bytes_beside_log(world.home))} - live


@pytest.mark.sqlite("looks into the bytes of the files of a home")
@requirement("store.erasure.everywhere")
def test_a_deletion_leaves_no_copy_where_the_database_had_moved_a_record(world: World) -> None:
    _delete_moved_records(world)

    world.services.database.forget_erased()

    assert _deleted_texts(world) == set()
    assert world.reader.search(SearchQuery("walrus")).value.hits
    _require_sound(world)


@pytest.mark.sqlite("looks into the bytes of the files of a home")
@requirement("store.erasure.everywhere")
def test_what_a_killed_writer_erased_is_gone_when_the_home_is_opened_again(world: World) -> None:
    _delete_moved_records(world)  # and no more than that

    close(world.services)
    reopened = open_services(world.home, now=world.clock)

    try:
        assert _deleted_texts(replace(world, services=reopened)) == set()
    finally:
        reopened.close()


@pytest.mark.sqlite("looks into the bytes of the files of a home")
@requirement("store.erasure.everywhere")
@pytest.mark.parametrize("who", ["this process", "another"])
def test_who_remembers_pages_does_not_bring_copies_back(
    world: World, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _delete_moved_records(world)
    other = apsw.Connection(str(world.home / "pdpp.sqlite"))

    def scrub_what_is_remembered(writer: apsw.Connection) -> None:
        other.execute("select sum(length(data)) from records").fetchall()
        scrub(writer)

    monkeypatch.setattr(db, "scrub", scrub_what_is_remembered)
    world.services.database.forget_erased()
    change = "update records set emitted_at = replace(emitted_at, '2026', '2025')"
    if who == "this process":
        with world.services.database.writing() as writer:
            writer.run(change)
    else:
        other.execute(change)
    other.close()

    world.services.database.truncate_wal()
    assert _deleted_texts(world) == set()
    _require_sound(world)


@pytest.mark.sqlite("looks into the bytes of the files of a home")
@requirement("store.erasure.everywhere")
def test_who_writes_in_between_again_and_again_keeps_nothing_that_was_erased(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    _delete_moved_records(world)
    other = apsw.Connection(str(world.home / "pdpp.sqlite"))
    fold, between = db.SqliteDatabase.truncate_wal, iter(range(8))

    def fold_and_be_late(database: db.SqliteDatabase) -> None:
        fold(database)
        if (day := next(between, None)) is not None:
            other.execute(f"update records set emitted_at = '2025-01-0{day + 1}T00:00:00Z'")

    monkeypatch.setattr(db.SqliteDatabase, "truncate_wal", fold_and_be_late)
    world.services.database.forget_erased()
    other.close()

    assert next(between, None) is None
    assert _deleted_texts(world) == set()
    _require_sound(world)


@requirement("store.erasure.everywhere")
def test_a_connection_that_is_removed_is_in_no_byte_of_the_home(world: World) -> None:
    world.deliver(WORK, [message(f"zyxwvut{n}", text=f"abzyxwvut {n}", author="zyxwvut") for n in range(300)])
    world.deliver(WORK, [message("zyxwvut1", text="changed"), deletion("zyxwvut2")])
    if not is_postgres():
        (world.home / "pdpp.sqlite.before-2").write_text("zyxwvut")
    told(world.reader.search(SearchQuery("abzyxwvut")))

    world.owner.remove_source(world.work)

    kept = bytes_beside_log(world.home)
    assert b"zyxwvut" not in kept
    assert b"Work chat" not in kept
    assert b"lake house" in kept
    _require_sound(world)


@requirement("store.removal.grants")
def test_a_grant_shows_what_is_left_when_one_of_its_connections_is_removed(world: World) -> None:
    only_work = world.grant({"name": "messages", "instance_ids": [world.work]})

    world.owner.remove_source(world.work)

    assert {hit.id.connection_id for hit in world.reader.search(SearchQuery("lake")).value.hits} == {world.family}
    assert world.reader.search(SearchQuery("walrus")).value.hits == ()
    assert world.reader.fetch(FetchQuery("messages", "m1", None)).value.id.connection_id == world.family
    with pytest.raises(NotFound):
        world.reader_of(only_work).fetch(FetchQuery("messages", "m1", None))
    assert [source.connection_id for source in world.owner.sources()] == [world.family]


@requirement("store.removal.again")
def test_what_was_removed_can_be_brought_in_again_and_no_old_number_points_at_it(world: World) -> None:
    with world.services.database.reading() as reading:
        numbers = {place.sid for place in reading.layout.connections[world.work].streams.values()}
    for connection_id in (world.work, world.family):
        world.owner.remove_source(connection_id)

    another = {**DOCUMENT, "declaration_version": "2", "display": {"name": "Chat of now"}}
    writer = world.owner.writer(decode_declaration(another), WORK)
    writer.deliver([message("m1", text="Nothing but this.")])

    assert writer.connection_id == world.work
    with world.services.database.reading() as reading:
        place = reading.layout.connections[world.work]
        assert numbers.isdisjoint(stream.sid for stream in place.streams.values())
        assert reading.layouts.declaration(reading, place.declaration).name == "Chat of now"


@requirement("store.erasure.everywhere")
def test_a_stream_that_is_no_longer_declared_goes_with_its_connection(world: World) -> None:
    world.deliver(WORK, [channel("legal", 3, "zyxwvut")])
    fewer = {**DOCUMENT, "declaration_version": "2", "streams": [DOCUMENT["streams"][0]]}
    world.owner.writer(decode_declaration(fewer), WORK)

    world.owner.remove_source(world.work)

    assert b"zyxwvut" not in bytes_beside_log(world.home)
    assert {hit.id.connection_id for hit in world.reader.search(SearchQuery("lake")).value.hits} == {world.family}
    _require_sound(world)


@requirement("store.removal.again")
def test_a_connection_that_is_not_there_cannot_be_removed_or_renamed(world: World) -> None:
    with pytest.raises(ConnectionNotFound):
        world.owner.remove_source("cin_never")
    with pytest.raises(ConnectionNotFound):
        world.owner.rename_source("cin_never", "Name")
