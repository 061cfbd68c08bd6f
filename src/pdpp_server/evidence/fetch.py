"""One record as a document with provenance."""

from collections.abc import Callable, Iterable, Mapping
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
from pdpp_server.evidence.values import CLIPPED_END, are_shown_whole, value_text
from pdpp_server.model.activity import Shown
from pdpp_server.model.records import Record

Encode = Callable[[str, str, str, str, dict[str, str]], dict[str, Any]]  # id, title, text, url and metadata as JSON


class Mirrored(NamedTuple):
    """A document as JSON, whether it is within its budgets, the same as a text, and what both show."""

    structured: Mapping[str, Any]
    fits: bool
    text: str
    shown: Shown


def document(record: Record, handle: str, url: str, encode: Encode) -> Mirrored:
    """The record within its budgets, written by `encode`; its text is the same with unseen characters escaped."""
    record = record_without_bytes(record)
    title_field, declared = declared_title(record.roles, record.data) or (None, None)
    named = declared or identity(record.origin, record.id.stream, record.authored_at)
    related = expanded_text(record, DOCUMENT_EXPANDED_BYTES)
    about = _about(record, related.text)
    told = [] if title_field is None else [title_field]
    if record.time_field is not None:
        told.append(record.time_field)
    ids = (record.id, *[other.id for other in related.named]) if related.named else ()

    def made(text: str, metadata: Mapping[str, str], fields: Iterable[str]) -> Mirrored:
        structured = encode(handle, named, text, url, {**about, **metadata})
        whole = compact_json(structured)
        fits = byte_len(text) <= DOCUMENT_TEXT_BYTES and byte_len(whole) <= DOCUMENT_BYTES
        shows = (*fields, *told)
        return Mirrored(structured, fits, whole, shown_of(ids, shows) if ids else one_shown(record.id, handle, shows))

    main = body(record.roles, record.data)
    if main is None:
        return _of_fields(record.data, handle, made)
    field, whole = main
    others = {**record.data}
    del others[field]
    if title_field is not None and others[title_field] == named:
        del others[title_field]
    if named in others.values():  # as hardly ever
        others = {name: value for name, value in others.items() if value != named}
    return _of_body(field, whole, others, handle, made)


Made = Callable[[str, Mapping[str, str], Iterable[str]], Mirrored]  # text, metadata, and the fields that they show


def _of_body(field: str, whole: str, others: Mapping[str, Any], handle: str, made: Made) -> Mirrored:
    shown, missing = _field_lines(others, DOCUMENT_FIELDS_BYTES)
    beside = {**_shown_beside(handle, "\n".join(shown.values())), **_not_shown(handle, missing)}
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


def _of_fields(data: Mapping[str, Any], handle: str, made: Made) -> Mirrored:
    def within(limit: int) -> Mirrored:
        shown, missing = _field_lines(data, limit)
        lines = [*shown.values()]
        read_next = _read_clipped(handle, "\n".join(lines))
        said = _not_shown(handle, missing)
        left_out = bool(said)
        said["text_complete"] = "false" if read_next or missing else "true"
        if read_next:
            said["read_next"] = read_next
            lines.append(f"[clipped values: {read_next} with the name of the field]")
        if left_out:
            lines.append(f"[fields not shown: {said['fields_not_shown']}. Next: {said['read_fields']}]")
        return made("\n".join(lines), said, shown)

    limit = DOCUMENT_TEXT_BYTES
    while not (fitting := within(limit)).fits and limit > 1:
        limit = limit * 3 // 4
    return fitting


def _about(record: Record, related: str) -> dict[str, str]:
    """Whose record it is, for citing and for asking again; what says nothing is left out."""
    id, origin = record.id, record.origin
    known = {
        "stream": id.stream,
        "record_id": id.key,
        "connection_id": id.connection_id,
        "connector_key": origin.connector_key,
        "display_name": label(origin),
        "authored_at": record.authored_at or "",
        "stored_at": record.emitted_at,
    }
    if related:
        known["expanded"] = related
    return {name: said for name, said in known.items() if said} if "" in known.values() else known


def _shown_beside(handle: str, lines: str) -> dict[str, str]:
    """The other fields of a record whose text is its body."""
    read_next = _read_clipped(handle, lines)
    if read_next:
        return {"fields": lines, "read_clipped_fields": read_next}
    return {"fields": lines} if lines else {}


def _read_clipped(handle: str, lines: str) -> str:
    """The call that reads a clipped value, once the name of its field is put in; empty where none is clipped."""
    if f"{CLIPPED_END}\n" not in f"{lines}\n":
        return ""
    return f"read_record_field {compact_json({'id': handle, 'field_path': 'FIELD'})}"


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
    lines = _plain_lines(data)
    if lines is not None and _bytes_of(lines) <= limit:
        return lines, []
    few = DOCUMENT_VALUE_CHARS
    for chars in (max(limit, few), limit // max(1, len(data)), few, few // 4):
        width = max(1, chars)
        lines = {name: f"{name_text(name)}: {value_text(value, width)}" for name, value in data.items()}
        if _bytes_of(lines) <= limit:
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


def _plain_lines(data: Mapping[str, Any]) -> dict[str, str] | None:
    """The same where one look at all values together tells that each is shown as it is; None where it does not."""
    if not are_shown_whole(data.values()):
        return None
    lines: dict[str, str] = {}
    for name, value in data.items():
        shown = f'"{value}"' if type(value) is str else compact_json(value)
        lines[name] = f"{name_text(name)}: {shown}"
    return lines


def _bytes_of(lines: Mapping[str, str]) -> int:
    return byte_len("\n".join(lines.values())) + 1
