"""The objects of a long JSON file, one after the other: of a list, of lines, or the only one; memory stays bounded."""

import re
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple, cast

import orjson

from pdpp_server.importers.source import File, Head
from pdpp_server.model.ingest import Rejection
from pdpp_server.wire.envelope import Json

ITEM_BYTES_MAX = 64 * 1024 * 1024
LINE_BYTES_MAX = 32 * 1024 * 1024
FIRST_BYTES = 4096  # enough to know whether it may be JSON
HEAD_BYTES = 64 * 1024  # enough to know the members of the first objects
CHUNK_BYTES = 256 * 1024

_BOM = b"\xef\xbb\xbf"
_SPACE = b" \t\r\n"
_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_TO_BRACKET = re.compile(rb'[^"{}\[\]]*+(?:' + _STRING + rb'[^"{}\[\]]*+)*+', re.DOTALL)
_TOKEN = re.compile(rb"(" + _STRING + rb")(\s*:)?|[{}\[\]]", re.DOTALL)
_HALF = rb"u[dD][89a-fA-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(" + _HALF + rb")|.)")


class Item(NamedTuple):
    place: str
    data: Json


def json_start(head: Head) -> bytes:
    """The beginning of a file that may hold JSON; empty where it cannot, or cannot be opened."""
    first = head.first(FIRST_BYTES).removeprefix(_BOM).lstrip(_SPACE)
    if first and first[:1] not in (b"[", b"{"):
        return b""
    start = head.first(HEAD_BYTES).removeprefix(_BOM).lstrip(_SPACE)
    return start if start[:1] in (b"[", b"{") else b""


def first_members(head: Head) -> frozenset[str]:
    """The names of the members of its first object; several ask for them."""
    if "first_members" not in head.learnt:
        head.learnt["first_members"] = next(members(json_start(head)), frozenset[str]())
    return head.learnt["first_members"]


def members(start: bytes) -> Iterator[frozenset[str]]:
    """The names of the members of each object, from the head of a file, wherever that is cut off."""
    level = 2 if start.startswith(b"[") else 1
    depth, names = 0, set[str]()
    for token in _TOKEN.finditer(start):
        if token[1] is None:
            depth += 1 if token[0] in b"{[" else -1
            if names and depth < level:
                yield frozenset(names)
                names.clear()
        elif token[2] and depth == level:
            names.add(token[1][1:-1].decode("utf-8", "replace"))
    if names:
        yield frozenset(names)


def items(file: File) -> Iterator[Item | Rejection]:
    """The objects of a list, or those at the top; what cannot be read is a rejection, and the next one is tried."""
    with file.open() as stream:
        splitter = _Splitter(stream, file.name)
        for place, raw in splitter.pieces():
            yield decoded_item(raw, place) if isinstance(raw, bytes) else Rejection(place, *raw)


def lines(file: File) -> Iterator[Item | Rejection]:
    """One object a line; a last line that is not finished is still being written, and is no fault."""
    with file.open() as stream:
        number = 0
        while line := stream.readline(LINE_BYTES_MAX):
            number += 1
            place = f"{file.name}:{number}"
            if not line.endswith(b"\n") and len(line) >= LINE_BYTES_MAX:
                yield Rejection(place, "resource_limit", f"the line is longer than {LINE_BYTES_MAX >> 20} MiB")
                _skip_line(stream)
                continue
            raw = line.removeprefix(_BOM) if number == 1 else line
            item = decoded_item(raw, place) if raw.strip() else None
            if isinstance(item, Item) or (item and line.endswith(b"\n")):
                yield item


def _skip_line(stream: BinaryIO) -> None:
    while (line := stream.readline(CHUNK_BYTES)) and not line.endswith(b"\n"):
        pass


def decoded_item(raw: bytes, place: str) -> Item | Rejection:
    try:
        data: Any = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        try:
            data = orjson.loads(_ESCAPE.sub(_whole, raw))
        except orjson.JSONDecodeError:
            return _unreadable(raw, place, error)
    if not isinstance(data, dict):
        return Rejection(place, "invalid_record", "not a JSON object")
    return Item(place, cast(Json, data))


