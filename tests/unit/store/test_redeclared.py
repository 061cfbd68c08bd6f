"""A source that declares other types or times than it did."""

from copy import deepcopy
from typing import Any

import pytest

from pdpp_server.errors import InvalidDeclaration
from pdpp_server.model.queries import Condition, FetchQuery, RecordsQuery, SchemaQuery, SearchQuery
from pdpp_server.wire.declarations import decode_declaration
from tests.requirements import requirement
from tests.worlds import chat
from tests.worlds.world import World


def changed(version: str, **streams: Any) -> Any:
    """The chat source with other members of its streams; None leaves a stream out."""
    document: dict[str, Any] = deepcopy(chat.DOCUMENT) | {"declaration_version": version}
    kept = [stream for stream in document["streams"] if streams.get(stream["name"], {}) is not None]
    document["streams"] = [stream | streams.get(stream["name"], {}) for stream in kept]
    return decode_declaration(document)


def test_values_are_indexed_anew_when_their_type_changes(world: World) -> None:
    query = deepcopy(chat.DOCUMENT["streams"][0]["query"]) | {"aggregations": {"group_by": ["author"]}}
    world.owner.writer(changed("2", messages={"query": query}), chat.WORK)
    schema = deepcopy(chat.DOCUMENT["streams"][0]["schema"])
    schema["properties"]["author"] = {"type": "string", "format": "date"}
    asked = RecordsQuery("messages", world.work, conditions=(Condition("author", "eq", "Ada"),))
    before = world.reader.query_records(asked).value.records

    writer = world.owner.writer(changed("3", messages={"query": query, "schema": schema}), chat.WORK)
    writer.deliver([chat.message("d1", author="2026-01-02", sent_at="2026-01-02T00:00:00Z")])

    assert before
    assert world.reader.query_records(asked).value.records == before  # by the type that was consented to
    newer = world.reader_of(world.grant({"name": "messages", "instance_ids": [world.work]}))
    dated = RecordsQuery("messages", conditions=(Condition("author", "eq", "2026-01-02"),))
    assert [record.id.key for record in newer.query_records(dated).value.records] == ["d1"]


def test_a_stream_that_comes_back_keeps_the_time_by_which_its_records_lie(world: World) -> None:
    world.owner.writer(changed("2", messages=None), chat.WORK)

    other = {"consent_time_field": None, "cursor_field": "likes"}
    without = {name: value for name, value in other.items() if value is not None}
    schema = deepcopy(chat.DOCUMENT["streams"][0]["schema"])
    del schema["properties"]["sent_at"]["x_pdpp_role"]
    document: Any = dict(changed("3", messages={"schema": schema} | without).document)
    del document["streams"][0]["consent_time_field"]

    with pytest.raises(InvalidDeclaration, match="holds records by id and sent_at"):
        world.owner.writer(decode_declaration(document), chat.WORK)
    assert world.owner.writer(changed("4"), chat.WORK)


@requirement("grants.snapshot.words-of-now")
def test_what_is_said_of_fields_applies_to_older_grants_and_rights_stay(world: World) -> None:
    fields = ["id", "author", "text", "likes", "reactions"]
    old = world.reader_of(world.grant({"name": "messages", "fields": fields, "instance_ids": [world.work]}))
    schema = deepcopy(chat.DOCUMENT["streams"][0]["schema"])
    properties = schema["properties"]
    properties["author"]["x_pdpp_role"] = "primary-title"
    del properties["subject"]["x_pdpp_role"]
    properties["likes"] = {"type": "number", "x_pdpp_role": "amount"}
    properties["reactions"]["x_pdpp_role"] = "blob-reference"
    properties["sent_at"]["x_pdpp_role"] = "secondary"
    display = {"label": "Posts", "detail": "What was said."}
    world.owner.writer(changed("2", messages={"schema": schema, "display": display}), chat.WORK)

    record = old.fetch(FetchQuery("messages", "m1", world.work)).value

    assert record.roles == {"author": "primary-title", "text": "primary-body"}, "same name and type, and no blob's"
    assert set(record.data) == {"id", "author", "text", "likes", "reactions"}
    (entry,) = old.schema(SchemaQuery("messages")).value.entries
    assert (entry.stream.label, entry.stream.fields["likes"].type) == ("Posts", "integer")
    assert entry.stream.range_filters["likes"] == ("gte",)
    assert old.search(SearchQuery("draft ready")).value.hits[0].title == "Ada"
    assert world.owner.grants()[0].grant.streams[0].declared.label == "Messages", "what was consented to is kept"
