"""The tags of OFX files: 1.x is SGML whose values need no end tag, 2.x is XML; both are read alike."""

import re
from collections.abc import Iterator
from html import unescape
from typing import BinaryIO, NamedTuple

from pdpp_server.importers.formats.charsets import decoded

CHUNK_BYTES = 256 * 1024
VALUE_BYTES_MAX = 64 * 1024
FIRST_BYTES, HEAD_BYTES = 4096, 64 * 1024  # to know whether it is one, and whose

# One that never ends is looked through once: the next one ends the search for its end.
_QUOTED = rb"<!\[CDATA\[((?:(?!<!\[CDATA\[|\]\]>).)*+)\]\]>"
_CDATA = re.compile(_QUOTED, re.DOTALL)
_TAG = re.compile(rb"<(/?)([A-Za-z][A-Za-z0-9._]*+)[^<>]*+>((?:" + _QUOTED + rb"|[^<]++)*+)", re.DOTALL)
_BEGINS = re.compile(rb"\s*(?:OFXHEADER\s*:|<\?OFX\b|<OFX>|<\?xml[^>]*\?>\s*(?:<\?OFX\b|<OFX>))", re.IGNORECASE)
_CHARSET = re.compile(rb"^[ \t]*+CHARSET[ \t]*+:[ \t]*+([\w-]+)", re.MULTILINE | re.IGNORECASE)
_ENCODING = re.compile(rb"^[ \t]*+ENCODING[ \t]*+:[ \t]*+([\w-]+)", re.MULTILINE | re.IGNORECASE)
_XML_ENCODING = re.compile(rb"<\?xml[^<>]*encoding\s*=\s*[\"']([\w.-]+)", re.IGNORECASE)
_BOM = b"\xef\xbb\xbf"
_CODE_PAGE = re.compile(r"[0-9]{3,5}")


class Tag(NamedTuple):
    """A start tag with the text behind it, or an end tag."""

    line: int
    name: str
    value: str
    is_end: bool


def is_ofx(head: bytes) -> bool:
    return _BEGINS.match(head.removeprefix(_BOM)) is not None


def charset_of(head: bytes) -> str | None:
    """What the header says; UTF-8 wins over a code page that most programs leave standing beside it."""
    told = _XML_ENCODING.search(head)
    if told:
        return told[1].decode()
    encoding, charset = _ENCODING.search(head), _CHARSET.search(head)
    if encoding and encoding[1].upper() in (b"UTF-8", b"UNICODE"):
        return "utf-8"
    name = charset[1].decode() if charset else ""
    if _CODE_PAGE.fullmatch(name):
        return f"cp{name}"
    return name if name.upper() not in ("", "NONE") else None


def tags(stream: BinaryIO) -> Iterator[Tag]:
    """In the order of the file. A tag that the file ends in is not told."""
    buffer = stream.read(HEAD_BYTES)
    charset = charset_of(buffer)
    line = 1
    is_over = False
    while not is_over:
        chunk = stream.read(CHUNK_BYTES)
        is_over = not chunk
        end = 0
        for found in _TAG.finditer(buffer := buffer + chunk):
            if not is_over and found.end() == len(buffer):
                break
            line += buffer.count(b"\n", end, found.start())
            yield Tag(line, found[2].decode("ascii").upper(), _text(found[3], charset), found[1] == b"/")
            line += buffer.count(b"\n", found.start(), found.end())
            end = found.end()
        rest = buffer[end:]
        keep = rest[-VALUE_BYTES_MAX:]
        line += rest.count(b"\n", 0, len(rest) - len(keep))
        buffer = keep


def _text(raw: bytes, charset: str | None) -> str:
    if b"<" in raw:
        raw = _CDATA.sub(rb"\1", raw)
    return " ".join(unescape(decoded(raw.strip()[:VALUE_BYTES_MAX], charset)).replace("\0", " ").split())
