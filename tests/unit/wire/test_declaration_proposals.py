"""A declaration that we propose is one that we take."""

from pdpp_server.model.streams import Aggregations
from pdpp_server.wire.declaration_proposals import ProposedStream, encode_proposal
from pdpp_server.wire.declarations import decode_declaration

DIARY = ProposedStream(
    "entries",
    "record_key",
    {"record_key": "string", "day": "date", "name": "string", "text": "string", "mood": "integer", "odd": ""},
    key_says="Made from the whole row.",
    time="day",
    title="name",
    body="text",
    searched=("name", "text"),
)


def test_what_is_proposed_is_decoded_again() -> None:
    document = encode_proposal("My diary", "my-diary", [DIARY], lambda _: "0123456789abcdef")

    declaration = decode_declaration(document)
    stream = declaration.streams["entries"]

    assert (declaration.name, declaration.source.connector_key) == ("My diary", "own-my-diary")
    assert declaration.version == "0123456789ab"
    assert (stream.primary_key, stream.cursor_field, stream.consent_time_field) == (("record_key",), "day", "day")
    assert {field.name: field.type for field in stream.fields.values()} == {**DIARY.kinds, "odd": "mixed"}
    assert stream.fields["record_key"].schema["description"] == "Made from the whole row."
    roles = {field.role: field.name for field in stream.fields.values() if field.role}
    assert roles == {"event-time": "day", "primary-title": "name", "primary-body": "text"}
    assert [*stream.range_filters] == ["mood", "day"]
    assert stream.lexical_fields == DIARY.searched
    assert stream.aggregations == Aggregations(count=True, group_by_time=("day",))


def test_without_a_time_nothing_is_said_of_one() -> None:
    timeless = DIARY._replace(kinds={"id": "string"}, key="id", key_says="", time=None, title=None, body=None)

    document = encode_proposal("Things", "things", [timeless._replace(searched=("id",))], lambda _: "1")

    assert document["streams"] == [
        {
            "name": "entries",
            "semantics": "mutable_state",
            "primary_key": ["id"],
            "selection": {"fields": True, "resources": True},
            "schema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
            "query": {"range_filters": {}, "search": {"lexical_fields": ["id"]}, "aggregations": {"count": True}},
        }
    ]
