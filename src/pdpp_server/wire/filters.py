"""Filters in a query string: `filter[field]=value`, `filter[field][gte]=value`."""

from collections.abc import Iterable, Mapping
from typing import Any, cast, get_args

from pdpp_server.errors import InvalidFilter
from pdpp_server.model.queries import Comparison, Condition
from pdpp_server.wire.params import Params

RANGES = tuple(name for name in get_args(Comparison) if name != "eq")
_TEXT = {"type": "string"}
FILTER = "filter"
FILTER_SCHEMA: Mapping[str, Any] = {
    "anyOf": [_TEXT, {"type": "object", "properties": dict.fromkeys(RANGES, _TEXT), "additionalProperties": False}]
}


def decode_filter(params: Params) -> tuple[Condition, ...]:
    return tuple(_condition(path, value) for path, value in params.nested(FILTER))


def encode_filter(conditions: Iterable[Condition]) -> dict[str, str]:
    """As parameters for `url`."""
    return {_name(condition): condition.value for condition in conditions}


def _condition(path: tuple[str, ...], value: str) -> Condition:
    match path:
        case (field,):
            return Condition(field, "eq", value)
        case (field, operator) if operator in RANGES:
            return Condition(field, cast("Comparison", operator), value)
        case _:
            raise InvalidFilter(f"A filter is [field] or [field][{'|'.join(RANGES)}].", param=FILTER)


def _name(condition: Condition) -> str:
    field = f"{FILTER}[{condition.field}]"
    return field if condition.comparison == "eq" else f"{field}[{condition.comparison}]"
