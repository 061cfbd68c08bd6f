"""A query at the doors: which parameters an address takes, how they are read, and how they are written again."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

from pdpp_server.errors import InvalidRequest, InvalidSort
from pdpp_server.model.parameters import Parameter, ParameterKind, parameters
from pdpp_server.wire.envelope import limit_clamped
from pdpp_server.wire.expand import EXPAND_LIMIT, decode_expand, encode_expand
from pdpp_server.wire.filters import FILTER_SCHEMA, decode_filter, encode_filter
from pdpp_server.wire.params import ALIAS_PARAMETER, POSITIVE, SUBJECT_ID, ParameterRow, Params

Q = TypeVar("Q")
Written = Mapping[str, str | int | tuple[str, ...] | None]
_BOTH_ORDERS = frozenset({"sort", "order"})  # either says in which direction


# What an address takes --------------------------------------------------------------------------------------------


@cache
def rows(kind: type) -> tuple[ParameterRow, ...]:
    """The parameters of an address, beside its path."""
    return tuple(row for each in parameters(kind) if each.says for row in _rows(each))


def _rows(each: Parameter) -> tuple[ParameterRow, ...]:
    row = ParameterRow(
        each.name,
        each.says,
        _schema(each),
        required=each.is_required,
        repeats=each.kind in ("list", "commas", "sort", "expand"),
        nested=each.kind == "filter",
    )
    beside = {"connection": ALIAS_PARAMETER, "connector": SUBJECT_ID, "expand": EXPAND_LIMIT}.get(each.kind)
    return (row,) if beside is None else (row, beside)


def _schema(each: Parameter) -> Mapping[str, Any]:
    """Of one value."""
    match each.kind:
        case "filter":
            return FILTER_SCHEMA
        case "choice" | "flag" | "order":
            return {"type": "string", "enum": list(each.choices)}
        case "limit":
            return POSITIVE
        case "whole":
            bounds = {"minimum": each.least, "maximum": each.most, "default": each.default}
            return {"type": "integer", **{name: bound for name, bound in bounds.items() if bound is not None}}
        case _:
            return {"type": "string"}


# Reading ----------------------------------------------------------------------------------------------------------


def decode(kind: type[Q], params: Params, **placed: Any) -> Q:
    """A query from what stands in an address; `placed` are the fields that stand in its path."""
    params.only(*rows(kind))
    found = dict(placed)
    for each, names in _read_by(kind):
        if not params.has_any(names):
            continue
        value = _READERS[each.kind](params, each)
        if value is not None:
            found[each.field] = value
    return kind(**found)


@cache
def _read_by(kind: type) -> tuple[tuple[Parameter, frozenset[str]], ...]:
    """What an address takes, each with the names under which something is said of it."""
    said = [each for each in parameters(kind) if each.says]
    return tuple((each, _names(each)) for each in said)


def _names(each: Parameter) -> frozenset[str]:
    if each.kind in ("sort", "order"):
        return _BOTH_ORDERS
    return frozenset(row.name for row in _rows(each))


def require_company(query: object, params: Params) -> None:
    """Refuse what means nothing without another parameter."""
    kind = type(query)
    names = {each.field: each.name for each in parameters(kind)}
    for each in parameters(kind):
        if params.has(each.name) and not each.counts_in(query):
            needed = " or ".join(names[field] for field in each.goes_with)
            raise InvalidRequest(f"{each.name} goes with {needed} only.", param=each.name)


def _text(params: Params, each: Parameter) -> str | None:
    return params.text(each.name)


def _name(params: Params, each: Parameter) -> str | None:
    name = params.text(each.name)
    if name == "":
        raise InvalidRequest(f"{each.name} must name a field.", param=each.name)
    return name


def _whole(params: Params, each: Parameter) -> int | None:
    return params.whole(each.name, each.least, each.most)


def _limit(params: Params, each: Parameter) -> int | None:
    """What is asked for; at the most what is possible, and then with a word about it."""
    asked = params.whole(each.name, each.least, None)
    if asked is None or each.most is None or asked <= each.most:
        return asked
    params.warnings.append(limit_clamped(each.name, asked, each.most))
    return each.most


def _choice(params: Params, each: Parameter) -> str | None:
    return params.choice(each.name, each.choices)


def _flag(params: Params, each: Parameter) -> bool | None:
    """Yes is every choice but the one that says no."""
    chosen = params.choice(each.name, each.choices)
    return None if chosen is None else chosen != "none"


def _sorted_by(params: Params, each: Parameter) -> str | None:
    return _order(params)[0]


def _ascends(params: Params, each: Parameter) -> bool:
    return _order(params)[1]


def _order(params: Params) -> tuple[str | None, bool]:
    """The field to sort by, if one was named, and whether it ascends."""
    order = params.choice("order", ("asc", "desc"))
    sorts = params.comma_separated("sort")
    if sorts is None:
        return None, order == "asc"
    named, descends = {sort.removeprefix("-") for sort in sorts}, {sort.startswith("-") for sort in sorts}
    if len(named) > 1 or len(descends) > 1:
        raise InvalidSort("sort takes one field in one direction.", param="sort")
    ascending = descends == {False}
    if order is not None and (order == "asc") != ascending:
        raise InvalidSort("sort and order name different directions.", param="sort")
    return named.pop(), ascending


_READERS: Mapping[ParameterKind, Callable[[Params, Parameter], Any]] = {
    "text": _text,
    "name": _name,
    "whole": _whole,
    "limit": _limit,
    "choice": _choice,
    "flag": _flag,
    "sort": _sorted_by,
    "order": _ascends,
    "list": lambda params, each: params.texts(each.name),
    "commas": lambda params, each: params.comma_separated(each.name),
    "filter": lambda params, each: decode_filter(params),
    "expand": lambda params, each: decode_expand(params),
    "cursor": lambda params, each: params.cursor(),
    "connection": lambda params, each: params.connection_id(),
    "connector": lambda params, each: params.connector_key(),
}


# Writing ----------------------------------------------------------------------------------------------------------


def encode(query: object) -> Written:
    """As parameters for `url`: what asks another server the same."""
    written: dict[str, str | int | tuple[str, ...] | None] = {}
    for each in parameters(type(query)):
        value = getattr(query, each.field)
        if each.says and value is not None and each.counts_in(query):
            written |= _written(query, each, value)
    return written


def _written(query: Any, each: Parameter, value: Any) -> Written:
    match each.kind:
        case "filter":
            return encode_filter(value)
        case "expand":
            return encode_expand(value)
        case "sort":
            return {each.name: value if query.ascending else f"-{value}"}
        case "order":
            return {each.name: "asc"} if value else {}
        case "flag":
            return {each.name: each.choices[-1]} if value else {}
        case _:
            return {each.name: value}
