"""A source that declares other types or times than it did."""

from copy import deepcopy
from typing import Any

import pytest

from pdpp_server.errors import InvalidDeclaration
from pdpp_server.model.queries import Condition, RecordsQuery
from pdpp_server.wire.declarations import decode_declaration
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
