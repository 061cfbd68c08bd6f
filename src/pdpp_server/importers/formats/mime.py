"""One mail message, from its bytes: headers, and the leaves of its tree of parts.

The standard library makes a string and a list of lines of every message. Most bytes of an archive are attachments: here
they stay bytes, and are decoded once, when somebody asks.
"""

import binascii
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from pdpp_server.importers.formats.charsets import charset_of_page, decoded

DEPTH_MAX = 20
PARTS_MAX = 1000
HEADER_BYTES_MAX = 1_048_576

_END_OF_HEADERS = re.compile(rb"\r?\n\r?\n")
_READ = (
    "bcc cc content-disposition content-id content-transfer-encoding content-type date from in-reply-to "
    "list-id message-id received references reply-to sender subject to x-gm-thrid x-gmail-labels"
)
# Only these, for most of the headers of a message are the stamps of the machines that it passed.
_HEADER = re.compile(
    rb"^(" + _READ.replace(" ", "|").encode() + rb")[ \t]*:([^\n]*(?:\n[ \t][^\n]*)*)", re.MULTILINE | re.IGNORECASE
)
_FOLD = re.compile(r"\r?\n[ \t]+|\r")
_ENCODED_WORD = re.compile(r"=\?([^?\s]{1,80})\?([bBqQ])\?([^?]*)\?=")
_BETWEEN_WORDS = re.compile(r"(\?=)\s+(?==\?[^?\s]{1,80}\?[bBqQ]\?)")
_PARAMETER = re.compile(r""";\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))""")
_MEDIA_TYPE = re.compile(r"\s*([\w.+-]+/[\w.+-]+)")
_BEHIND_MARK = re.compile(rb"(--)?[ \t]*(?:\r?\n|\Z)")
_LINE_FEED = 10
_MARK = b"\xef\xbb\xbf"
_NO_BASE64 = re.compile(rb"[^A-Za-z0-9+/]")
_NO_BASE64_LETTER = re.compile(rb"[^A-Za-z0-9+/=]")

Headers = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class MimePart:
    """One part without parts of its own; `unmarked` where the message ended before its end was marked."""

    headers: Headers
    raw: memoryview
    unmarked: bool = False

    @property
    def is_cut(self) -> bool:
        """Whether something is missing at its end: writers forget the last mark, and then the last line is whole."""
        if not self.unmarked:
            return False
        if not self.raw or self.raw[-1] != _LINE_FEED:
            return True
        return self._encoding == "base64" and len(_NO_BASE64_LETTER.sub(b"", self.raw)) % 4 != 0

    @property
    def media_type(self) -> str:
        return media_type(self.headers)

    @property
    def filename(self) -> str | None:
        disposition = parameters(self.headers.get("content-disposition", ""))
        name = disposition.get("filename") or parameters(self.headers.get("content-type", "")).get("name")
        return words(name or "").strip() or None

    @property
    def is_attachment(self) -> bool:
        """Whether it stands beside the text of the message, not in it."""
        named = self.headers.get("content-disposition", "").strip().lower().startswith("attachment")
        return named or self.media_type not in ("text/plain", "text/html") or bool(self.filename)

    @property
    def content(self) -> bytes:
        match self._encoding:
            case "base64":
                return _base64(self.raw)
            case "quoted-printable":
                return binascii.a2b_qp(self.raw)
            case _:
                return bytes(self.raw)

    @property
    def _encoding(self) -> str:
        return self.headers.get("content-transfer-encoding", "").strip().lower()

    @property
    def charset(self) -> str | None:
        return parameters(self.headers.get("content-type", "")).get("charset")

    @property
    def text(self) -> str:
        content = self.content
        told = charset_of_page(content) if self.media_type == "text/html" else None
        return decoded(content, self.charset or told).replace("\r\n", "\n").replace("\r", "\n")


class PartGroup(NamedTuple):
    """Parts that belong together: one after another, or as choices of the same."""

    kind: str
    parts: "tuple[MimePart | PartGroup, ...]"


class MimeMessage(NamedTuple):
    headers: Headers
    body: MimePart | PartGroup


def message(raw: bytes) -> MimeMessage:
    """Never fails: what is no message has no headers, and its text is what follows a blank line."""
    whole = memoryview(raw)
    headers, start = _headers(raw, len(_MARK) if raw.startswith(_MARK) else 0, len(raw))
    return MimeMessage(headers, _part(raw, whole, headers, start, len(raw), _Room(PARTS_MAX), 0, unmarked=False))


def leaves(body: MimePart | PartGroup) -> Iterator[MimePart]:
    if isinstance(body, MimePart):
        yield body
    else:
        for part in body.parts:
            yield from leaves(part)


class _Room:
    def __init__(self, left: int) -> None:
        self.left = left


