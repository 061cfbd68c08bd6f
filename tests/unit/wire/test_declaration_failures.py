"""What a declaration of the right shape can still get wrong."""

from typing import Any

import pytest

from pdpp_server.wire.declarations import decode_declaration
from tests.requirements import requirement
from tests.unit.wire.spoilt import Spoil, entries, failures, properties, spoilt

SEMANTICS: dict[str, tuple[Spoil, set[tuple[str, str, str]]]] = {
    "stream twice": (
        lambda d: d["streams"].append(entries(d)),
        {("duplicate_stream_name", "/streams/3/name", "entries")},
    ),
    "view twice": (
        lambda d: entries(d)["views"].append(entries(d)["views"][0]),
        {("duplicate_view_id", "/streams/0/views/1/id", "titles")},
    ),
    "relationship twice": (
        lambda d: entries(d)["relationships"].append(entries(d)["relationships"][0]),
        {("duplicate_relationship_name", "/streams/0/relationships/1/name", "photos")},
    ),
    "expand twice": (
        lambda d: entries(d)["query"]["expand"].append({"name": "photos"}),
        {("duplicate_expand_name", "/streams/0/query/expand/1/name", "photos")},
    ),
    "preset twice": (
        lambda d: d["selection_presets"].append(d["selection_presets"][0]),
        {("duplicate_preset_id", "/selection_presets/1/id", "reading")},
    ),
    "preset stream twice": (
        lambda d: d["selection_presets"][0]["streams"].append({"name": "notes"}),
        {("duplicate_preset_stream_name", "/selection_presets/0/streams/3/name", "notes")},
    ),
    "primary key": (
        lambda d: entries(d).update(primary_key=["id", "no"]),
        {("unknown_schema_field", "/streams/0/primary_key/1", "no")},
    ),
    "cursor": (
        lambda d: entries(d).update(cursor_field="no"),
        {("unknown_schema_field", "/streams/0/cursor_field", "no")},
    ),
    "consent time": (
        lambda d: entries(d).update(consent_time_field="no"),
        {("unknown_schema_field", "/streams/0/consent_time_field", "no")},
    ),
    "view field": (
        lambda d: entries(d)["views"][0].update(fields=["no"]),
        {("unknown_schema_field", "/streams/0/views/0/fields/0", "no")},
    ),
    "foreign key of this stream": (
        lambda d: entries(d)["relationships"][0].update(foreign_key="title"),
        {("unknown_schema_field", "/streams/0/relationships/0/foreign_key", "title")},
    ),
    "range field": (
        lambda d: entries(d)["query"]["range_filters"].update({"a/b~": ["gt"]}),
        {("unknown_schema_field", "/streams/0/query/range_filters/a~1b~0", "a/b~")},
    ),
    "searched field": (
        lambda d: entries(d)["query"]["search"]["lexical_fields"].append("no"),
        {("unknown_schema_field", "/streams/0/query/search/lexical_fields/2", "no")},
    ),
    "preset field": (
        lambda d: d["selection_presets"][0]["streams"][1].update(fields=["no"]),
        {("unknown_schema_field", "/selection_presets/0/streams/1/fields/0", "no")},
    ),
    "preset with view and fields": (
        lambda d: d["selection_presets"][0]["streams"][0].update(fields=["id"]),
        {("invalid_value", "/selection_presets/0/streams/0", "entries")},
    ),
    "related stream": (
        lambda d: entries(d)["relationships"][0].update(stream="no"),
        {("unknown_stream", "/streams/0/relationships/0/stream", "no")},
    ),
    "preset stream": (
        lambda d: d["selection_presets"][0]["streams"][0].update(name="no"),
        {("unknown_stream", "/selection_presets/0/streams/0/name", "no")},
    ),
    "preset view": (
        lambda d: d["selection_presets"][0]["streams"][0].update(view="no"),
        {("unknown_view", "/selection_presets/0/streams/0/view", "no")},
    ),
    "expanded relationship": (
        lambda d: entries(d)["query"].update(expand=[{"name": "no"}]),
        {("unknown_relationship", "/streams/0/query/expand/0/name", "no")},
    ),
    "range over text": (
        lambda d: entries(d)["query"]["range_filters"].update(title=["gt"]),
        {("invalid_query_field_type", "/streams/0/query/range_filters/title", "title")},
    ),
    "words in numbers": (
        lambda d: entries(d)["query"]["search"].update(lexical_fields=["mood"]),
        {("invalid_query_field_type", "/streams/0/query/search/lexical_fields/0", "mood")},
    ),
    "meaning of several types": (
        lambda d: entries(d)["query"]["search"].update(semantic_fields=["score"]),
        {("invalid_query_field_type", "/streams/0/query/search/semantic_fields/0", "score")},
    ),
    **{
        f"{function} of {field}": (
            lambda d, function=function, field=field: entries(d)["query"]["aggregations"].update({function: [field]}),
            {("invalid_query_field_type", f"/streams/0/query/aggregations/{function}/0", field)},
        )
        for function, field in [
            ("sum", "written_at"),
            ("min", "title"),
            ("max", "place"),
            ("count_distinct", "place"),
            ("group_by", "score"),
            ("group_by_time", "mood"),
        ]
    },
    "limits the wrong way round": (
        lambda d: entries(d)["query"]["expand"][0].update(default_limit=21),
        {("invalid_expand_limits", "/streams/0/query/expand/0", "photos")},
    ),
    "limit of nothing": (
        lambda d: entries(d)["query"].update(expand=[{"name": "photos", "max_limit": 0}]),
        {("invalid_expand_limits", "/streams/0/query/expand/0", "photos")},
    ),
    "default of nothing": (
        lambda d: entries(d)["query"].update(expand=[{"name": "photos", "default_limit": 0}]),
        {("invalid_expand_limits", "/streams/0/query/expand/0", "photos")},
    ),
    "two at once": (
        lambda d: entries(d).update(cursor_field="no", consent_time_field="nor"),
        {
            ("unknown_schema_field", "/streams/0/cursor_field", "no"),
            ("unknown_schema_field", "/streams/0/consent_time_field", "nor"),
        },
    ),
}


