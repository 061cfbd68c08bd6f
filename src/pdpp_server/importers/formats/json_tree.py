"""Objects that lie deep in a long JSON file, one after the other, and the plain values on the way to them."""

import re
from collections.abc import Collection, Iterator
from typing import Any, BinaryIO, NamedTuple

import orjson

from pdpp_server.importers.formats.json_items import Item, decoded_item
from pdpp_server.importers.source import File
from pdpp_server.model.ingest import Rejection

ITEM_BYTES_MAX = 16 * 1024 * 1024
CHUNK_BYTES = 256 * 1024
DEPTH_MAX = 32

_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_TOKEN = re.compile(rb"\s*+(?:(" + _STRING + rb')|([{}\[\]])|([,:])|([^\s"{}\[\],:]++))', re.DOTALL)
_TO_BRACKET = re.compile(rb'[^"{}\[\]]*+(?:' + _STRING + rb'[^"{}\[\]]*+)*+', re.DOTALL)

MemberPath = tuple[str, ...]  # names of members; "*" for every place in a list


class Begun(NamedTuple):
    """An object begins whose members are told one by one."""

    path: MemberPath


class Plain(NamedTuple):
    path: MemberPath
    value: Any


class Whole(NamedTuple):
    path: MemberPath
    item: Item | Rejection


def walk(file: File, wanted: Collection[MemberPath]) -> Iterator[Begun | Plain | Whole | Rejection]:
    """In the order of the file; a broken object is a rejection, and what stands behind it is read."""
    with file.open() as stream:
        yield from _Walker(stream, file.name, wanted).events()


class _Walker:
    def __init__(self, stream: BinaryIO, name: str, wanted: Collection[MemberPath]) -> None:
        self._stream, self._name, self._wanted = stream, name, wanted
        self._buffer = b""
        self._at: int = 0
        self._is_over = False
        self._path: list[str] = []  # the member or place that is being read, from the top
        self._lists: list[bool] = []  # which of the containers that are open are lists
        self._awaits_name = False
        self._number = 0

    def events(self) -> Iterator[Begun | Plain | Whole | Rejection]:
        while token := self._token():
            text, bracket, mark, bare = token.groups()
            if bracket in (b"{", b"["):
                if len(self._path) >= DEPTH_MAX:
                    yield Rejection(self._name, "invalid_record", f"nested deeper than {DEPTH_MAX} levels")
                    return
                yield from self._opened(bracket)
            elif bracket:
                self._close()
            elif mark:
                self._awaits_name = mark == b"," and bool(self._lists) and not self._lists[-1]
            elif text and self._awaits_name:
                self._path[-1] = text[1:-1].decode("utf-8", "replace")
                self._awaits_name = False
            else:
                yield from self._plain(text or bare)
        if self._lists:
            yield Rejection(self._place(), "invalid_record", "the file ends inside it")

    def _place(self) -> str:
        self._number += 1
        return f"{self._name}:item {self._number}"

    def _opened(self, bracket: bytes) -> Iterator[Begun | Whole]:
        path = tuple(self._path)
        if bracket == b"{" and path in self._wanted:
            yield Whole(path, self._item())
            return
        self._lists.append(bracket == b"[")
        self._path.append("*" if bracket == b"[" else "")
        self._awaits_name = bracket == b"{"
        if bracket == b"{":
            yield Begun(path)

    def _close(self) -> None:
        if self._lists:
            self._lists.pop()
            self._path.pop()
        self._awaits_name = False

    def _plain(self, raw: bytes) -> Iterator[Plain]:
        try:
            yield Plain(tuple(self._path), orjson.loads(raw))
        except orjson.JSONDecodeError:
            return

    def _token(self) -> re.Match[bytes] | None:
        """None at the end, also of a file that ends inside a text."""
        while True:
            found = _TOKEN.match(self._buffer, self._at)
            if found and (self._is_over or found.end() < len(self._buffer)):
                self._at = found.end()
                return found
            if self._is_over:
                return None
            if len(self._buffer) - self._at > ITEM_BYTES_MAX:
                self._buffer, self._at = self._buffer[-1:], 0  # a text without end
            self._fill(self._at)

    def _item(self) -> Item | Rejection:
        """The object whose first bracket was just read."""
        place = self._place()
        start, depth, is_too_long = self._at - 1, 1, False
        while depth:
            found = _TO_BRACKET.match(self._buffer, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._buffer) and self._buffer[self._at] != ord('"'):
                depth += 1 if self._buffer[self._at] in b"{[" else -1
                self._at += 1
                continue
            if self._is_over:
                self._at = len(self._buffer)
                self._lists.clear()
                return Rejection(place, "invalid_record", "the file ends inside it")
            if self._at - start > ITEM_BYTES_MAX or len(self._buffer) - self._at > ITEM_BYTES_MAX:
                is_too_long, start = True, self._at
            self._fill(start)
            start = 0
            if len(self._buffer) - self._at > 4 * ITEM_BYTES_MAX:  # one text without end: we are inside it
                backslashes = len(self._buffer) - len(self._buffer.rstrip(b"\\"))
                self._buffer, self._at = b'"' + b"\\" * (backslashes % 2), 0
        if is_too_long:
            return Rejection(place, "resource_limit", f"longer than {ITEM_BYTES_MAX >> 20} MiB")
        return decoded_item(self._buffer[start : self._at], place)

    def _fill(self, keep_from: int) -> None:
        """As much again as was in vain, so that a long text is not looked through too often."""
        self._buffer, self._at = self._buffer[keep_from:], self._at - keep_from
        chunk = self._stream.read(max(CHUNK_BYTES, len(self._buffer) - self._at))
        self._buffer += chunk
        self._is_over = not chunk
