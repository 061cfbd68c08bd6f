"""The parameters of a read as options of its command, and what was given as the arguments of its tool."""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import click

from pdpp_server.model.parameters import Parameter, parameters
from pdpp_server.wire.envelope import Json, present

Verb = TypeVar("Verb", bound=Callable[..., Any])

_FILTER = re.compile(r"([^=<>]+)(=|>=|>|<=|<)(.*)", re.DOTALL)
_OPERATORS = {">=": "gte", ">": "gt", "<=": "lte", "<": "lt"}


def options_of(query: type, *without: str) -> Callable[[Verb], Verb]:
    """An option for each parameter that the tool of that query takes, but for those that the command places itself."""

    def decorate(verb: Verb) -> Verb:
        for each in reversed(list(_offered(query, without))):
            verb = _option(each)(verb)
        return verb

    return decorate


def arguments_from(query: type, /, **given: Any) -> Json:
    """What the options of a command say, as its tool takes it."""
    arguments: Json = {}
    for each in _offered(query, ()):
        value = given.get(each.field)
        if value is None or value is False or value == ():
            continue
        if each.kind == "expand":
            arguments |= _expand(value)
        else:
            arguments[each.tool] = _argument(each, value)
    return arguments


def listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",")]


def _offered(query: type, without: tuple[str, ...]) -> Iterator[Parameter]:
    for each in parameters(query):
        if each.hint is not None and each.field not in without:
            yield each


def _option(each: Parameter) -> Callable[[Verb], Verb]:
    name, _, metavar = each.option.partition(" ")
    is_number = each.kind in ("whole", "limit")
    return click.option(
        f"--{name}",
        each.field,
        metavar=metavar or None,
        help=each.help,
        multiple=each.kind in ("list", "filter"),
        is_flag=each.kind == "flag",
        type=int if is_number else None,
    )


def _argument(each: Parameter, value: Any) -> Any:
    match each.kind:
        case "flag":
            return each.offered[-1]
        case "list":
            return list(value)
        case "commas":
            return listed(value)
        case "filter":
            return _typed(value)
        case _:
            return value


def _expand(given: str) -> Json:
    """`A,B:3`: two relations, and at most three records of the second."""
    relations = [name.partition(":") for name in listed(given)]
    limits = {name: int(most) if most.isdecimal() else most for name, _, most in relations if most}
    names = [name for name, _, _ in relations]
    return present(expand=names, expand_limit=limits or None)


def _typed(filters: tuple[str, ...]) -> dict[str, Any]:
    """`a=1` and `b>=2` as the typed filter that the tool takes; two bounds of one field are one range."""
    typed: dict[str, Any] = {}
    for given in filters:
        found = _FILTER.fullmatch(given)
        if found is None:
            raise click.UsageError("--filter is FIELD=VALUE, or FIELD with >=, >, <= or < and VALUE.")
        field, operator, value = found[1].strip(), found[2], found[3].strip()
        bounds = {_OPERATORS[operator]: value} if operator in _OPERATORS else value
        known = typed.get(field)
        typed[field] = {**known, **bounds} if isinstance(known, dict) and isinstance(bounds, dict) else bounds
    return typed
