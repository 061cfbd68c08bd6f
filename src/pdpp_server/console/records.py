"""One record, whole: where the address of a citation leads."""

import re
from functools import partial
from typing import Any, NamedTuple, cast

from markupsafe import Markup

from pdpp_server.console.activity import ReadEntry, entry, said_of
from pdpp_server.console.attachments import AttachmentShown, attachments_of
from pdpp_server.console.desks import Desks
from pdpp_server.console.markdown import rendered
from pdpp_server.console.page import Page
from pdpp_server.console.visit import Visit, whole_number
from pdpp_server.errors import ConnectionNotFound, InvalidRequest, NotFound
from pdpp_server.evidence.binary import binary_text
from pdpp_server.evidence.handles import mint, parse
from pdpp_server.evidence.said import say
from pdpp_server.evidence.shown import record_shown, related_to, shown_of, window_shown
from pdpp_server.evidence.titles import body, declared_title, label, title
from pdpp_server.evidence.values import by_importance, readable_text
from pdpp_server.model.activity import Shown, together
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import WINDOW_CHARS_MAX, Expand, FetchQuery, WindowQuery
from pdpp_server.model.records import Record, RecordId, Version
from pdpp_server.model.streams import Field, Stream
from pdpp_server.model.text import FieldWindow
from pdpp_server.model.times import instant

VALUE_CHARS, LINE_CHARS = 8000, 120
_HAS_ZONE = re.compile(r"T.*(?:Z|[+-]\d\d:\d\d)$")
READERS = 10


class FieldShown(NamedTuple):
    name: str
    words: str  # the name as people write it
    about: str  # what the publisher says of it
    text: str
    is_long: bool  # on lines of its own
    left: int  # characters that are not shown here
    at: str  # a time, which is shown by the owner's clock; else empty
    attachments: list[AttachmentShown]


class BodyShown(NamedTuple):
    """What the record says, and how that is meant to look, where it is more than lines of text."""

    shown: FieldShown
    html: Markup | None


class AttachedRecord(NamedTuple):
    """A record that belongs to this one and has bytes: its name, and what they are."""

    handle: str
    title: str
    attachments: list[AttachmentShown]


def show(desks: Desks, visit: Visit) -> Pending[Page]:
    id = parse(visit.named["handle"])
    field = visit.query.get("field")
    try:
        return _window(desks, visit, id, field) if field else _whole(desks, visit, id)
    except NotFound as refusal:
        if refusal.code not in {NotFound.code, ConnectionNotFound.code}:  # it is there, but not that part of it
            raise
        raise NotFound(
            say("That record is not here, or not any more."),
            remedy=say("It may have been removed since. Search finds what is here."),
        ) from None


def _whole(desks: Desks, visit: Visit, id: RecordId) -> Pending[Page]:
    query = FetchQuery(id.stream, id.key, id.connection_id or None, expand=_with_bytes(desks, id))
    reader = desks.reads.reader(visit.request_id)
    return reader.fetch(query).shaped(partial(_page, desks))


def _page(desks: Desks, found: Record) -> Page:
    handle = mint(found.id)
    declaration = desks.owner.declarations().get(found.id.connection_id)
    stream = declaration.streams.get(found.id.stream) if declaration else None
    main = body(found.roles, found.data)
    values = {
        "title": _title(found),
        "handle": handle,
        "label": label(found.origin) or found.origin.connector_key,
        "record": found,
        "fields": _fields(found, stream, main[0] if main else None),
        "body": _body(main, stream, _title(found)) if main and binary_text(main[1]) is None else None,
        "talk": _talk(found, stream),
        "related": _related(found),
        "stream_label": (stream.label if stream else None) or found.id.stream,
        "authored_at": found.authored_at,
        "is_day": len(found.authored_at or "") <= len("2026-11-15"),
        "versions": [_version(version) for version in desks.owner.versions(found.id)],
        "readers": _readers(desks, handle),
    }
    return Page("record.html", values, shown=_told(found))


def _with_bytes(desks: Desks, id: RecordId) -> tuple[Expand, ...]:
    """What belongs to such a record and has bytes: the attachments of a mail."""
    declaration = desks.owner.declarations().get(id.connection_id)
    stream = declaration.streams.get(id.stream) if declaration else None
    if declaration is None or stream is None:
        return ()
    expandable = {each.name for each in stream.expansions}
    lists = [each for each in stream.relationships if each.name in expandable]
    return tuple(Expand(each.name) for each in lists if declaration.streams[each.stream].blob_fields)


def _related(found: Record) -> list[AttachedRecord]:
    return [AttachedRecord(mint(other.id), _title(other), _bytes_of(other)) for other in related_to(found)]