def _whole(escape: re.Match[bytes]) -> bytes:
    """Exports hold halves of characters where a title was cut, which no strict parser takes."""
    return rb"\ufffd" if escape[1] else escape[0]


def _unreadable(raw: bytes, place: str, error: orjson.JSONDecodeError) -> Rejection:
    try:
        raw.decode()
    except UnicodeDecodeError as bad:
        return Rejection(place, "invalid_record", f"byte {bad.start + 1} of it is not UTF-8")
    return Rejection(place, "invalid_record", f"not JSON: {error.msg} (character {error.pos + 1} of it)")


_Fault = tuple[str, str]  # a code and a reason
_CUT: _Fault = ("invalid_record", "the file ends inside it")
_NO_OBJECT: _Fault = ("invalid_record", "not a JSON object")
_TOO_LONG: _Fault = ("resource_limit", f"longer than {ITEM_BYTES_MAX >> 20} MiB")


class _Splitter:
    """Finds where objects end by counting brackets, so that a broken one does not hide those behind it."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream, self._name = stream, name
        self._number = 0
        self._buffer = b""
        self._at = 0  # how far the buffer has been looked at
        self._behind = 0  # where the last object ended
        self._start: int | None = None  # of the object that is being read
        self._too_long = False

    def pieces(self) -> Iterator[tuple[str, bytes | _Fault]]:
        self._fill()
        self._buffer = self._buffer.removeprefix(_BOM).lstrip(_SPACE)
        level = depth = self._at = self._behind = 1 if self._buffer.startswith(b"[") else 0
        while depth >= level and self._next_bracket():
            is_opening = self._buffer[self._at] in b"{["
            if depth == level:
                yield from self._between()
                self._start = self._at if is_opening else None
            self._at += 1
            depth += 1 if is_opening else -1
            if depth == level:
                yield self._object()
        if depth >= level:
            yield from self._between() if self._start is None else ()
            if depth:
                yield self._numbered(_CUT)

    def _numbered(self, piece: bytes | _Fault) -> tuple[str, bytes | _Fault]:
        self._number += 1
        return f"{self._name}:item {self._number}", piece

    def _object(self) -> tuple[str, bytes | _Fault]:
        is_long = self._too_long or self._at - (self._start or 0) > ITEM_BYTES_MAX
        piece = _TOO_LONG if is_long else self._buffer[self._start : self._at]
        self._behind, self._start, self._too_long = self._at, None, False
        return self._numbered(piece)

    def _between(self) -> Iterator[tuple[str, bytes | _Fault]]:
        """Between objects stands nothing but a comma; other values are no objects."""
        if self._buffer[self._behind : self._at].strip(_SPACE + b","):
            yield self._numbered(_NO_OBJECT)

    def _next_bracket(self) -> bool:
        while True:
            found = _TO_BRACKET.match(self._buffer, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._buffer) and self._buffer[self._at] != ord('"'):
                return True
            if not self._fill():
                return False

    def _fill(self) -> bool:
        """As much again as was in vain, so that a long text is not looked through too often."""
        self._forget(self._behind if self._start is None else self._start)
        if len(self._buffer) > ITEM_BYTES_MAX:
            self._forget_all_but_the_end()
        chunk = self._stream.read(max(CHUNK_BYTES, len(self._buffer) - self._at))
        self._buffer += chunk
        return bool(chunk)

    def _forget(self, until: int) -> None:
        self._buffer, self._at, self._behind = self._buffer[until:], self._at - until, 0
        self._start = None if self._start is None else 0

    def _forget_all_but_the_end(self) -> None:
        self._too_long = self._start is not None
        self._forget(self._at)
        if len(self._buffer) > ITEM_BYTES_MAX:  # one text without end: all that matters is that we are inside it
            backslashes = len(self._buffer) - len(self._buffer.rstrip(b"\\"))
            self._buffer = b'"' + b"\\" * (backslashes % 2)
