"""What a declaration of the right shape can still get wrong: names, references, types, schemas."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from jsonschema_rs import Draft202012Validator, ValidationError

from pdpp_server.model.sources import Source
from pdpp_server.model.streams import Expansion, Field, Relationship, Stream
from pdpp_server.wire.shapes import JSON, clipped, pointer

NAME_CHARS = 64
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_CONNECTOR_KEY = re.compile(r"[a-z0-9][a-z0-9._-]*")

Streams = Mapping[str, Stream]
Fields = Mapping[str, Field]
Rules = Mapping[str, Callable[[Field], bool]]  # for each list of names, whether a field fits it


@dataclass(frozen=True, slots=True)
class Failure:
    code: str
    path: str  # a JSON pointer
    reference: str  # the name or value at fault
    says: str = field(default="", compare=False)


def failure(kind: str, path: str, reference: str, says: str) -> Failure:
    return Failure(f"source.declaration.{kind}", path, clipped(reference), says)


def failures_of_source(source: Source, streams: list[Stream], at: str) -> Iterator[Failure]:
    by_name = _by_name(streams)
    key = source.connector_key
    if key != source.id and not _CONNECTOR_KEY.fullmatch(key):
        yield failure("invalid_value", f"{at}/source/id", source.id, "names no connector (a-z 0-9 . _ -)")
    names = [stream.name for stream in streams]
    yield from _repeated("duplicate_stream_name", names, f"{at}/streams", "name")
    for place, stream in enumerate(streams):
        yield from _stream_failures(stream, by_name, f"{at}/streams/{place}")


def failures_of_presets(presets: list[JSON], streams: list[Stream], at: str) -> Iterator[Failure]:
    by_name = _by_name(streams)
    at = f"{at}/selection_presets"
    ids = [preset["id"] for preset in presets]
    yield from _repeated("duplicate_preset_id", ids, at, "id")
    for place, preset in enumerate(presets):
        inside = f"{at}/{place}/streams"
        names = [chosen["name"] for chosen in preset["streams"]]
        yield from _repeated("duplicate_preset_stream_name", names, inside, "name")
        for index, chosen in enumerate(preset["streams"]):
            yield from _preset_stream_failures(chosen, by_name, f"{inside}/{index}")


def _preset_stream_failures(chosen: JSON, streams: Streams, at: str) -> Iterator[Failure]:
    stream = streams.get(chosen["name"])
    if stream is None:
        yield _unknown_stream(chosen["name"], f"{at}/name")
        return
    view: str | None = chosen.get("view")
    if view is not None and "fields" in chosen:
        yield failure("invalid_value", at, stream.name, "has both view and fields, where only one may be given")
    if view is not None and view not in {declared.id for declared in stream.views}:
        yield failure("unknown_view", f"{at}/view", view, "is no view of this stream")
    yield from _unknown_fields(chosen.get("fields", []), stream.fields, f"{at}/fields")


def _stream_failures(stream: Stream, streams: Streams, at: str) -> Iterator[Failure]:
    yield from _stream_name_failures(stream.name, f"{at}/name")
    yield from _schema_failures(dict(stream.schema), f"{at}/schema")
    for name in stream.fields:
        yield from _name_failures(name, f"{at}/schema{pointer('properties', name)}")
    yield from _unknown_fields(stream.primary_key, stream.fields, f"{at}/primary_key")
    for member in ("cursor_field", "consent_time_field"):
        name = getattr(stream, member)
        if name is not None and name not in stream.fields:
            yield _unknown_field(name, f"{at}/{member}")
    yield from _view_failures(stream, f"{at}/views")
    yield from _relationship_failures(stream, streams, f"{at}/relationships")
    yield from _query_failures(stream, f"{at}/query")


def _view_failures(stream: Stream, at: str) -> Iterator[Failure]:
    ids = [view.id for view in stream.views]
    yield from _repeated("duplicate_view_id", ids, at, "id")
    for place, view in enumerate(stream.views):
        yield from _name_failures(view.id, f"{at}/{place}/id")
        yield from _unknown_fields(view.fields, stream.fields, f"{at}/{place}/fields")


def _stream_name_failures(name: str, path: str) -> Iterator[Failure]:
    yield from _name_failures(name, path)
    # A handle would take a dot component for a path, and a selection takes the star for every stream.
    components = name.replace("\\", "/").split("/")
    if name == "*" or "." in components or ".." in components:
        yield failure("invalid_name", path, name, "cannot name a stream")


def _name_failures(name: str, path: str) -> Iterator[Failure]:
    if not name or len(name) > NAME_CHARS or not name.isprintable():
        yield failure("invalid_name", path, name, f"is not made of 1 to {NAME_CHARS} printable characters")


def _schema_failures(schema: JSON, at: str) -> Iterator[Failure]:
    """Compiled only when every reference is known to be local, so that nothing is ever fetched."""
    faults = list(_dialect_failures(schema, at))
    yield from faults
    if faults:
        return
    try:
        Draft202012Validator(schema, offline=True)
    except ValidationError as error:
        path = at + pointer(*error.instance_path)
        yield failure("invalid_schema", path, "schema", f"is no JSON Schema: {clipped(error.message, 200)}")


def _dialect_failures(node: object, at: str) -> Iterator[Failure]:
    for key, value in _items(node):
        path = at + pointer(key)
        match key, value:
            case ("$ref" | "$dynamicRef", str(reference)) if not reference.startswith("#"):
                says = "is no fragment of this schema (#...)"
                yield failure("nonlocal_schema_reference", path, reference, says)
            case ("$schema", str(dialect)) if dialect != DIALECT:
                yield failure("invalid_schema", path, dialect, f"is another dialect than {DIALECT}")
            case _:
                yield from _dialect_failures(value, path)


def _items(node: object) -> Iterable[tuple[str | int, Any]]:
    match node:
        case dict():
            return cast(JSON, node).items()
        case list():
            return enumerate(cast(list[Any], node))
        case _:
            return ()


def _belongs_to(relationship: Relationship, stream: Stream) -> bool:
    """Whether this stream holds the key of the one record that it is related to."""
    return relationship.cardinality == "has_one" and relationship.foreign_key in stream.fields


def _relationship_failures(stream: Stream, streams: Streams, at: str) -> Iterator[Failure]:
    names = [relationship.name for relationship in stream.relationships]
    yield from _repeated("duplicate_relationship_name", names, at, "name")
    for place, relationship in enumerate(stream.relationships):
        inside = f"{at}/{place}"
        yield from _name_failures(relationship.name, f"{inside}/name")
        related = streams.get(relationship.stream)
        if related is None:
            yield _unknown_stream(relationship.stream, f"{inside}/stream")
        elif not relationship.joins_there(related) and not _belongs_to(relationship, stream):
            yield _unknown_field(relationship.foreign_key, f"{inside}/foreign_key")


def _query_failures(stream: Stream, at: str) -> Iterator[Failure]:
    for name in stream.range_filters:
        yield from _asked_field(name, stream.fields, _is_ordered, f"{at}/range_filters{pointer(name)}")
    yield from _ruled_failures(stream, stream, _SEARCHED, f"{at}/search")
    yield from _ruled_failures(stream, stream.aggregations, _AGGREGATED, f"{at}/aggregations")
    yield from _expansion_failures(stream, f"{at}/expand")


def _ruled_failures(stream: Stream, said_by: object, rules: Rules, at: str) -> Iterator[Failure]:
    """Of each list of field names, those that do not fit what the list is for."""
    for member, fits in rules.items():
        names: tuple[str, ...] = getattr(said_by, member)
        for place, name in enumerate(names):
            yield from _asked_field(name, stream.fields, fits, f"{at}/{member}/{place}")


def _expansion_failures(stream: Stream, at: str) -> Iterator[Failure]:
    related = {relationship.name for relationship in stream.relationships}
    names = [expansion.name for expansion in stream.expansions]
    yield from _repeated("duplicate_expand_name", names, at, "name")
    for place, expansion in enumerate(stream.expansions):
        if expansion.name not in related:
            path = f"{at}/{place}/name"
            yield failure("unknown_relationship", path, expansion.name, "is no relationship of this stream")
        if not _is_bounded(expansion):
            says = "needs 1 <= default_limit <= max_limit"
            yield failure("invalid_expand_limits", f"{at}/{place}", expansion.name, says)


def _is_bounded(expansion: Expansion) -> bool:
    return 1 <= expansion.default_limit <= expansion.max_limit


def _asked_field(name: str, fields: Fields, fits: Callable[[Field], bool], path: str) -> Iterator[Failure]:
    if name not in fields:
        yield _unknown_field(name, path)
    elif not fits(fields[name]):
        says = f"is of type {fields[name].type}, which cannot be asked this"
        yield failure("invalid_query_field_type", path, name, says)


def _is_text(declared: Field) -> bool:
    return declared.type == "string" or declared.is_date


def _is_ordered(declared: Field) -> bool:
    return declared.is_number or declared.is_date


_SEARCHED: Rules = {"lexical_fields": _is_text, "semantic_fields": _is_text}
_AGGREGATED: Rules = {
    "sum": lambda declared: declared.is_number,
    "min": _is_ordered,
    "max": _is_ordered,
    "count_distinct": lambda declared: declared.is_scalar,
    "group_by": lambda declared: declared.is_scalar,
    "group_by_time": lambda declared: declared.is_date,
}


def _by_name(streams: list[Stream]) -> dict[str, Stream]:
    return {stream.name: stream for stream in reversed(streams)}


def _repeated(kind: str, names: Iterable[str], at: str, member: str) -> Iterator[Failure]:
    seen: set[str] = set()
    for place, name in enumerate(names):
        if name in seen:
            yield failure(kind, f"{at}/{place}/{member}", name, "is there twice")
        seen.add(name)


def _unknown_fields(names: Iterable[str], fields: Fields, at: str) -> Iterator[Failure]:
    for place, name in enumerate(names):
        if name not in fields:
            yield _unknown_field(name, f"{at}/{place}")


def _unknown_field(name: str, path: str) -> Failure:
    return failure("unknown_schema_field", path, name, "is no property of the schema")


def _unknown_stream(name: str, path: str) -> Failure:
    return failure("unknown_stream", path, name, "is no stream of this declaration")