def _told(found: Record) -> Shown:
    """All of the record; of those that belong to it what names them, and where their bytes are."""
    beside = [shown_of((other.id,), _named_by(other)) for other in related_to(found)]
    return together(record_shown(found._replace(expanded={})), *beside)


def _named_by(record: Record) -> list[str]:
    declared = declared_title(record.roles, record.data)
    title_field = declared[0] if declared else record.time_field
    fields = [name for name, value in record.data.items() if attachments_of(value)]
    return fields if title_field is None else [title_field, *fields]


def _bytes_of(record: Record) -> list[AttachmentShown]:
    return [each for value in record.data.values() for each in attachments_of(value)]


def _readers(desks: Desks, handle: str) -> list[ReadEntry]:
    """Who has read it, but for the owner's own looks."""
    found = desks.owner.activity(record=handle, own=False, limit=READERS)
    said = said_of(desks, found)
    return [entry(said, line, {}) for line in found]


def _window(desks: Desks, visit: Visit, id: RecordId, field: str) -> Pending[Page]:
    start = whole_number(visit.query.get("from", "0"), 11)
    if start is None:
        raise InvalidRequest(say("from must be a whole number."), param="from")
    query = WindowQuery(id.stream, id.key, field, id.connection_id or None, start, WINDOW_CHARS_MAX)
    reader = desks.reads.reader(visit.request_id)
    return reader.read_record_field(query).shaped(_window_page)


def _window_page(window: FieldWindow) -> Page:
    return Page("window.html", {"window": window, "handle": mint(window.id)}, shown=window_shown(window))


def _version(version: Version) -> tuple[bool, str | None]:
    """Whether it was deleted then, and when."""
    return version.deleted_at is not None, version.deleted_at or version.emitted_at


def _title(record: Record) -> str:
    return title(record.roles, record.data, record.origin, record.id.stream, record.authored_at)


def _talk(record: Record, stream: Stream | None) -> str:
    """The value that names the talk which it is a part of."""
    value = record.data.get(stream.talk_fields[0]) if stream and stream.talk_fields else None
    return str(value) if value is not None else ""


def _fields(record: Record, stream: Stream | None, main: str | None) -> list[FieldShown]:
    in_order = stream.fields if stream else ()
    declared = {name: record.data[name] for name in in_order if name in record.data}
    names = by_importance(declared | dict(record.data), record.roles, record.id.key)
    return [_shown(name, record.data[name], stream) for name in names if name != main]


def _shown(name: str, value: Any, stream: Stream | None) -> FieldShown:
    field = stream.fields.get(name) if stream else None
    words = name.replace("_", " ")
    about = (field.description if field else None) or ""
    if found := attachments_of(value):
        return FieldShown(name, words, about, "", is_long=False, left=0, at="", attachments=found)
    if binary := binary_text(value):
        return FieldShown(name, words, about, binary, is_long=False, left=0, at="", attachments=[])
    listed = _listed(value)
    text = (listed if len(listed) <= VALUE_CHARS else "") or readable_text(value) or _scalar_text(value)
    is_long = len(text) > LINE_CHARS or "\n" in text
    left = max(0, len(text) - VALUE_CHARS)
    kept = text[:VALUE_CHARS] if left else text
    return FieldShown(name, words, about, kept, is_long, left, _instant(value, field), [])


def _body(main: tuple[str, str], stream: Stream | None, title: str) -> BodyShown:
    shown = _shown(*main, stream)
    field = stream.fields.get(shown.name) if stream else None
    is_markdown = field is not None and field.media_type == "text/markdown"
    return BodyShown(shown, rendered(shown.text, title) if is_markdown else None)


def _instant(value: Any, field: Field | None) -> str:
    """A declared moment that can be told by a clock; a day, or a time without a zone, stays as it is written."""
    if field is None or field.type != "date-time" or not isinstance(value, str):
        return ""
    is_told_by_a_clock = instant(value) is not None and _HAS_ZONE.search(value)
    return value if is_told_by_a_clock else ""


def _listed(value: Any) -> str:
    """Plain values in a row, named ones on a line each; empty where one of them holds more."""
    if not isinstance(value, dict):
        return _in_a_row(value)
    named = cast("dict[str, object]", value)
    lines: list[str] = []
    for name, each in named.items():
        text = _in_a_row(each if isinstance(each, list) else [each])
        if not text:
            return ""
        lines.append(f"{name}: {text}")
    return "\n".join(lines)


def _in_a_row(value: Any) -> str:
    if not isinstance(value, list):
        return ""
    items = cast("list[object]", value)
    if not all(isinstance(each, str | int | float) for each in items):
        return ""
    return ", ".join(map(_scalar_text, items))


def _scalar_text(value: Any) -> str:
    match value:
        case None | "":
            return say("nothing")
        case bool():
            return say("yes") if value else say("no")
        case _:
            return str(value)
