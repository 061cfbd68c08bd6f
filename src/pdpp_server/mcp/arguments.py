"""Arguments of the tools: how shared ones are listed, what a model means by them, how a wrong one is refused."""

import re
from collections.abc import Mapping
from typing import Any, get_args

from pdpp_server.errors import InvalidExpand, InvalidFilter, InvalidRequest
from pdpp_server.mcp.session import is_object
from pdpp_server.model.parameters import Parameter, parameters
from pdpp_server.model.queries import Comparison
from pdpp_server.wire.tools import EXPAND_REMEDY, FILTER_REMEDY

_RANGES = [name for name in get_args(Comparison) if name != "eq"]

_TEXT: Mapping[str, Any] = {"type": "string", "minLength": 1}
_NAMES: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}, "minItems": 1}
_FILTER: Mapping[str, Any] = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {
        "type": ["string", "number", "boolean", "object"],
        "properties": {name: {"type": ["string", "number"]} for name in _RANGES},
        "additionalProperties": False,
        "minProperties": 1,
    },
}
_EXPAND_LIMIT: Mapping[str, Any] = {
    "type": "object",
    "description": '{"relation":3}',
    "minProperties": 1,
    "additionalProperties": {"type": "integer", "minimum": 1},
}


def input_schema(properties: Mapping[str, Any], *required: str) -> Mapping[str, Any]:
    closed = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**closed, "required": list(required)} if required else closed


def arguments_for(query: type) -> dict[str, Any]:
    """How a tool lists what a query takes."""
    listed: dict[str, Any] = {}
    for each in parameters(query):
        if each.hint is None:
            continue
        said = {"description": each.hint} if each.hint else {}
        listed[each.tool] = {**_shape(each), **said}
        if each.kind == "expand":
            listed["expand_limit"] = _EXPAND_LIMIT
    return listed


def _shape(each: Parameter) -> Mapping[str, Any]:
    match each.kind:
        case "filter":
            return _FILTER
        case "list" | "commas" | "expand":
            return _NAMES
        case "choice" | "flag":
            return {"enum": list(each.offered)}
        case "whole" | "limit":
            bounds = {"minimum": each.least, "maximum": each.most}
            return {"type": "integer", **{name: bound for name, bound in bounds.items() if bound is not None}}
        case _:
            return _TEXT if each.chars is None else {**_TEXT, "maxLength": each.chars}


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
    if listed.get("type") == "string":
        return value
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
