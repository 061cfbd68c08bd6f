"""What the owner deletes is gone, for readers and on the disk."""

from pathlib import Path

import orjson
import pytest

from pdpp_server.errors import NotFound
from pdpp_server.importers.run import import_ndjson
from pdpp_server.model.queries import FetchQuery, SchemaQuery, SearchQuery
from tests.requirements import requirement
from tests.worlds.chat import DECLARATION, WORK, deletion
from tests.worlds.world import World


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

    files = [path.read_bytes() for path in world.home.glob("pdpp.sqlite*")]
    assert not any(b"walrus" in raw or b"walru" in raw for raw in files)
    assert any(b"lunch" in raw for raw in files)


@requirement("store.erasure.index")
def test_a_deletion_that_was_imported_leaves_nothing_in_any_file_of_the_database(world: World, tmp_path: Path) -> None:
    writer = world.owner.writer(DECLARATION, WORK)
    for name, incoming in {
        "came.ndjson": {"stream": "messages", "data": {"id": "gone", "text": "zyxwvut secret"}},
        "went.ndjson": {"stream": "messages", "key": "gone", "op": "delete"},
    }.items():
        (tmp_path / name).write_bytes(orjson.dumps(incoming))
        import_ndjson(tmp_path / name, writer, lambda *_: None)

    kept = b"".join(path.read_bytes() for path in world.home.glob("pdpp.sqlite*"))
    assert b"zyxwvut" not in kept
