"""Query strings: the one strict reader of parameters, for every endpoint."""

import re
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from pdpp_server.errors import InvalidArgument, InvalidRequest
from pdpp_server.model.records import Warned

DEPTH_MAX, LIST_MAX = 8, 64
ALIAS = "connector_instance_id"

_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_NAME = re.compile(r"([^\[\]]+)((?:\[[^\[\]]*\])*)")
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_INTEGER = re.compile(r"-?[0-9]{1,18}")

Path = tuple[str, ...]


class Params:
    """Parameters by path: `a[b]=1` is the path ("a", "b"). Whoever reads them says first which ones exist."""

    def __init__(self, pairs: tuple[tuple[Path, str], ...]) -> None:
        self.pairs = pairs
        self.warnings: list[Warned] = []

    @classmethod
    def parse(cls, raw: bytes) -> "Params":
        return cls(tuple(_pairs(raw)))

    def only(self, *singles: str, lists: tuple[str, ...] = ()) -> None:
        """Refuse every parameter that is not named here; only `lists` may be repeated, with or without `[]`."""
        valid = (*singles, *lists)
        for path, _ in self.pairs:
            if path[0] not in valid or (len(path) > 1 and (path[0] in singles or path[1:] != ("",))):
                names = ", ".join(valid)
                raise InvalidRequest(f"No parameter is called {_shown(path)}. Valid: {names}.", param=path[0])
        for name in singles:
            if len(self._values(name)) > 1:
                raise InvalidRequest(f"{name} may be given once.", param=name)
        for name in lists:
            if len(self._values(name)) > LIST_MAX:
                raise InvalidRequest(f"{name} takes at most {LIST_MAX} values.", param=name)

    def text(self, name: str) -> str | None:
        return next(iter(self._values(name)), None)

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

    def integer(self, name: str, *, refusal: type[InvalidRequest] = InvalidRequest) -> int | None:
        value = self.text(name)
        if value is None:
            return None
        if not _INTEGER.fullmatch(value):
            raise refusal(f"{name} must be a whole number.", param=name)
        return int(value)

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

    def _values(self, name: str) -> list[str]:
        return [value for path, value in self.pairs if path[0] == name]


def decode_segment(raw: str) -> str:
    """One segment of a path, percent-decoded once; `+` is itself."""
    return _decoded(raw.encode("ascii"), "path")


def _pairs(raw: bytes) -> Iterator[tuple[Path, str]]:
    for piece in raw.split(b"&"):
        if piece:
            name, _, value = piece.replace(b"+", b" ").partition(b"=")
            path = _path(_decoded(name, "query"))
            yield path, _decoded(value, path[0])


def _path(name: str) -> Path:
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


def _shown(path: Path) -> str:
    return repr(path[0] + "".join(f"[{part}]" for part in path[1:]))
