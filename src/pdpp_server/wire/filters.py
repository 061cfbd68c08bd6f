"""Filters in a query string: `filter[field]=value`, `filter[field][gte]=value`."""

from collections.abc import Iterable
from typing import cast, get_args

from pdpp_server.errors import InvalidFilter
from pdpp_server.model.queries import Comparison, Condition
from pdpp_server.wire.params import Parameter, Params

RANGES = tuple(name for name in get_args(Comparison) if name != "eq")
_TEXT = {"type": "string"}
FILTER = Parameter(
    "filter",
    "`filter[field]=value` for equal; `filter[field][gte|gt|lte|lt]=value` where the stream declares such a range.",
    {"anyOf": [_TEXT, {"type": "object", "properties": dict.fromkeys(RANGES, _TEXT), "additionalProperties": False}]},
    nested=True,
)


def decode_filter(params: Params) -> tuple[Condition, ...]:
    return tuple(_condition(path, value) for path, value in params.nested(FILTER.name))


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
            raise InvalidFilter(f"A filter is [field] or [field][{'|'.join(RANGES)}].", param=FILTER.name)


def _name(condition: Condition) -> str:
    field = f"{FILTER.name}[{condition.field}]"
    return field if condition.comparison == "eq" else f"{field}[{condition.comparison}]"
