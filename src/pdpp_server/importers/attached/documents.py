"""A document as text: PDF, Word, pages of HTML, plain text. Runs in the reader's process, where it may fail."""

import re
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any
from xml.etree.ElementTree import Element
from zipfile import BadZipFile, ZipFile

from pypdf import PdfReader

from pdpp_server.importers.attached.kinds import DOCX, HTML, PDF, PLAIN, TEXT_CHARS_MAX, AttachedDocument
from pdpp_server.importers.formats.charsets import charset_of_page, marked_text
from pdpp_server.importers.formats.html_text import html_text
from pdpp_server.importers.formats.xml_items import UnreadableXml, xml_items

PAGES_MAX = 1000
PART_BYTES_MAX = 64 * 1024 * 1024  # of one part of a Word file, unpacked

_WORD = "word/document.xml"
_WORD_PARTS = re.compile(r"word/(?:document|footnotes|endnotes|comments|header[0-9]*|footer[0-9]*)\.xml")
_PARAGRAPHS = {"p": ("body", "tc", "sdtContent", "customXml", "footnote", "endnote", "comment", "hdr", "ftr")}
_SPACES = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
# What other programs show instead, how it looks, and what was moved elsewhere.
_UNSEEN = frozenset({"Fallback", "rPr", "pPr", "moveFrom"})
_BLANK = re.compile(r"[ \t]+$", re.MULTILINE)
_GAPS = re.compile(r"\n{3,}")

_IS_ENCRYPTED = 0x1


def document(kind: str, data: bytes) -> AttachedDocument:
    """Raises: MemoryError, and nothing else."""
    read = _READERS[kind]
    try:
        return read(data)
    except RecursionError:
        return AttachedDocument("", "It is nested too deeply to be read.")
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - readers of strangers' files fail in every way there is
        return AttachedDocument("", f"It cannot be read as {kind}: it is damaged ({type(error).__name__}).")


def _pdf(data: bytes) -> AttachedDocument:
    reader = PdfReader(BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        return AttachedDocument("", "It is locked with a password.")
    pages, size, unread = list[str](), 0, list[int]()
    count = len(reader.pages)
    for number in range(min(count, PAGES_MAX)):
        text = _page(reader, number)
        if text is None:
            unread.append(number + 1)
            continue
        pages.append(text)
        size += len(text)
        if size > TEXT_CHARS_MAX:
            break
    text = "\n\n".join(page.strip() for page in pages if page.strip())
    return _told(text, _pdf_note(count, len(pages) + len(unread), unread, is_empty=not text))


def _page(reader: Any, number: int) -> str | None:
    """None where this page is damaged; the others may be whole."""
    try:
        return reader.pages[number].extract_text()
    except (MemoryError, RecursionError):
        raise
    except Exception:  # noqa: BLE001 - see above
        return None


def _pdf_note(count: int, read: int, unread: list[int], *, is_empty: bool) -> str:
    notes: list[str] = []
    if unread:
        listed = ", ".join(map(str, unread[:5])) + (" and others" if len(unread) > 5 else "")
        notes.append(f"These pages cannot be read: {listed}.")
    if read < count:
        notes.append(f"Only the first {read} of {count} pages were read.")
    if is_empty and not unread:
        notes.append("It holds no text, only pictures.")
    return " ".join(notes)


def _docx(data: bytes) -> AttachedDocument:
    try:
        with ZipFile(BytesIO(data)) as packed:
            known = {info.filename: info for info in packed.infolist()}
            if _WORD not in known:
                return AttachedDocument("", "It is no Word document.")
            parts = [
                known[name] for name in sorted(known, key=lambda name: name != _WORD) if _WORD_PARTS.fullmatch(name)
            ]
            if any(part.flag_bits & _IS_ENCRYPTED for part in parts):
                return AttachedDocument("", "It is locked with a password.")
            if any(part.file_size > PART_BYTES_MAX for part in parts):
                return AttachedDocument("", f"Unpacked it is longer than {PART_BYTES_MAX >> 20} MiB.")
            paragraphs: list[str] = []
            note = ""
            for part in parts:
                with packed.open(part) as stream:
                    note = note or _paragraphs(stream, paragraphs)
    except BadZipFile:
        return AttachedDocument("", "It cannot be read: the file is damaged.")
    return _told("\n".join(paragraphs), note)


def _paragraphs(stream: Any, found: list[str]) -> str:
    """Why it ended early, if it did."""
    size = sum(map(len, found))
    try:
        for item in xml_items(stream, _PARAGRAPHS):
            found.append("".join(_runs(item.element)))
            size += len(found[-1])
            if size > TEXT_CHARS_MAX:
                break
    except UnreadableXml:
        return "It is damaged from some place on; what stands before that was read."
    return ""


def _runs(element: Element) -> Iterator[str]:
    for child in element:
        if child.tag == "t":
            yield child.text or ""
        elif child.tag in _SPACES:
            yield _SPACES[child.tag]
        elif child.tag not in _UNSEEN:
            yield from _runs(child)
            if child.tag == "p":
                yield "\n"


def _html(data: bytes) -> AttachedDocument:
    return _told(html_text(marked_text(data, charset_of_page(data))), "")


def _plain(data: bytes) -> AttachedDocument:
    return _told(marked_text(data).replace("\r\n", "\n").replace("\r", "\n"), "")


def _told(text: str, note: str) -> AttachedDocument:
    """Without what no text holds, and no longer than may be kept."""
    sound = text.replace("\0", "").encode("utf-8", "replace").decode()
    tidy = _GAPS.sub("\n\n", _BLANK.sub("", sound)).strip()
    if len(tidy) > TEXT_CHARS_MAX:
        cut = f"Only the first {TEXT_CHARS_MAX} characters were kept."
        return AttachedDocument(tidy[:TEXT_CHARS_MAX], f"{note} {cut}".strip())
    return AttachedDocument(tidy, note)


_READERS: dict[str, Callable[[bytes], AttachedDocument]] = {PDF: _pdf, DOCX: _docx, HTML: _html, PLAIN: _plain}
