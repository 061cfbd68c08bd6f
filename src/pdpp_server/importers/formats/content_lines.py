"""Content lines, the form that calendars and contacts share (RFC 5545, RFC 6350, vCard 2.1): unfolded, taken apart."""

import re
from binascii import a2b_qp
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import BinaryIO, NamedTuple

from pdpp_server.importers.formats.charsets import decoded

LINE_BYTES_MAX = 16 * 1024 * 1024
LINES_MAX = 10_000  # of one component: no event and no card has so many
PARAMETERS_MAX = 200
DEPTH_MAX = 10
LIKE, LIKE_CHARS = 0.8, 40  # how alike the name behind END is where it was only misspelt
BROKEN_SHOWN = 3
START_BYTES = 1000  # of a line, within which it says how it is encoded

_NAME = re.compile(r"(?:([\w-]+)\.)?([\w-]+)(?=[;:])", re.ASCII)
_PARAMETER = re.compile(r""";\s*([\w-]+)(?:=((?:"[^"]*"|[^";:,]*)(?:,(?:"[^"]*"|[^";:,]*))*))?""", re.ASCII)
_VALUES = re.compile(r'"([^"]*)"|([^",]+)')
_CARET, _CARETS = re.compile(r"\^[n^']"), {"^n": "\n", "^^": "^", "^'": '"'}
_ENCODINGS = frozenset({"QUOTED-PRINTABLE", "BASE64", "8BIT", "7BIT"})
_QUOTED_PRINTABLE = re.compile(rb"[^:]*QUOTED-PRINTABLE[^:]*:", re.IGNORECASE)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_FOLDS = (b" ", b"\t")
_MARK = b"\xef\xbb\xbf"


class ContentLine(NamedTuple):
    """One property: `ITEM1.EMAIL;TYPE=home:ann@example.org`. Names are upper case."""

    number: int  # in the file, from 1
    group: str
    name: str
    params: Mapping[str, tuple[str, ...]]
    value: str

    def param(self, name: str) -> str | None:
        values = self.params.get(name)
        return values[0] if values else None


class BrokenLine(NamedTuple):
    """A line that is none."""

    number: int
    reason: str


class Component(NamedTuple):
    """What stands between BEGIN and END."""

    number: int
    name: str
    lines: tuple[ContentLine, ...]
    inner: "tuple[Component, ...]"
    broken: tuple[BrokenLine, ...]  # lines that could not be read; the first few
    is_whole: bool = True  # its END was there

    def first(self, name: str) -> ContentLine | None:
        return next(self.all(name), None)

    def all(self, name: str) -> Iterator[ContentLine]:
        return (line for line in self.lines if line.name == name)


class _Open:
    def __init__(self, number: int, name: str) -> None:
        self.number, self.name = number, name
        self.lines: list[ContentLine] = []
        self.inner: list[Component] = []
        self.broken: list[BrokenLine] = []

    def add(self, line: ContentLine | BrokenLine) -> None:
        if isinstance(line, ContentLine):
            if len(self.lines) < LINES_MAX:
                self.lines.append(line)
            elif not self.broken:
                self.broken.append(
                    BrokenLine(line.number, f"there are more than {LINES_MAX} lines; the others are left out")
                )
        elif len(self.broken) < BROKEN_SHOWN:
            self.broken.append(line)

    @property
    def names_another(self) -> bool:
        """Whether a card begins that belongs to this one; otherwise two of a kind do not lie in each other."""
        return bool(self.lines) and self.lines[-1].name == "AGENT"

    def closed(self, *, is_whole: bool) -> Component:
        return Component(self.number, self.name, tuple(self.lines), tuple(self.inner), tuple(self.broken), is_whole)


def components(stream: BinaryIO, wanted: frozenset[str]) -> Iterator[Component | ContentLine]:
    """Each component that is wanted, whole, with those inside it; and the properties that stand outside of them."""
    opened: list[_Open] = []
    for line in lines(stream):
        name = line.value.strip().upper() if isinstance(line, ContentLine) else ""
        if isinstance(line, ContentLine) and line.name == "BEGIN":
            if opened and name in wanted and not opened[-1].names_another:  # the end of the last one is missing
                yield opened[0].closed(is_whole=False)
                opened = []
            if (opened or name in wanted) and len(opened) < DEPTH_MAX:
                opened.append(_Open(line.number, name))
        elif isinstance(line, ContentLine) and line.name == "END" and opened:
            if done := _closed(opened, name):
                yield done
        elif opened:
            opened[-1].add(line)
        elif isinstance(line, ContentLine):
            yield line
    if opened:
        yield opened[0].closed(is_whole=False)