@requirement("store.declarations.semantics")
@pytest.mark.parametrize("name", SEMANTICS)
def test_a_contradiction_is_refused_with_code_path_and_reference(name: str) -> None:
    spoil, expected = SEMANTICS[name]

    assert failures(spoilt(spoil)) == expected


@requirement("store.declarations.semantics")
def test_more_searched_fields_than_the_word_index_has_columns_are_refused() -> None:
    def widen(document: dict[str, Any], count: int) -> None:
        names = [f"text_{number}" for number in range(count)]
        properties(document).update({name: {"type": "string"} for name in names})
        entries(document)["query"]["search"]["lexical_fields"] = names

    assert len(decode_declaration(spoilt(lambda d: widen(d, 16))).streams["entries"].lexical_fields) == 16
    ((code, path, _),) = failures(spoilt(lambda d: widen(d, 17)))
    assert (code, path) == ("invalid_value", "/streams/0/query/search/lexical_fields")


@requirement("store.declarations.bounded-names")
@pytest.mark.parametrize("name", ["", "*", ".", "..", "a/../b", "a\nb", "a\u202eb", "a\x00", "a" * 65])
def test_a_name_that_no_stream_can_have_is_refused(name: str) -> None:
    ((_, path, _),) = failures(spoilt(lambda d: d["streams"][2].update(name=name) or d.pop("selection_presets")))

    assert path == "/streams/2/name"


@requirement("store.declarations.bounded-names")
@pytest.mark.parametrize("name", ["", "a\nb", "a\u2028b", "a" * 65])
def test_a_name_that_no_field_can_have_is_refused(name: str) -> None:
    ((code, path, _),) = failures(spoilt(lambda d: properties(d).update({name: {"type": "string"}})))

    assert (code, path) == ("invalid_name", f"/streams/0/schema/properties/{name}")


@requirement("store.declarations.bounded-names")
@pytest.mark.parametrize("name", ["a" * 64, "größe", "two words", "📷", "a.b", "a:b"])
def test_names_of_up_to_64_printable_characters_are_accepted(name: str) -> None:
    document = spoilt(lambda d: properties(d).update({name: {"type": "string"}}))
    document["streams"].append({**document["streams"][2], "name": name})

    assert name in decode_declaration(document).streams["entries"].fields
    assert name in decode_declaration(document).streams


@requirement("store.declarations.local-references")
@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
@pytest.mark.parametrize(
    "reference", ["https://example.org/x.json", "other.json#/a", "", "urn:x", "file:///etc/passwd"]
)
def test_a_schema_that_refers_outside_itself_is_refused(keyword: str, reference: str) -> None:
    document = spoilt(lambda d: properties(d).update(score={"anyOf": [{keyword: reference}]}))

    assert failures(document) == {
        (
            "nonlocal_schema_reference",
            f"/streams/0/schema/properties/score/anyOf/0/{keyword}",
            reference,
        )
    }


@requirement("store.declarations.local-references")
def test_a_property_may_be_called_ref() -> None:
    document = spoilt(lambda d: properties(d).update({"$ref": {"type": "string"}}))

    assert "$ref" in decode_declaration(document).streams["entries"].fields


@requirement("store.declarations.shape")
@pytest.mark.parametrize(
    ("path", "spoil"),
    [
        ("/$schema", lambda schema: schema.update({"$schema": "http://json-schema.org/draft-07/schema#"})),
        ("/properties/id/type", lambda schema: schema["properties"]["id"].update(type="text")),
        ("/properties/id/pattern", lambda schema: schema["properties"]["id"].update(pattern="(")),
        ("/required", lambda schema: schema.update(required="id")),
        ("", lambda schema: schema["properties"]["place"].update({"$ref": "#/$defs/nowhere"})),
    ],
)
def test_what_is_no_schema_of_our_dialect_is_refused(path: str, spoil: Spoil) -> None:
    ((code, found, _),) = failures(spoilt(lambda d: spoil(entries(d)["schema"])))

    assert code == "invalid_schema"
    assert found.startswith(f"/streams/0/schema{path}")
