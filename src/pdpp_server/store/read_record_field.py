"""One field's text, by window."""

import re

import orjson

from pdpp_server.errors import FieldNotFound, FieldNotText, QueryNotFound
from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.queries import WindowQuery
from pdpp_server.model.records import RecordId
from pdpp_server.model.text import FieldWindow
from pdpp_server.store.db import Reading
from pdpp_server.store.fetch import find


def read_record_field(reading: Reading, permitted: Permitted[WindowQuery]) -> FieldWindow:
    query = permitted.query
    scope, origin, _, row = find(reading, permitted)
    kind, text = _text_of(orjson.loads(row[4]).get(query.field), query.field, scope.stream.roles.get(query.field))
    match = _match(text, query.q) if query.q is not None else None
    start = max(0, match[0] - query.before) if match else query.offset
    return FieldWindow(
        RecordId(origin.connection_id, query.stream, query.key),
        query.field,
        kind,
        text[start : start + query.limit],
        start=min(start, len(text)),
        total=len(text),
        limit=query.limit,
        match=match,
        clamped_from=query.clamped_from,
    )


def _text_of(value: object, field: str, role: str | None) -> tuple[str, str]:
    if value is None:
        raise FieldNotFound(f"This record has nothing in {field!r}.", param="field")
    if role == "blob-reference" or not isinstance(value, str | dict | list):
        raise FieldNotText(f"{field!r} holds no text in this record.", param="field")
    if isinstance(value, str):
        return "string", value
    return "json", orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _match(text: str, q: str) -> tuple[int, int]:
    found = re.search(re.escape(q), text, re.IGNORECASE)
    if found is None:
        raise QueryNotFound("The text searched for does not occur in this field.", param="q")
    return found.span()
