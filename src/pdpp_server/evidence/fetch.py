"""One record as a document with provenance."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from pdpp_server.evidence.binary import record_without_bytes
from pdpp_server.evidence.budgets import (
    DOCUMENT_BYTES,
    DOCUMENT_EXPANDED_BYTES,
    DOCUMENT_FIELDS_BYTES,
    DOCUMENT_NAMES_BYTES,
    DOCUMENT_TEXT_BYTES,
    DOCUMENT_VALUE_CHARS,
)
from pdpp_server.evidence.calls import fetch_of, read_from
from pdpp_server.evidence.expansions import expanded_text
from pdpp_server.evidence.shown import one_shown, shown_of
from pdpp_server.evidence.text import CUT, byte_len, compact_json, longest_prefix, name_text, whole_characters
from pdpp_server.evidence.titles import body, declared_title, identity, label
from pdpp_server.evidence.values import CLIPPED_END, value_text
from pdpp_server.model.activity import Shown
from pdpp_server.model.records import Record, RecordId

_says_something = itemgetter(1)  # of a name and what is said under it


class Document(NamedTuple):
    id: str
    title: str
    text: str
    url: str
    metadata: Mapping[str, str]


class Mirrored(NamedTuple):
    """A document, its whole text form, which is what the budget is for, and which fields of which records it shows."""

    document: Document
    text: str
    ids: Sequence[RecordId]
    fields: Sequence[str]

    @property
    def fits(self) -> bool:
        return byte_len(self.document.text) <= DOCUMENT_TEXT_BYTES and byte_len(self.text) <= DOCUMENT_BYTES

    @property
    def shown(self) -> Shown:
        return one_shown(self.ids[0], self.fields) if len(self.ids) == 1 else shown_of(self.ids, self.fields)


Mirror = Callable[[Document], str]


def document(record: Record, handle: str, url: str, mirror: Mirror) -> Mirrored:
    """The record within its budgets; `mirror` writes a document as it will be sent."""
    record = record_without_bytes(record)
    title_field, declared = declared_title(record.roles, record.data) or (None, None)
    named = declared or identity(record.origin, record.id.stream, record.authored_at)
    related = expanded_text(record, DOCUMENT_EXPANDED_BYTES)
    about = _about(record, related.text)
    ids = [record.id, *(other.id for other in related.named)]
    told = [field for field in (title_field, record.time_field) if field is not None]

    def made(text: str, metadata: Mapping[str, str], fields: Iterable[str]) -> Mirrored:
        whole = Document(handle, named, text, url, {**about, **metadata})
        return Mirrored(whole, mirror(whole), ids, (*fields, *told))

    main = body(record.roles, record.data)
    if main:
        return _of_body(record, handle, named, *main, made)
    return _of_fields(record, handle, made)


Made = Callable[[str, Mapping[str, str], Iterable[str]], Mirrored]  # text, metadata, and the fields that they show


def _of_body(record: Record, handle: str, named: str, field: str, whole: str, made: Made) -> Mirrored:
    others = {name: value for name, value in record.data.items() if name != field and value != named}
    shown, missing = _field_lines(others, DOCUMENT_FIELDS_BYTES)
    beside = {**_shown_beside(handle, [*shown.values()]), **_not_shown(handle, missing)}
    fields = (field, *shown)
    if len(whole) <= DOCUMENT_TEXT_BYTES:
        complete = made(whole, {**beside, "text_complete": "true"}, fields)
        if complete.fits:
            return complete

    def cut(length: int) -> Mirrored:
        read_on = read_from(handle, field, length).text
        place = f"characters 0..{length} of {len(whole)} of {name_text(field)} are shown"
        mark = f"{CUT}\n[cut here: {place}. Next: {read_on}]"
        return made(whole[:length] + mark, {**beside, "text_complete": "false", "read_next": read_on}, fields)

    start = whole[:DOCUMENT_TEXT_BYTES]
    length = longest_prefix(start, lambda prefix: len(prefix) < len(whole) and cut(len(prefix)).fits)
    return cut(whole_characters(whole, length) or length)


def _of_fields(record: Record, handle: str, made: Made) -> Mirrored:
    def within(limit: int) -> Mirrored:
        shown, missing = _field_lines(record.data, limit)
        read_next = _read_clipped(handle, [*shown.values()])
        left_out = _not_shown(handle, missing)
        marks = [
            f"[clipped values: {read_next} with the name of the field]" if read_next else "",
            f"[fields not shown: {left_out['fields_not_shown']}. Next: {left_out['read_fields']}]" if left_out else "",
        ]
        state = {"text_complete": "false" if read_next or missing else "true"}
        said = {**left_out, **state, **({"read_next": read_next} if read_next else {})}
        return made("\n".join((*shown.values(), *(mark for mark in marks if mark))), said, shown)

    limit = DOCUMENT_TEXT_BYTES
    while not (fitting := within(limit)).fits and limit > 1:
        limit = limit * 3 // 4
    return fitting


def _about(record: Record, related: str) -> dict[str, str]:
    """Whose record it is, for citing and for asking again."""
    known = {
        "stream": record.id.stream,
        "record_id": record.id.key,
        "connection_id": record.id.connection_id,
        "connector_key": record.origin.connector_key,
        "display_name": label(record.origin),
        "authored_at": record.authored_at or "",
        "stored_at": record.emitted_at,
        "expanded": related,
    }
    return dict(filter(_says_something, known.items()))


def _shown_beside(handle: str, lines: list[str]) -> dict[str, str]:
    """The other fields of a record whose text is its body."""
    read_next = _read_clipped(handle, lines)
    said = {"fields": "\n".join(lines), "read_clipped_fields": read_next}
    return dict(filter(_says_something, said.items()))


def _read_clipped(handle: str, lines: list[str]) -> str:
    """The call that reads a clipped value, once the name of its field is put in; empty where none is clipped."""
    clipped = [line for line in lines if line.endswith(CLIPPED_END)]
    return f"read_record_field {compact_json({'id': handle, 'field_path': 'FIELD'})}" if clipped else ""


def _not_shown(handle: str, names: list[str]) -> dict[str, str]:
    """The names that there is room for, and the call that shows these fields."""
    if not names:
        return {}
    named: list[str] = []
    left = DOCUMENT_NAMES_BYTES
    for name in names:
        left -= byte_len(name_text(name)) + 2
        if left < 0 and named:
            break
        named.append(name)
    more = f" and {len(names) - len(named)} more" if len(named) < len(names) else ""
    return {
        "fields_not_shown": ", ".join(name_text(name) for name in named) + more,
        "read_fields": fetch_of(handle, tuple(named)).text,
    }


# Fields as lines --------------------------------------------------------------------------------------------------


def _field_lines(data: Mapping[str, Any], limit: int) -> tuple[dict[str, str], list[str]]:
    """`name: value` lines within `limit` bytes, by name, and the names for which there was no room.

    Long values are clipped alike before any field is left out.
    """
    few = DOCUMENT_VALUE_CHARS
    for chars in (max(limit, few), limit // max(1, len(data)), few, few // 4):
        width = max(1, chars)
        lines = {name: f"{name_text(name)}: {value_text(value, width)}" for name, value in data.items()}
        if sum(map(byte_len, lines.values())) + len(lines) <= limit:
            return lines, []
    shown: dict[str, str] = {}
    missing: list[str] = []
    left = limit
    for name, line in lines.items():
        if byte_len(line) + 1 <= left:
            shown[name] = line
            left -= byte_len(line) + 1
        else:
            missing.append(name)
    return shown, missing
