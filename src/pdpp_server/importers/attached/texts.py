"""Records with what is attached to them as text, where their importer wants that."""

import codecs
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pdpp_server.evidence.words import counted
from pdpp_server.importers.attached.kinds import HTML, PLAIN, AttachedDocument, kind_of
from pdpp_server.importers.attached.process import DocumentProcess
from pdpp_server.importers.formats.charsets import marked_text
from pdpp_server.importers.source import Attachment, Outcome
from pdpp_server.model.ingest import Incoming, Rejection

NOTES_KEPT = 1000
REMEMBERED, REMEMBERED_CHARS = 100, 50_000  # the same small file is often attached again and again

StoredTexts = Callable[[str, str], Mapping[str, Any]]  # what is kept of a stream under a key; empty where nothing is


class AttachedTexts:
    """Read once: what is kept already with the same bytes keeps its text, and needs no reading."""

    def __init__(self, reader: DocumentProcess, stored: StoredTexts) -> None:
        self._reader, self._stored = reader, stored
        self._read: dict[str, AttachedDocument] = {}
        self.missing = 0
        self.notes: list[Rejection] = []  # which files are without a text, or with a part of it, and why

    def filled(self, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
        """The same, each record with the text of the attachment that follows it."""
        held: Incoming | None = None
        for outcome in outcomes:
            if held is not None:
                yield self._with_text(held, outcome) if isinstance(outcome, Attachment) else held
            held = outcome if isinstance(outcome, Incoming) else None
            if held is None:
                yield outcome
        if held is not None:
            yield held

    def _with_text(self, record: Incoming, attachment: Attachment) -> Incoming:
        if record.data is None or not attachment.text_field:
            return record
        kind = kind_of(attachment.data, attachment.mime_type, attachment.name)
        if kind is None:
            return record
        document = self._kept(attachment) or self._told(kind, attachment)
        if document.note:
            self._note(record.place, f"{attachment.name or kind}: {document.note}")
        field = attachment.text_field
        told = {field: document.text, f"{field}_note": document.note}
        return record._replace(data={**record.data, **{name: text for name, text in told.items() if text}})

    def _kept(self, attachment: Attachment) -> AttachedDocument | None:
        known = self._stored(attachment.stream, attachment.key)
        if known.get("blob_ref") != attachment.reference:
            return None
        text, note = (known.get(f"{attachment.text_field}{ending}", "") for ending in ("", "_note"))
        return AttachedDocument(text, note) if text or note else None

    def _told(self, kind: str, attachment: Attachment) -> AttachedDocument:
        blob = attachment.blob.blob_id
        if blob in self._read:
            return self._read[blob]
        document = self._reader.document(kind, _in_utf8(kind, attachment))
        if len(document.text) <= REMEMBERED_CHARS:
            if len(self._read) >= REMEMBERED:
                del self._read[next(iter(self._read))]
            self._read[blob] = document
        return document

    def _note(self, place: str, reason: str) -> None:
        self.missing += 1
        if len(self.notes) < NOTES_KEPT:
            self.notes.append(Rejection(place, "text_not_read", reason))


def _in_utf8(kind: str, attachment: Attachment) -> bytes:
    """Who reads it knows its bytes alone: what was said of its charset is told by a mark."""
    if kind not in (PLAIN, HTML) or not attachment.charset:
        return attachment.data
    return codecs.BOM_UTF8 + marked_text(attachment.data, attachment.charset).encode("utf-8", "replace")


@contextmanager
def attached_texts(stored: StoredTexts) -> Generator[AttachedTexts, None, None]:
    reader = DocumentProcess()
    try:
        yield AttachedTexts(reader, stored)
    finally:
        reader.close()


def lacking(files: int) -> str:
    """How many of them could not be read whole, behind other counts."""
    its = "its" if files == 1 else "their"
    return f", {counted(files, 'attached file')} without {its} whole text" if files else ""
