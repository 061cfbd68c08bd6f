"""Arguments that several tools take: how they are listed, and how a wrong one is refused."""

from collections.abc import Mapping
from typing import Any, get_args

from pdpp_server.errors import InvalidExpand, InvalidFilter, InvalidRequest
from pdpp_server.model.queries import Comparison
from pdpp_server.wire.tools import EXPAND_REMEDY, FILTER_REMEDY

_RANGES = [name for name in get_args(Comparison) if name != "eq"]

STREAM: Mapping[str, Any] = {"type": "string", "minLength": 1}
CONNECTION_ID: Mapping[str, Any] = {"type": "string", "minLength": 1, "description": "Only this source"}
FILTER: Mapping[str, Any] = {
    "type": "object",
    "description": '{"field":value}, or {"field":{"gte":value}} where schema shows range',
    "minProperties": 1,
    "additionalProperties": {
        "type": ["string", "number", "boolean", "object"],
        "properties": {name: {"type": ["string", "number"]} for name in _RANGES},
        "additionalProperties": False,
        "minProperties": 1,
    },
}
NAMES: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}, "minItems": 1}
EXPAND: Mapping[str, Any] = {**NAMES, "description": "Relations to add"}
EXPAND_LIMIT: Mapping[str, Any] = {
    "type": "object",
    "description": '{"relation":3}',
    "minProperties": 1,
    "additionalProperties": {"type": "integer", "minimum": 1},
}


def refusal_of(name: str | None, message: str) -> InvalidRequest:
    """What a wrong argument is refused as: some have a code of their own."""
    if name == "filter":
        return InvalidFilter(message, param=name, remedy=FILTER_REMEDY)
    if name == "expand_limit":
        return InvalidExpand(message, param=name, remedy=EXPAND_REMEDY)
    return InvalidRequest(message, param=name)
