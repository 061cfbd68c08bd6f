"""Parts of a long XML file, one after the other: no entities, no declarations, bounded depth, size and memory."""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple, Protocol
from xml.etree.ElementTree import Element
from xml.parsers.expat import ExpatError, ParserCreate

CHUNK_BYTES = 64 * 1024
DEPTH_MAX = 64
ITEM_BYTES_MAX = 8 * 1024 * 1024  # of text and elements in one part
ELEMENT_BYTES = 16  # that an empty one counts for, beside its name: it takes more memory than that
TAG_BYTES_MAX = 1024 * 1024  # or of a comment: the parser begins each anew with every chunk


class UnreadableXml(Exception):
    """The file cannot be read on from here."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


class Bytes(Protocol):
    """Whatever gives some bytes, and none at its end."""

    def read(self, size: int, /) -> bytes: ...


class XmlItem(NamedTuple):
    name: str
    line: int
    element: Element  # by local names: the namespace tells only the version


def xml_items(stream: Bytes, names: Mapping[str, Collection[str]]) -> Iterator[XmlItem]:
    """Every element of those names whose parent has a name beside it. Raises: UnreadableXml, after what was whole."""
    reader = _Reader(names)
    is_over = False
    while not is_over:
        chunk = stream.read(CHUNK_BYTES)
        is_over = not chunk
        try:
            reader.feed(chunk, is_over=is_over)
        except UnreadableXml:
            yield from reader.take()
            raise
        yield from reader.take()


class _Reader:
    def __init__(self, names: Mapping[str, Collection[str]]) -> None:
        self._names = names
        self._path: list[str] = []
        self._open: list[Element] = []  # from the part that is being read down to where we are
        self._texts: list[list[str]] = []  # of each of them: its own text, which other elements may part
        self._line = self._size = self._fed = 0
        self._ready: list[XmlItem] = []
        self._parser = ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._refuse_declarations
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text

    def feed(self, chunk: bytes, *, is_over: bool) -> None:
        """Raises: UnreadableXml."""
        try:
            self._parser.Parse(chunk, is_over)
        except ExpatError as error:
            raise UnreadableXml(error.lineno, f"not XML from here on ({error})") from error
        except (LookupError, ValueError) as error:  # an encoding that is unknown, or that needs several bytes
            raise UnreadableXml(1, f"the encoding that it names cannot be read ({error})") from error
        self._fed += len(chunk)
        if self._fed - self._parser.CurrentByteIndex > TAG_BYTES_MAX:
            raise self._unreadable(f"one tag of it is longer than {TAG_BYTES_MAX >> 20} MiB")

    def take(self) -> list[XmlItem]:
        ready, self._ready = self._ready, []
        return ready

    def _refuse_declarations(self, *_told: object) -> None:
        raise self._unreadable("it declares a document type, which no statement does")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        if len(self._path) >= DEPTH_MAX:
            raise self._unreadable(f"nested deeper than {DEPTH_MAX} levels")
        parent = self._path[-1] if self._path else ""
        self._path.append(local)
        if self._open or parent in self._names.get(local, ()):
            if not self._open:
                self._line, self._size = self._parser.CurrentLineNumber, 0
            element = Element(local, {key.rpartition(" ")[2]: value for key, value in attributes.items()})
            if self._open:
                self._open[-1].append(element)
            self._open.append(element)
            self._texts.append([])
            self._grow(ELEMENT_BYTES + len(name) + sum(map(len, attributes.values())))

    def _end(self, _name: str) -> None:
        self._path.pop()
        if self._open:
            element = self._open.pop()
            element.text = "".join(self._texts.pop()) or None
            if not self._open:
                self._ready.append(XmlItem(element.tag, self._line, element))

    def _text(self, text: str) -> None:
        if self._open:
            self._grow(len(text))
            self._texts[-1].append(text)

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > ITEM_BYTES_MAX:
            raise self._unreadable(f"one part of it is longer than {ITEM_BYTES_MAX >> 20} MiB")

    def _unreadable(self, reason: str) -> UnreadableXml:
        return UnreadableXml(self._parser.CurrentLineNumber, reason)
