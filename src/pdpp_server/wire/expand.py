"""Expansions in a query string: `expand=relation`, `expand_limit[relation]=n`."""

from collections.abc import Iterable

from pdpp_server.errors import InvalidExpand
from pdpp_server.model.queries import Expand
from pdpp_server.wire.params import POSITIVE, ParameterRow, Params

EXPAND_LIMIT = ParameterRow(
    "expand_limit", "`expand_limit[relation]=n`: how many of them at the most.", POSITIVE, nested=True
)


def decode_expand(params: Params) -> tuple[Expand, ...]:
    limits = {path: params.positive(value, "expand_limit") for path, value in params.nested("expand_limit")}
    names = params.texts("expand") or ()
    for path in limits:
        if len(path) != 1 or path[0] not in names:
            raise InvalidExpand("expand_limit[relation] needs the same relation in expand.", param="expand_limit")
    return tuple(Expand(name, limits.get((name,))) for name in names)


def encode_expand(expand: Iterable[Expand]) -> dict[str, str | int | tuple[str, ...]]:
    """As parameters for `url`."""
    limits = {f"expand_limit[{each.name}]": each.limit for each in expand if each.limit is not None}
    names = tuple(each.name for each in expand)
    return {"expand": names, **limits} if names else {}
