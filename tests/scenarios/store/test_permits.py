"""What a narrowed grant gives through the reader, dimension by dimension."""

import pytest

from pdpp_server.errors import NotFound, PdppError
from pdpp_server.model.queries import FetchQuery, SchemaQuery, SearchQuery, WindowQuery
from tests.requirements import requirement
from tests.worlds.world import World


def seen(world: World, token: str, words: str = "lease lake lunch kyoto house eat") -> set[tuple[str, str, str]]:
    hits = world.reader_of(token).search(SearchQuery(words, limit=100)).value.hits
    return {(hit.id.connection_id, hit.id.stream, hit.id.key) for hit in hits}


@requirement("grants.permit.connections")
def test_records_of_another_connection_are_neither_found_nor_fetched(world: World) -> None:
    token = world.grant({"name": "messages", "instance_ids": [world.family]})

    assert {connection for connection, *_ in seen(world, token)} == {world.family}
    record = world.reader_of(token).fetch(FetchQuery("messages", "m1")).value  # the id is in both accounts
    assert record.data["author"] == "Dora"


@requirement("grants.permit.fields")
def test_a_hidden_field_is_in_no_answer_and_its_words_find_nothing(world: World) -> None:
    token = world.grant(world.both("messages", fields=["text"]))
    reader = world.reader_of(token)

    assert reader.search(SearchQuery("holidays draft")).value.recall.matches == 1  # "draft" also stands in a text
    record = reader.fetch(FetchQuery("messages", "m1", world.work)).value
    assert dict(record.data) == {"id": "m1", "text": "The lease draft is ready."}
    assert record.authored_at is None
    with pytest.raises(PdppError) as refused:
        reader.read_record_field(WindowQuery("messages", "m1", "subject", world.work))
    assert refused.value.code == "field_not_granted"


@requirement("grants.permit.time")
def test_time_bounds_hide_what_is_outside_and_what_has_no_time(world: World) -> None:
    token = world.grant(
        world.both("messages", time_range={"since": "2026-03-02T09:00:00Z", "until": "2026-05-01T00:00:00Z"})
    )

    assert {key for _, _, key in seen(world, token)} == {"m2", "m3"}
    counted = {
        holding.origin.connection_id: (holding.records, holding.earliest, holding.latest)
        for entry in world.reader_of(token).schema(SchemaQuery()).value.entries
        for holding in entry.holdings
    }
    assert counted == {world.work: (2, "2026-03-02", "2026-04-01"), world.family: (0, None, None)}


@requirement("grants.permit.resources")
def test_only_the_named_records_are_visible_compound_keys_included(world: World) -> None:
    token = world.grant(
        world.both("messages", resources=["m1"]), world.both("channels", resources=[["legal", "1"], '["lake","1"]'])
    )

    assert seen(world, token) == {
        (world.work, "messages", "m1"),
        (world.family, "messages", "m1"),
        (world.work, "channels", '["legal","1"]'),
        (world.family, "channels", '["lake","1"]'),
    }
    with pytest.raises(NotFound):
        world.reader_of(token).fetch(FetchQuery("messages", "m2", world.work))


@requirement("grants.permit.streams")
def test_a_stream_that_is_not_granted_is_refused_and_not_listed(world: World) -> None:
    token = world.grant(world.both("channels"))

    assert [entry.stream.name for entry in world.reader_of(token).schema(SchemaQuery()).value.entries] == ["channels"]
    with pytest.raises(PdppError) as refused:
        world.reader_of(token).fetch(FetchQuery("messages", "m1", world.work))
    assert refused.value.code == "grant_stream_not_allowed"