def _closed(opened: list[_Open], name: str) -> Component | None:
    """Close the innermost component of that name, and what was left open in it; give the outermost when it is done."""
    depth = next((depth for depth in range(len(opened) - 1, -1, -1) if opened[depth].name == name), None)
    if depth is None:
        depth = len(opened) - 1
        if SequenceMatcher(None, opened[-1].name, name[:LIKE_CHARS]).ratio() < LIKE:
            return None  # the end of something that never began
    while len(opened) > depth:
        last = opened.pop()
        done = last.closed(is_whole=len(opened) == depth)
        if not opened:
            return done
        opened[-1].inner.append(done)
    return None


def lines(stream: BinaryIO) -> Iterator[ContentLine | BrokenLine]:
    for number, raw in _unfolded(stream):
        if len(raw) > LINE_BYTES_MAX:
            yield BrokenLine(number, f"the line is longer than {LINE_BYTES_MAX >> 20} MiB")
        elif raw.strip():
            yield _line(number, raw)


def _unfolded(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Joined as bytes, because a fold may lie inside a character."""
    held, start, is_soft = bytearray(), 1, False
    for number, raw in enumerate(_physical(stream), 1):
        text = raw.rstrip(b"\r\n")
        if is_soft or raw.startswith(_FOLDS):
            if len(held) <= LINE_BYTES_MAX:
                held += text if is_soft else text[1:]
        else:
            yield start, bytes(held)
            held, start = bytearray(text.removeprefix(_MARK) if number == 1 else text), number
        is_soft = held.endswith(b"=") and _QUOTED_PRINTABLE.match(held, 0, START_BYTES) is not None
        if is_soft:
            del held[-1:]
    yield start, bytes(held)


def _physical(stream: BinaryIO) -> Iterator[bytes]:
    while raw := stream.readline(LINE_BYTES_MAX + 2):
        yield raw


def _line(number: int, raw: bytes) -> ContentLine | BrokenLine:
    """The value is decoded by its own charset where it names one (vCard 2.1)."""
    text = decoded(raw)
    start = _NAME.match(text)
    if not start:
        return BrokenLine(number, "the line has no name before a colon")
    params, at = _params(text, start.end())
    if not text.startswith(":", at):
        return BrokenLine(number, "the line has no colon")
    value = text[at + 1 :]
    charset = params.get("CHARSET")
    if "QUOTED-PRINTABLE" in (one.upper() for one in params.get("ENCODING", ())):
        value = decoded(a2b_qp(value.encode("utf-8", "replace")), charset[0] if charset else None).replace("\r\n", "\n")
    elif charset:
        value = decoded(raw[at + 1 :], charset[0]) if text[:at].isascii() else value
    return ContentLine(number, (start[1] or "").upper(), start[2].upper(), params, value)


def _params(text: str, at: int) -> tuple[dict[str, tuple[str, ...]], int]:
    """By upper-case name. vCard 2.1 leaves the names out: `TEL;HOME;VOICE:` has two of TYPE, or says an encoding."""
    params: dict[str, tuple[str, ...]] = {}
    for _ in range(PARAMETERS_MAX):
        found = _PARAMETER.match(text, at)
        if not found:
            break
        name, told = found[1].upper(), found[2]
        if told is None:
            name, told = ("ENCODING" if name in _ENCODINGS else "TYPE"), name
        values = tuple(_CARET.sub(_uncaret, quoted or plain) for quoted, plain in _VALUES.findall(told))
        params[name] = params.get(name, ()) + values
        at = found.end()
    return params, at


def _uncaret(found: re.Match[str]) -> str:
    return _CARETS[found[0]]


def unescaped(value: str) -> str:
    r"""Text as it was meant: `\,` is a comma, and `\n` the end of a line."""
    return _ESCAPED.sub(lambda found: "\n" if found[1] in "nN" else found[1], value) if "\\" in value else value


def parts(value: str, separator: str) -> list[str]:
    """A value with several parts, each as it was meant; a separator behind a backslash separates nothing."""
    if "\\" not in value:
        return [part.strip() for part in value.split(separator)]
    found = re.findall(rf"((?:[^\\{separator}]|\\.)*){separator}", value.rstrip("\\") + separator, re.DOTALL)
    return [unescaped(part).strip() for part in found]
