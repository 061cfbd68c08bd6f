"""Shapes: strangers' JSON held against a JSON Schema, each fault with its place and what would be valid."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import orjson
from jsonschema_rs import Draft202012Validator, ValidationError, ValidationErrorKind

JSON = dict[str, Any]

TEXT: JSON = {"type": "string", "minLength": 1}
URI: JSON = {"type": "string", "format": "uri"}
REFERENCE_CHARS = 80


@dataclass(frozen=True, slots=True)
class ShapeFault:
    kind: str  # "unknown_member" | "missing_member" | "invalid_value"
    path: str
    reference: str
    says: str


class Shape:
    """One JSON Schema of ours, compiled once."""

    def __init__(self, schema: JSON) -> None:
        self._schema = schema
        self._validator = Draft202012Validator(schema, validate_formats=True, offline=True, mask="this")

    def fits(self, document: object) -> bool:
        return self._validator.is_valid(cast(Any, document))

    def faults(self, document: object) -> Iterator[ShapeFault]:
        for error in self._validator.iter_errors(cast(Any, document)):
            yield from self._faults_of(error)

    def _faults_of(self, error: ValidationError) -> Iterator[ShapeFault]:
        match error.kind:
            case ValidationErrorKind.AdditionalProperties(unexpected=names):
                valid = ", ".join(self._members_beside(error))
                for name in names:
                    path = pointer(*error.instance_path, name)
                    yield ShapeFault("unknown_member", path, clipped(name), f"is no member here; valid are {valid}")
            case ValidationErrorKind.Required(property=name):
                yield ShapeFault("missing_member", pointer(*error.instance_path, name), clipped(name), "is missing")
            case _:
                place = pointer(*error.instance_path)
                yield ShapeFault(
                    "invalid_value", place, _shown(error.instance), f"is refused: {clipped(error.message, 200)}"
                )

    def _members_beside(self, error: ValidationError) -> list[str]:
        node: Any = self._schema
        for step in error.schema_path[:-1]:
            node = node[step]
        return sorted(node["properties"])


def members(required: JSON, optional: JSON | None = None) -> JSON:
    """An object with these members and no others."""
    properties = {**required, **(optional or {})}
    return {"type": "object", "additionalProperties": False, "required": [*required], "properties": properties}


def list_of(items: JSON, **limits: Any) -> JSON:
    return {"type": "array", "items": items, **limits}


def pointer(*steps: str | int) -> str:
    """A JSON pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def clipped(text: str, limit: int = REFERENCE_CHARS) -> str:
    """At most `limit` characters; a cut is always marked."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _shown(value: object) -> str:
    return clipped(value if isinstance(value, str) else orjson.dumps(value, default=str).decode())
