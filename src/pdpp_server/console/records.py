"""One record, whole: where the address of a citation leads."""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from pdpp_server.console.activity import Entry, entry, said_of
from pdpp_server.console.desks import Desks
from pdpp_server.console.page import Page
from pdpp_server.console.visit import Visit
from pdpp_server.errors import InvalidRequest
from pdpp_server.evidence.binary import binary_text
from pdpp_server.evidence.handles import mint, parse
from pdpp_server.evidence.shown import record_shown, window_shown
from pdpp_server.evidence.titles import body, label, moment, title
from pdpp_server.evidence.values import by_importance, readable_text
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import WINDOW_CHARS_MAX, FetchQuery, WindowQuery
from pdpp_server.model.records import Record, RecordId, Version
from pdpp_server.model.text import FieldWindow

VALUE_CHARS, LINE_CHARS = 8000, 120
READERS = 10


class FieldShown(NamedTuple):
    name: str
    text: str
    is_long: bool  # on lines of its own
    left: int  # characters that are not shown here


def show(desks: Desks, visit: Visit) -> Pending[Page]:
    id = parse(visit.named["handle"])
    if field := visit.query.get("field"):
        return _window(desks, visit, id, field)
    query = FetchQuery(id.stream, id.key, id.connection_id or None)
    return desks.reads.reader(visit.request_id).fetch(query).shaped(partial(_page, desks))


def _page(desks: Desks, found: Record) -> Page:
    handle = mint(found.id)
    main = body(found.roles, found.data)
    values = {
        "title": _title(found),
        "handle": handle,
        "label": label(found.origin) or found.origin.connector_key,
        "record": found,
        "fields": _fields(found.data, found.roles, found.id.key, main[0] if main else None),
        "body": _shown(*main) if main and binary_text(main[1]) is None else None,
        "when": moment(found.authored_at),
        "versions": [_version(version) for version in desks.owner.versions(found.id)],
        "readers": _readers(desks, handle),
    }
    return Page("record.html", values, shown=record_shown(found))


def _readers(desks: Desks, handle: str) -> list[Entry]:
    """Who has read it, but for the owner's own looks."""
    found = desks.owner.activity(record=handle, own=False, limit=READERS)
    said = said_of(desks, found)
    return [entry(said, line, {}) for line in found]


def _window(desks: Desks, visit: Visit, id: RecordId, field: str) -> Pending[Page]:
    start = visit.query.get("from", "0")
    if not (start.isascii() and start.isdigit() and len(start) < 12):
        raise InvalidRequest("from must be a whole number.", param="from")
    query = WindowQuery(id.stream, id.key, field, id.connection_id or None, int(start), WINDOW_CHARS_MAX)
    return desks.reads.reader(visit.request_id).read_record_field(query).shaped(_window_page)


def _window_page(window: FieldWindow) -> Page:
    return Page("window.html", {"window": window, "handle": mint(window.id)}, shown=window_shown(window))


def _version(version: Version) -> str:
    return f"deleted {moment(version.deleted_at)}" if version.deleted_at else f"stored {moment(version.emitted_at)}"


def _title(record: Record) -> str:
    return title(record.roles, record.data, record.origin, record.id.stream, record.authored_at)


def _fields(data: Mapping[str, Any], roles: Mapping[str, str] | None, key: str, main: str | None) -> list[FieldShown]:
    return [_shown(name, data[name]) for name in by_importance(data, roles, key) if name != main]


def _shown(name: str, value: Any) -> FieldShown:
    if binary := binary_text(value):
        return FieldShown(name, binary, is_long=False, left=0)
    text = readable_text(value) or _scalar_text(value)
    return FieldShown(name, text[:VALUE_CHARS], len(text) > LINE_CHARS or "\n" in text, max(0, len(text) - VALUE_CHARS))


def _scalar_text(value: Any) -> str:
    match value:
        case None | "":
            return "nothing"
        case bool():
            return "yes" if value else "no"
        case _:
            return str(value)
