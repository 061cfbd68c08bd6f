"""Arguments of the tools: how shared ones are listed, what a model means by them, how a wrong one is refused."""

import re
from collections.abc import Mapping
from typing import Any, get_args

from pdpp_server.errors import InvalidExpand, InvalidFilter, InvalidRequest
from pdpp_server.mcp.session import is_object
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
# Without these more is shown, so one that says nothing must not be taken for one that was left out.
NARROWING = frozenset({"fields", "view"})
_WHOLE = re.compile(r"-?[0-9]{1,15}")


def meant(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without the optional ones that say nothing, and with whole numbers as numbers.

    Many clients list every argument as required, so their models fill in null or something empty.
    """
    listed, required = schema.get("properties", {}), schema.get("required", ())
    kept: dict[str, Any] = {}
    for name, value in arguments.items():
        if name not in listed:
            kept[name] = value
        elif name in required or name in NARROWING or not _says_nothing(listed[name], value):
            kept[name] = _as_number(listed[name], value)
    return kept


def _says_nothing(listed: Mapping[str, Any], value: Any) -> bool:
    """An empty list or object only where one is taken: elsewhere it is a mistake."""
    if value is None or value == "":
        return True
    if value == []:
        return listed.get("type") == "array"
    return value == {} and listed.get("type") == "object"


def _as_number(listed: Mapping[str, Any], value: Any) -> Any:
    """JSON does not tell 5.0 from 5, and models do not always tell "5" from it."""
    if listed.get("type") == "integer":
        is_whole = type(value) is float and value.is_integer()
        is_written = isinstance(value, str) and _WHOLE.fullmatch(value)
        return int(value) if is_whole or is_written else value
    each: Any = listed.get("additionalProperties")
    if is_object(each) and is_object(value):
        return {name: _as_number(each, one) for name, one in value.items()}
    return value


def refusal_of(name: str | None, message: str) -> InvalidRequest:
    """What a wrong argument is refused as: some have a code of their own."""
    if name == "filter":
        return InvalidFilter(message, param=name, remedy=FILTER_REMEDY)
    if name == "expand_limit":
        return InvalidExpand(message, param=name, remedy=EXPAND_REMEDY)
    if name in NARROWING:
        return InvalidRequest(message, param=name, remedy=f"Leave {name} out to see all granted fields.")
    return InvalidRequest(message, param=name)
