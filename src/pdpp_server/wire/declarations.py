"""Source declarations: what a publisher says of a source, checked whole before anything of it is used."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

import orjson

from pdpp_server.errors import InvalidDeclaration
from pdpp_server.model.sources import Declaration, Source
from pdpp_server.model.streams import BLOB_REF, BLOB_ROLE, Aggregations, Expansion, Field, Relationship, Stream, View
from pdpp_server.wire.declaration_failures import (
    NAME_CHARS,
    Failure,
    failure,
    failures_of_presets,
    failures_of_source,
)
from pdpp_server.wire.shapes import JSON, TEXT, URI, Shape, list_of, members

DOCUMENT_BYTES = 1_048_576
DOCUMENT_DEPTH = 64
LEXICAL_FIELDS = 16  # the word index has so many columns
# What a connector's manifest may carry beside the declaration; we keep it and read none of it.
MANIFEST_MEMBERS = (
    "capabilities",
    "connector_id",
    "connector_key",
    "display_name",
    "manifest_uri",
    "profiles",
    "runtime_requirements",
    "sensitivity",
    "setup",
    "source_declaration",
    "version",
)

_TEXT_OR_EMPTY: JSON = {"type": "string"}
_NAME: JSON = {**TEXT, "maxLength": NAME_CHARS}
_NAMES = list_of(TEXT, minItems=1, uniqueItems=True)
_SOME_NAMES = list_of(TEXT, uniqueItems=True)

_VIEW = members({"id": _NAME, "label": _TEXT_OR_EMPTY, "fields": _NAMES})
_RELATIONSHIP = members(
    {"name": _NAME, "stream": TEXT, "foreign_key": TEXT, "cardinality": {"enum": ["has_many", "has_one"]}}
)
_QUERY = members(
    {},
    {
        "range_filters": {
            "type": "object",
            "additionalProperties": list_of({"enum": ["gte", "gt", "lte", "lt"]}, minItems=1, uniqueItems=True),
        },
        "expand": list_of(
            members({"name": TEXT}, {"default_limit": {"type": "integer"}, "max_limit": {"type": "integer"}})
        ),
        "search": members(
            {}, {"lexical_fields": {**_SOME_NAMES, "maxItems": LEXICAL_FIELDS}, "semantic_fields": _SOME_NAMES}
        ),
        "aggregations": members(
            {},
            {
                "count": {"const": True},
                "sum": _SOME_NAMES,
                "min": _SOME_NAMES,
                "max": _SOME_NAMES,
                "count_distinct": _SOME_NAMES,
                "group_by": _SOME_NAMES,
                "group_by_time": _SOME_NAMES,
            },
        ),
    },
)
_STREAM = members(
    {
        "name": _NAME,
        "semantics": {"enum": ["append_only", "mutable_state"]},
        "schema": {"type": "object"},
        "primary_key": _NAMES,
        "selection": members({"fields": {"type": "boolean"}, "resources": {"type": "boolean"}}),
    },
    {
        "description": _TEXT_OR_EMPTY,
        "display": members({}, {"label": _TEXT_OR_EMPTY, "detail": _TEXT_OR_EMPTY}),
        "cursor_field": TEXT,
        "consent_time_field": TEXT,
        "views": list_of(_VIEW),
        "relationships": list_of(_RELATIONSHIP),
        "query": _QUERY,
    },
)
_PRESET = members(
    {
        "id": _NAME,
        "label": _TEXT_OR_EMPTY,
        "streams": list_of(members({"name": TEXT}, {"fields": _NAMES, "view": TEXT}), minItems=1),
    }
)
_REQUIRED: JSON = {
    "protocol_version": {"const": "0.1.0"},
    "source": members({"kind": {"enum": ["connector", "provider_native"]}, "id": URI}),
    "declaration_version": TEXT,
    "publisher": members({"id": URI}),
    "display": members({"name": TEXT}),
    "streams": list_of(_STREAM, minItems=1),
}
_OPTIONAL: JSON = {
    "selection_presets": list_of(_PRESET),
    "extensions": {"type": "object", "propertyNames": URI},
}
_CORE = Shape(members(_REQUIRED, _OPTIONAL))
_MANIFEST = Shape(members(_REQUIRED, {**_OPTIONAL, **dict.fromkeys(MANIFEST_MEMBERS, True)}))
_WRAPPER = Shape(members({}, dict.fromkeys((*_REQUIRED, *_OPTIONAL, *MANIFEST_MEMBERS), True)))


class FaultyDeclaration(InvalidDeclaration):
    """A source declaration breaks its shape or contradicts itself, at each of the places listed."""

    failures: tuple[Failure, ...] = ()


def parse_declaration(text: bytes) -> Declaration:
    """Raises `FaultyDeclaration`, also where the text is no JSON, too long or too deep."""
    if len(text) > DOCUMENT_BYTES:
        raise FaultyDeclaration(f"The declaration has {len(text)} bytes; at most {DOCUMENT_BYTES} are read.")
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise FaultyDeclaration(f"The declaration is not JSON: {error}.") from error
    return decode_declaration(document)


def decode_declaration(document: object) -> Declaration:
    """Raises `FaultyDeclaration` with every fault of the shape or, where that is right, of the meaning."""
    if _is_deeper_than(document, DOCUMENT_DEPTH):
        raise FaultyDeclaration(f"The declaration is nested deeper than {DOCUMENT_DEPTH} levels.")
    whole = cast(JSON, document)
    if isinstance(document, dict) and "source_declaration" in document:
        inner, at = whole["source_declaration"], "/source_declaration"
        _refuse([*_shape_failures(_WRAPPER, whole), *_shape_failures(_CORE, inner, at)])
        return _decode(inner, at)
    _refuse(_shape_failures(_MANIFEST, whole))
    return _decode(whole, "")


def is_sensitive(declaration: Declaration) -> bool:
    """Whether its publisher says that this source needs more care than others."""
    return declaration.document.get("sensitivity") == "sensitive"


class Preset(NamedTuple):
    """A usual choice, in the publisher's words; of each stream the view or the fields that it takes."""

    id: str
    label: str
    streams: Mapping[str, tuple[str | None, tuple[str, ...] | None]]


