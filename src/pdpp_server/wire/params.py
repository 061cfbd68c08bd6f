"""Query strings: the one strict reader of parameters, for every endpoint."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_to_bytes

from pdpp_server.errors import InvalidArgument, InvalidCursor, InvalidRequest
from pdpp_server.model.ingest import Target
from pdpp_server.model.records import Warned
from pdpp_server.model.sources import Source

DEPTH_MAX, LIST_MAX = 8, 64
ALIAS = "connector_instance_id"

_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_NAME = re.compile(r"([^\[\]]+)((?:\[[^\[\]]*\])*)")
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_INTEGER = re.compile(r"-?[0-9]{1,18}")

NestedPath = tuple[str, ...]


def _text_schema() -> Mapping[str, Any]:
    return {"type": "string"}


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """One parameter of one endpoint: the same row refuses what is not listed and prints the OpenAPI document."""

    name: str
    says: str
    schema: Mapping[str, Any] = field(default_factory=_text_schema)  # of one value
    required: bool = False
    repeats: bool = False  # a list: `a=1&a=2` or `a[]=1&a[]=2`
    nested: bool = False  # an object: `a[b]=1`, `a[b][c]=1`


CONNECTION_ID = ParameterRow("connection_id", "Only this connection.")
ALIAS_PARAMETER = ParameterRow(ALIAS, "An old name of connection_id.")
TARGET = (
    ParameterRow("connector_id", "The connector that is written for: its key, or its registry address.", required=True),
    CONNECTION_ID,
    ALIAS_PARAMETER,
)
SUBJECT_ID = ParameterRow("subject_id", "Taken and not used: a server holds the data of one person.")
POSITIVE: Mapping[str, Any] = {"type": "integer", "minimum": 1}


class Params:
    """Parameters by path: `a[b]=1` is the path ("a", "b"). Whoever reads them says first which ones exist."""

    def __init__(self, pairs: tuple[tuple[NestedPath, str], ...]) -> None:
        self.pairs = pairs
        self.warnings: list[Warned] = []
        self._given: dict[str, list[tuple[NestedPath, str]]] = {}
        for path, value in pairs:
            self._given.setdefault(path[0], []).append((path, value))

    @classmethod
    def parse(cls, raw: bytes) -> "Params":
        return cls(tuple(_pairs(raw)))

    def only(self, *parameters: ParameterRow) -> None:
        """Refuse every parameter that is not listed, and every one of another shape."""
        if not self.pairs:
            return
        known = {parameter.name: parameter for parameter in parameters}
        for path, _ in self.pairs:
            parameter = known.get(path[0])
            if parameter is None or not _fits(parameter, path):
                names = ", ".join(f"{name}[...]" if known[name].nested else name for name in known) or "none"
                raise InvalidRequest(f"No parameter is called {_shown(path)}. Valid: {names}.", param=path[0])
        for parameter in parameters:
            if parameter.name in self._given:
                self._check_repeats(parameter)

    def _check_repeats(self, parameter: ParameterRow) -> None:
        name = parameter.name
        paths = [path for path, _ in self._given[name]]
        if not parameter.repeats and len(set(paths)) < len(paths):
            raise InvalidRequest(f"{name} may be given once.", param=name)
        if len(paths) > LIST_MAX:
            raise InvalidRequest(f"{name} takes at most {LIST_MAX} values.", param=name)

    def text(self, name: str) -> str | None:
        values = self._values(name)
        return values[0] if values else None

    def texts(self, name: str) -> tuple[str, ...] | None:
        """The values of a list parameter, each once; None where it was not given."""
        values = tuple(dict.fromkeys(self._values(name)))
        if any(not value for value in values):
            raise InvalidRequest(f"{name} has an empty value.", param=name)
        return values or None

    def comma_separated(self, name: str) -> tuple[str, ...] | None:
        """Like `texts`, and one value may hold several, separated by commas."""
        values = tuple(dict.fromkeys(part for value in self._values(name) for part in value.split(",")))
        if any(not value for value in values):
            raise InvalidRequest(f"{name} has an empty value.", param=name)
        return values or None

    def whole(
        self, name: str, least: int | None, most: int | None, refusal: type[InvalidRequest] = InvalidRequest
    ) -> int | None:
        """A number within its bounds."""
        value = self.text(name)
        if value is None:
            return None
        if not _INTEGER.fullmatch(value):
            raise refusal(f"{name} must be a whole number.", param=name)
        number = int(value)
        is_small, is_large = least is not None and number < least, most is not None and number > most
        if is_small or is_large:
            bounds = f"at least {least}" if most is None else f"from {least} to {most}"
            raise refusal(f"{name} must be {bounds}.", param=name)
        return number

    def has(self, name: str) -> bool:
        return name in self._given

    def has_any(self, names: frozenset[str]) -> bool:
        return not names.isdisjoint(self._given)

    def choice(self, name: str, choices: tuple[str, ...]) -> str | None:
        value = self.text(name)
        if value is not None and value not in choices:
            raise InvalidRequest(f"{name} must be one of: {', '.join(choices)}.", param=name)
        return value

    def positive(self, value: str, param: str) -> int:
        """A value of a nested parameter as a number above zero."""
        if not _INTEGER.fullmatch(value) or int(value) <= 0:
            raise InvalidRequest(f"{param} takes whole numbers above 0.", param=param)
        return int(value)

    def cursor(self) -> str | None:
        cursor = self.text("cursor")
        if cursor == "":
            raise InvalidCursor("cursor must not be empty.", param="cursor")
        return cursor

    def connection_id(self) -> str | None:
        """The connection asked for, by its name or its deprecated alias; empty is none."""
        named, alias = self.text("connection_id") or None, self.text(ALIAS) or None
        if alias is None:
            return named
        if named not in (None, alias):
            raise InvalidArgument(f"connection_id and {ALIAS} name different connections.", param=ALIAS)
        self.warnings.append(
            Warned("deprecated_alias_used", f"{ALIAS} is an old name: use connection_id.", param=ALIAS)
        )
        return alias

    def connector_key(self) -> str | None:
        """The connector asked for, by its key or its registry address; empty is none."""
        named = self.text("connector_id")
        return Source("connector", named).connector_key if named else None

    def target(self) -> Target:
        """The connection that a write is for; its connector must be named."""
        connector_key = self.connector_key()
        if connector_key is None:
            raise InvalidRequest("connector_id must name a connector.", param="connector_id")
        return Target(connector_key, self.connection_id())

    def nested(self, name: str) -> list[tuple[NestedPath, str]]:
        """The paths below an object parameter, with their values: `filter[a][gte]=1` is (("a", "gte"), "1")."""
        return [(path[1:], value) for path, value in self._given.get(name, ())]

    def _values(self, name: str) -> list[str]:
        return [value for _, value in self._given.get(name, ())]


def _fits(parameter: ParameterRow, path: NestedPath) -> bool:
    if parameter.nested:
        return len(path) > 1 and all(path)
    return len(path) == 1 or (parameter.repeats and path[1:] == ("",))


def decode_segment(raw: str) -> str:
    """One segment of a path, percent-decoded once; `+` is itself."""
    return _decoded(raw.encode("ascii"), "path")


def _pairs(raw: bytes) -> Iterator[tuple[NestedPath, str]]:
    for piece in raw.split(b"&"):
        if piece:
            name, _, value = piece.replace(b"+", b" ").partition(b"=")
            path = _path(_decoded(name, "query"))
            yield path, _decoded(value, path[0])


def _path(name: str) -> NestedPath:
    shape = _NAME.fullmatch(name)
    if not shape:
        raise InvalidRequest("A parameter has an empty or malformed name.", param="query")
    path = (shape[1], *_BRACKET.findall(shape[2]))
    if len(path) > DEPTH_MAX:
        raise InvalidRequest(f"{shape[1]} nests deeper than {DEPTH_MAX}.", param=shape[1])
    return path


def _decoded(raw: bytes, param: str) -> str:
    try:
        if _BAD_ESCAPE.search(raw):
            raise InvalidRequest("A percent sign must be followed by two hexadecimal digits.", param=param)
        return unquote_to_bytes(raw).decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidRequest("Percent-encoded text must be UTF-8.", param=param) from None


def _shown(path: NestedPath) -> str:
    return repr(path[0] + "".join(f"[{part}]" for part in path[1:]))
