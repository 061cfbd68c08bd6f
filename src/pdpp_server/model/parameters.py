"""What a caller can say to a read: declared beside the field that keeps it, once for every door."""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from functools import cache
from typing import Any, Literal

# How a value is written. `wire/queries.py` reads and writes each kind, `mcp/arguments.py` lists it for the tools,
# `cli/options.py` takes it in a terminal.
ParameterKind = Literal[
    "text",  # as it is
    "name",  # of a field: not empty
    "whole",  # a number within bounds
    "limit",  # a number that is lowered to the most that is possible
    "choice",  # one of a few words
    "flag",  # one of a few words, the last of which mean yes
    "list",  # repeated
    "commas",  # repeated, or separated by commas
    "sort",  # a field, with a minus before it for descending
    "order",  # whether it ascends
    "filter",
    "expand",
    "cursor",
    "connection",
    "connector",
]
# In the log: plainly, as a digest of the asker's own words, or only that it was given.
Logged = Literal["plainly", "digest", "given"]
_KEY = "parameter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One field of a query, as addresses, tools, the command, the log and cursors know it.

    `says` is its sentence, for people; `hint` the few words for which there is room in a tool. Without `hint` no tool
    takes it, and without `says` no address does, beyond those that stand in its path.
    """

    says: str = ""
    hint: str | None = None
    kind: ParameterKind = "text"
    name: str = ""  # at every door, where it is not the field's
    tool: str = ""  # in tools and on the command line, where it is not `name`
    option: str = ""  # on the command line, where it is another again; its placeholder after a space
    help: str = ""  # there, where `says` speaks of addresses
    choices: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()  # of the choices, in tools
    least: int | None = None
    most: int | None = None
    chars: int | None = None  # the longest that a tool takes
    usual: int | None = None  # in tools, where it is not the field's default
    goes_with: tuple[str, ...] = ()  # nothing without one of these fields
    logged: Logged | None = None
    logged_as: str = ""
    is_bound: bool = False  # a cursor goes on only where this is the same
    is_required: bool = False  # whatever the field's default
    field: str = ""
    default: Any = None

    def counts_in(self, query: object) -> bool:
        """Whether it means anything beside the rest of that query."""
        return not self.goes_with or any(getattr(query, name) is not None for name in self.goes_with)


def said(parameter: Parameter, default: Any = MISSING) -> Any:
    """A field that a caller can fill."""
    metadata = {_KEY: parameter}
    return field(metadata=metadata) if default is MISSING else field(default=default, metadata=metadata)


@cache
def parameters(kind: type) -> tuple[Parameter, ...]:
    """What a query of that kind takes, in the order of its fields."""
    return tuple(_named(each) for each in fields(kind) if _KEY in each.metadata)


def _named(each: Field[Any]) -> Parameter:
    parameter: Parameter = each.metadata[_KEY]
    name = parameter.name or each.name
    tool = parameter.tool or name
    return replace(
        parameter,
        field=each.name,
        name=name,
        tool=tool,
        option=parameter.option or tool.replace("_", "-"),
        help=parameter.help or parameter.says,
        logged_as=parameter.logged_as or tool,
        offered=parameter.offered or parameter.choices,
        default=each.default,
    )


def bound_by(query: object) -> tuple[Any, ...]:
    """What must stay the same from page to page."""
    return tuple([getattr(query, each.field) for each in parameters(type(query)) if each.is_bound])


def arguments_of(query: object, shape: Mapping[ParameterKind, Any]) -> dict[str, Any]:
    """The arguments with which a tool is asked the same; `shape` turns values of a kind into JSON."""
    return dict(_arguments(query, shape))


def _arguments(query: object, shape: Mapping[ParameterKind, Any]) -> Iterator[tuple[str, Any]]:
    for each in parameters(type(query)):
        value = getattr(query, each.field)
        usual = each.default if each.usual is None else each.usual
        if each.hint is not None and value != usual and value is not None:
            yield each.tool, shape[each.kind](value) if each.kind in shape else value
