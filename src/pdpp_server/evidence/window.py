"""A bounded window of one value of a record, by place or around a match."""

import re

from pdpp_server.errors import FieldNotFound, FieldNotText, QueryNotFound
from pdpp_server.evidence.binary import Declared, holds_bytes
from pdpp_server.evidence.values import readable_text
from pdpp_server.model.queries import WindowQuery
from pdpp_server.model.records import RecordId
from pdpp_server.model.streams import BLOB_ROLE
from pdpp_server.model.text import FieldWindow


def window_of(id: RecordId, value: object, role: str | None, declared: Declared, query: WindowQuery) -> FieldWindow:
    """The window that `query` asks for; it says whether the value is bytes. Raises: FieldNotFound, FieldNotText,
    QueryNotFound."""
    if value is None:
        raise FieldNotFound(f"This record has nothing in {query.field!r}.", param="field")
    text = readable_text(value) if role != BLOB_ROLE else None
    if text is None:
        raise FieldNotText(f"{query.field!r} holds no text in this record.", param="field")
    match = _match(text, query.q) if query.q is not None else None
    start = max(0, match[0] - query.before) if match else query.offset
    return FieldWindow(
        id,
        query.field,
        "string" if isinstance(value, str) else "json",
        text[start : start + query.limit],
        start=min(start, len(text)),
        total=len(text),
        limit=query.limit,
        match=match,
        clamped_from=query.clamped_from,
        text_like=not holds_bytes(value, declared),
    )


def _match(text: str, q: str) -> tuple[int, int]:
    found = re.search(re.escape(q), text, re.IGNORECASE)
    if found is None:
        raise QueryNotFound("The text searched for does not occur in this field.", param="q")
    return found.span()
