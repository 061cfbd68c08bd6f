"""A declaration is decoded whole or refused with every place at fault."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.errors import InvalidDeclaration
from pdpp_server.model.sources import Source
from pdpp_server.model.streams import Aggregations, Expansion, Relationship, View
from pdpp_server.wire.declarations import FaultyDeclaration, decode_declaration, parse_declaration
from tests.requirements import requirement
from tests.unit.diary import SOURCE_ID, diary
from tests.unit.wire.spoilt import Spoil, entries, failures, properties, spoilt


def test_a_declaration_becomes_values() -> None:
    declaration = decode_declaration(diary())
    stream = declaration.streams["entries"]

    assert declaration.source == Source("connector", SOURCE_ID)
    assert declaration.source.connector_key == "diary"
    assert (declaration.version, declaration.publisher) == ("2026-11-01", "https://registry.pdpp.dev/")
    assert (declaration.name, [*declaration.streams]) == ("Diary", ["entries", "photos", "notes"])
    assert (stream.semantics, stream.primary_key) == ("mutable_state", ("id",))
    assert (stream.cursor_field, stream.consent_time_field) == ("written_at", "written_at")
    assert stream.views == (View("titles", "Titles", ("id", "title", "written_at")),)
    assert stream.relationships == (Relationship("photos", "photos", "entry_id", "has_many"),)
    assert stream.expansions == (Expansion("photos", 5, 20),)
    assert stream.range_filters == {"written_at": ("gte", "lt"), "mood": ("gt",)}
    assert (stream.lexical_fields, stream.semantic_fields) == (("title", "body"), ("body",))
    assert stream.aggregations == Aggregations(
        count=True,
        sum=("mood",),
        min=("mood", "written_at"),
        max=("day",),
        count_distinct=("title",),
        group_by=("mood",),
        group_by_time=("written_at", "day"),
    )
    assert (stream.label, stream.detail) == ("Diary entries", "Title, text and date.")
    assert stream.description == "One entry a day."
    assert (stream.selects_fields, stream.selects_resources) == (True, True)
    assert (declaration.streams["photos"].selects_fields, declaration.streams["notes"].selects_resources) == (
        False,
        False,
    )


def test_the_document_is_kept_as_published() -> None:
    assert decode_declaration(diary()).document == diary()


def test_a_field_has_the_one_type_that_its_schema_allows() -> None:
    fields = decode_declaration(diary()).streams["entries"].fields

    assert {name: field.type for name, field in fields.items()} == {
        "id": "string",
        "title": "string",
        "body": "string",
        "mood": "integer",
        "written_at": "date-time",
        "day": "date",
        "place": "mixed",
        "score": "mixed",
    }
    assert (fields["title"].role, fields["body"].role) == ("primary-title", None)


@pytest.mark.parametrize("schema", [True, {}, {"type": "null"}, {"type": ["null"]}, {"x_pdpp_role": 3}])
def test_a_field_of_no_one_type_is_mixed(schema: object) -> None:
    field = decode_declaration(spoilt(lambda d: properties(d).update(score=schema))).streams["entries"].fields["score"]

    assert (field.type, field.role) == ("mixed", None)


@pytest.mark.parametrize(
    ("limits", "expansion"),
    [
        ({}, (10, 50)),
        ({"max_limit": 3}, (3, 3)),
        ({"max_limit": 80}, (10, 80)),
        ({"default_limit": 60}, (60, 60)),
        ({"default_limit": 2}, (2, 50)),
    ],
)
def test_a_limit_left_out_is_the_usual_one(limits: dict[str, int], expansion: tuple[int, int]) -> None:
    document = spoilt(lambda d: entries(d)["query"].update(expand=[{"name": "photos", **limits}]))

    assert decode_declaration(document).streams["entries"].expansions == (Expansion("photos", *expansion),)


def test_the_extras_of_a_manifest_are_accepted_and_kept() -> None:
    document = diary() | {"connector_key": "diary", "version": "1.2.3", "setup": {"steps": []}}

    assert decode_declaration(document).document == document


def test_a_manifest_may_carry_its_declaration_inside() -> None:
    manifest = {"connector_id": SOURCE_ID, "display_name": "Diary", "streams": [], "source_declaration": diary()}

    assert decode_declaration(manifest).document == diary()


def test_faults_of_a_carried_declaration_are_placed_in_the_manifest() -> None:
    inner = spoilt(lambda d: d.update(connector_key="diary"))

    assert failures({"source_declaration": inner, "other": 1}) == {
        ("unknown_member", "/other", "other"),
        ("unknown_member", "/source_declaration/connector_key", "connector_key"),
    }
    assert failures({"source_declaration": spoilt(lambda d: entries(d).update(primary_key=["no"]))}) == {
        ("unknown_schema_field", "/source_declaration/streams/0/primary_key/0", "no")
    }


SHAPES: dict[str, tuple[Spoil, tuple[str, str, str]]] = {
    "member": (lambda d: d.update(colour="red"), ("unknown_member", "/colour", "colour")),
    "stream member": (
        lambda d: entries(d).update(incremental=True),
        ("unknown_member", "/streams/0/incremental", "incremental"),
    ),
    "selection member": (
        lambda d: entries(d)["selection"].update(resource_field="id"),
        ("unknown_member", "/streams/0/selection/resource_field", "resource_field"),
    ),
    "no source": (lambda d: d.pop("source"), ("missing_member", "/source", "source")),
    "no semantics": (
        lambda d: entries(d).pop("semantics"),
        ("missing_member", "/streams/0/semantics", "semantics"),
    ),
    "protocol": (lambda d: d.update(protocol_version="0.2.0"), ("invalid_value", "/protocol_version", "0.2.0")),
    "kind": (lambda d: d["source"].update(kind="file"), ("invalid_value", "/source/kind", "file")),
    "relative id": (lambda d: d["source"].update(id="diary"), ("invalid_value", "/source/id", "diary")),
    "no key": (
        lambda d: d["source"].update(id="https://registry.pdpp.dev/connectors/"),
        ("invalid_value", "/source/id", "https://registry.pdpp.dev/connectors/"),
    ),
    "version": (lambda d: d.update(declaration_version=3), ("invalid_value", "/declaration_version", "3")),
    "no streams": (lambda d: d.update(streams=[]), ("invalid_value", "/streams", "[]")),
    "semantics": (
        lambda d: entries(d).update(semantics="log"),
        ("invalid_value", "/streams/0/semantics", "log"),
    ),
    "no primary key": (lambda d: entries(d).update(primary_key=[]), ("invalid_value", "/streams/0/primary_key", "[]")),
    "primary key twice": (
        lambda d: entries(d).update(primary_key=["id", "id"]),
        ("invalid_value", "/streams/0/primary_key", '["id","id"]'),
    ),
    "selection": (
        lambda d: entries(d)["selection"].update(fields="yes"),
        ("invalid_value", "/streams/0/selection/fields", "yes"),
    ),
    "operator": (
        lambda d: entries(d)["query"]["range_filters"].update(mood=["ne"]),
        ("invalid_value", "/streams/0/query/range_filters/mood/0", "ne"),
    ),
    "cardinality": (
        lambda d: entries(d)["relationships"][0].update(cardinality="some"),
        ("invalid_value", "/streams/0/relationships/0/cardinality", "some"),
    ),
    "extension": (lambda d: d.update(extensions={"colour": 1}), ("invalid_value", "/extensions", '{"colour":1}')),
    "list": (lambda d: d.update(display=[]), ("invalid_value", "/display", "[]")),
}


@requirement("store.declarations.shape")
@pytest.mark.parametrize("name", SHAPES)
def test_a_wrong_shape_is_refused_with_its_place(name: str) -> None:
    spoil, expected = SHAPES[name]

    assert failures(spoilt(spoil)) == {expected}


@requirement("store.declarations.shape")
@pytest.mark.parametrize("document", [None, [], "diary", 3, {}])
def test_what_is_no_declaration_at_all_is_refused(document: object) -> None:
    assert failures(document)


@requirement("store.declarations.shape")
def test_a_refusal_names_the_first_faults_plainly_and_lists_them_all() -> None:
    document = spoilt(lambda d: d.update(a=1, b=2, c=3, protocol_version="9"))

    with pytest.raises(InvalidDeclaration) as refused:
        decode_declaration(document)

    assert len(failures(document)) == 4
    assert "and 1 more" in refused.value.message
    assert "'a' is no member here; valid are capabilities, connector_id" in refused.value.message
    assert refused.value.param in {"/a", "/b", "/c", "/protocol_version"}


@requirement("store.declarations.shape")
@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b'{"a": "\xff"}',
        b"[" * 5000,
        b"[" * 100 + b"]" * 100,
        orjson.dumps(diary()) + b" " * 1_048_576,
        b'{"a": NaN}',
    ],
    ids=["empty", "cut", "not-utf8", "too-deep-to-parse", "too-deep", "too-long", "not-a-number"],
)
def test_text_that_is_no_document_is_refused(text: bytes) -> None:
    with pytest.raises(FaultyDeclaration):
        parse_declaration(text)


def test_text_is_parsed() -> None:
    assert parse_declaration(orjson.dumps(diary())) == decode_declaration(diary())


def test_nesting_is_accepted_up_to_64_levels() -> None:
    def nested(levels: int) -> dict[str, Any]:
        inner: Any = 1
        for _ in range(levels - 2):  # the document and its extensions are two already
            inner = [inner]
        return spoilt(lambda d: d["extensions"].update({"https://example.org/deep": inner}))

    assert decode_declaration(nested(64))
    with pytest.raises(FaultyDeclaration, match="deeper than 64"):
        decode_declaration(nested(65))


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container of a document with each of its keys."""
    match value:
        case dict():
            items = list(value.items())
        case list():
            items = list(enumerate(value))
        case _:
            return []
    return [(value, key) for key, _ in items] + [place for _, child in items for place in places(child)]


@requirement("store.declarations.shape")
@given(data=st.data())
def test_any_change_of_one_place_is_decoded_or_refused_and_nothing_else(data: st.DataObject) -> None:
    document = diary()
    container, key = data.draw(st.sampled_from(places(document)), label="place")
    container[key] = data.draw(
        st.none()
        | st.booleans()
        | st.integers(-3, 3)
        | st.text(max_size=3)
        | st.sampled_from([[], {}, [[]], "id", "*"])
    )

    try:
        declaration = decode_declaration(document)
    except FaultyDeclaration as refused:
        assert refused.failures
        assert all(failure.code.startswith("source.declaration.") for failure in refused.failures)
    else:
        assert declaration.document == document