def _headers(raw: bytes, start: int, end: int) -> tuple[Headers, int]:
    """The headers by lower-case name, the first of each, and where the body begins."""
    if raw.startswith((b"\n", b"\r\n"), start):
        return {}, min(end, start + (1 if raw.startswith(b"\n", start) else 2))
    blank = _END_OF_HEADERS.search(raw, start, end)
    stop, body = (blank.start(), blank.end()) if blank else (end, end)
    stop = min(stop, start + HEADER_BYTES_MAX)
    found: dict[str, str] = {}
    for name, value in _HEADER.findall(raw[start:stop]):
        found.setdefault(name.decode("ascii").lower(), _unfolded(value))
    return found, body


def _unfolded(value: bytes) -> str:
    text = value.decode("ascii") if value.isascii() else decoded(value)
    return (_FOLD.sub(" ", text) if "\n" in text or "\r" in text else text).strip()


def _part(
    raw: bytes, whole: memoryview, headers: Headers, start: int, end: int, room: _Room, depth: int, *, unmarked: bool
) -> MimePart | PartGroup:
    kind = media_type(headers)
    if not kind.startswith("multipart/"):
        return MimePart(headers, whole[start:end], unmarked)
    boundary = parameters(headers["content-type"]).get("boundary")
    if not boundary or depth >= DEPTH_MAX or len(boundary) > 200:
        return MimePart({}, whole[start:end], unmarked)  # nothing tells its parts apart: it is read as one text
    parts: list[MimePart | PartGroup] = []
    for first, last, is_unmarked in _between(raw, boundary.encode("utf-8", "replace"), start, end):
        room.left -= 1
        if room.left < 0:
            break
        inner, body = _headers(raw, first, last)
        parts.append(_part(raw, whole, inner, body, last, room, depth + 1, unmarked=is_unmarked))
    return PartGroup(kind, tuple(parts)) if parts else MimePart({}, whole[start:end], unmarked)


def _between(raw: bytes, boundary: bytes, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Where each part lies, and whether the message ended before its end was marked."""
    mark = b"--" + boundary
    first, at = None, raw.find(mark, start, end)
    while at >= 0:
        behind = _BEHIND_MARK.match(raw, at + len(mark), end)
        if behind and (at == start or raw[at - 1] == _LINE_FEED):
            if first is not None:
                yield first, max(first, at - (2 if raw[at - 2 : at] == b"\r\n" else 1)), False
            if behind[1]:
                return
            first = behind.end()
        at = raw.find(mark, at + len(mark), end)
    if first is not None:
        yield first, end, True


def media_type(headers: Headers) -> str:
    found = _MEDIA_TYPE.match(headers.get("content-type", ""))
    return found[1].lower() if found else "text/plain"


def parameters(header: str) -> dict[str, str]:
    """By lower-case name; RFC 2231 pieces joined and decoded."""
    found: dict[str, str] = {}
    pieces: dict[str, list[tuple[int, str, bool]]] = {}
    for name, quoted, plain in _PARAMETER.findall(header):
        value = re.sub(r"\\(.)", r"\1", quoted) if quoted else plain.strip()
        name, star, rest = name.lower().partition("*")
        if not star:
            found.setdefault(name, value)
            continue
        number = rest.rstrip("*")
        order = int(number) if number.isdecimal() and len(number) < 4 else 0
        pieces.setdefault(name, []).append((order, value, not rest or rest.endswith("*")))
    return {**found, **{name: _joined(sorted(several)) for name, several in pieces.items()}}


def _joined(pieces: list[tuple[int, str, bool]]) -> str:
    charset = None
    data = b""
    for number, (_, value, is_encoded) in enumerate(pieces):
        if is_encoded and number == 0 and value.count("'") >= 2:
            charset, _, value = value.split("'", 2)
        data += unquote_to_bytes(value) if is_encoded else value.encode("utf-8", "replace")
    return decoded(data, charset or None)


def words(header: str) -> str:
    """RFC 2047: encoded words as text. Neighbours of one charset are joined first, for they may share a character."""
    if "=?" not in header:
        return header
    text: list[str] = []
    pending, charset, at = b"", "", 0
    header = _BETWEEN_WORDS.sub(r"\1", header)
    for found in _ENCODED_WORD.finditer(header):
        if pending and (found.start() > at or found[1].lower() != charset):
            text.append(decoded(pending, charset))
            pending = b""
        text.append(header[at : found.start()])
        charset, at = found[1].lower().partition("*")[0], found.end()
        pending += _word(found[2], found[3])
    text += [decoded(pending, charset) if pending else "", header[at:]]
    return "".join(text)


def _word(kind: str, value: str) -> bytes:
    data = value.encode("utf-8", "replace")
    return _base64(data) if kind in "bB" else binascii.a2b_qp(data, header=True)


def _base64(data: bytes | memoryview) -> bytes:
    """As much as can be read: real mail holds stray characters, and lacks padding."""
    try:
        return binascii.a2b_base64(data)
    except binascii.Error:
        kept = _NO_BASE64.sub(b"", data)
        return binascii.a2b_base64(kept[: len(kept) - (len(kept) % 4 == 1)] + b"=" * (-len(kept) % 4 % 3))
