"""Which attached files have a text that can be read: by what is in them, then by what they are called."""

from pathlib import PurePosixPath
from typing import NamedTuple

from pdpp_server.importers.formats.charsets import is_wide

PDF, DOCX, HTML, PLAIN = KINDS = ("pdf", "docx", "html", "plain")
DOCUMENT_BYTES_MAX = 20 * 1024 * 1024
TEXT_CHARS_MAX = 1_000_000

_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_NO_PROSE = frozenset({"text/calendar", "text/vcard", "text/x-vcard", "text/rtf", "text/css", "text/javascript"})
_BY_ENDING = {
    ".docx": DOCX,
    ".htm": HTML,
    ".html": HTML,
    **dict.fromkeys((".txt", ".text", ".md", ".csv", ".log"), PLAIN),
}
_HEAD_BYTES = 1024  # a PDF may have something before its first line
_LOOKED_AT_BYTES = 4096


class AttachedDocument(NamedTuple):
    """What a file says, and what of it is missing or why all of it is; one of both may be empty."""

    text: str
    note: str


def kind_of(data: bytes, media_type: str, name: str) -> str | None:
    """None for what has no text here: pictures, recordings, archives."""
    if b"%PDF-" in data[:_HEAD_BYTES]:
        return PDF
    named = _BY_ENDING.get(PurePosixPath(name.lower()).suffix)
    if data.startswith(b"PK"):
        return DOCX if media_type == _WORD or named == DOCX else None
    if (b"\0" in data[:_LOOKED_AT_BYTES] and not is_wide(data)) or named == DOCX:
        return None
    if media_type in _PAGES:
        return HTML
    if media_type.startswith("text/") and media_type not in _NO_PROSE:
        return named or PLAIN
    return named