def presets_of(declaration: Declaration) -> tuple[Preset, ...]:
    documents: list[JSON] = declaration.document.get("selection_presets", [])
    return tuple(
        Preset(
            document["id"],
            document.get("label") or document["id"],
            {
                each["name"]: (each.get("view"), tuple(each["fields"]) if "fields" in each else None)
                for each in document["streams"]
            },
        )
        for document in documents
    )


def required_fields(stream: Stream) -> frozenset[str]:
    """Fields without which a record of the stream is none."""
    return (frozenset[str](stream.schema.get("required", ())) | {*stream.primary_key}) & stream.fields.keys()


def _decode(document: JSON, at: str) -> Declaration:
    source = Source(document["source"]["kind"], document["source"]["id"])
    streams = [_stream(stream) for stream in document["streams"]]
    presets: list[JSON] = document.get("selection_presets", [])
    _refuse([*failures_of_source(source, streams, at), *failures_of_presets(presets, streams, at)])
    return Declaration(
        source=source,
        version=document["declaration_version"],
        publisher=document["publisher"]["id"],
        name=document["display"]["name"],
        streams={stream.name: stream for stream in streams},
        document=document,
    )


def _shape_failures(shape: Shape, document: object, at: str = "") -> Iterator[Failure]:
    for fault in shape.faults(document):
        yield failure(fault.kind, at + fault.path, fault.reference, fault.says)


def _refuse(failures: Iterable[Failure]) -> None:
    found = list(failures)
    if not found:
        return
    named = [f"{one.path or '/'}: {one.reference!r} {one.says}" for one in found[:3]]
    if len(found) > 3:
        named.append(f"and {len(found) - 3} more")
    refusal = FaultyDeclaration(f"The declaration is refused. {'; '.join(named)}.", param=found[0].path)
    refusal.failures = tuple(found)
    raise refusal


def _stream(document: JSON) -> Stream:
    query: JSON = document.get("query", {})
    search: JSON = query.get("search", {})
    display: JSON = document.get("display", {})
    return Stream(
        name=document["name"],
        semantics=document["semantics"],
        fields=_fields(document["schema"]),
        primary_key=tuple(document["primary_key"]),
        schema=document["schema"],
        cursor_field=document.get("cursor_field"),
        consent_time_field=document.get("consent_time_field"),
        selects_fields=document["selection"]["fields"],
        selects_resources=document["selection"]["resources"],
        views=tuple(View(view["id"], view["label"], tuple(view["fields"])) for view in document.get("views", [])),
        relationships=tuple(Relationship(**relationship) for relationship in document.get("relationships", [])),
        expansions=tuple(_expansion(expand) for expand in query.get("expand", [])),
        range_filters={name: tuple(operators) for name, operators in query.get("range_filters", {}).items()},
        lexical_fields=tuple(search.get("lexical_fields", [])),
        semantic_fields=tuple(search.get("semantic_fields", [])),
        aggregations=_aggregations(query.get("aggregations", {})),
        label=display.get("label"),
        detail=display.get("detail"),
        description=document.get("description"),
    )


def _fields(schema: JSON) -> dict[str, Field]:
    properties = schema.get("properties")
    declared = cast(JSON, properties) if isinstance(properties, dict) else {}
    return {name: _field(name, value) for name, value in declared.items()}


def _field(name: str, schema: object) -> Field:
    declared = cast(JSON, schema) if isinstance(schema, dict) else {}
    role = declared.get("x_pdpp_role", BLOB_ROLE if name == BLOB_REF else None)
    return Field(name, _type(declared), declared, role if isinstance(role, str) else None)


def _type(schema: JSON) -> str:
    match schema.get("type"):
        case str(one):
            types = [one]
        case [*several]:
            types = [str(one) for one in several if one != "null"]
        case _:
            types = []
    if types == ["string"] and schema.get("format") in ("date", "date-time"):
        return schema["format"]
    return types[0] if len(types) == 1 and types != ["null"] else "mixed"


def _expansion(document: JSON) -> Expansion:
    """A limit left out is the usual one, as far as the other allows it."""
    usual = Expansion(document["name"])
    default, maximum = document.get("default_limit"), document.get("max_limit")
    if default is None:
        default = usual.default_limit if maximum is None else min(usual.default_limit, maximum)
    if maximum is None:
        maximum = max(usual.max_limit, default)
    return Expansion(usual.name, int(default), int(maximum))


def _aggregations(document: JSON) -> Aggregations:
    listed: dict[str, Any] = {name: tuple(value) for name, value in document.items() if name != "count"}
    return Aggregations(count="count" in document, **listed)


def _is_deeper_than(value: object, levels: int) -> bool:
    """Level by level, because a document that is too deep must not exhaust the stack that finds it so."""
    level = [value]
    for _ in range(levels):
        level = [child for node in level for child in _children(node) if isinstance(child, dict | list)]
    return bool(level)


def _children(value: object) -> Iterable[Any]:
    match value:
        case dict():
            return cast(JSON, value).values()
        case list():
            return cast(list[Any], value)
        case _:
            return ()
