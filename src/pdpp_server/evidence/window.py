"""A bounded window of one value of a record, by place or around a match."""

from pdpp_server.errors import FieldNotFound, FieldNotText, QueryNotFound
from pdpp_server.evidence.binary import Declared, holds_bytes
from pdpp_server.evidence.values import readable_text
from pdpp_server.model.queries import WindowQuery
from pdpp_server.model.records import RecordId
from pdpp_server.model.streams import BLOB_ROLE
from pdpp_server.model.text import FieldWindow

_LONG_IN_LOWER_CASE = str.maketrans("\u0130", "i")  # the one letter that becomes two, so that no place would be right
# Lower-case letters that have the same capital: dotless i, long s, signs of Greek that have another shape in a word.
_SAME_LETTERS = str.maketrans(
    "\u0131\u017f\xb5\u03c2\u03d0\u03d1\u03d5\u03d6\u03f0\u03f1\u03f5\u1e9b",
    "is\u03bc\u03c3\u03b2\u03b8\u03c6\u03c0\u03ba\u03c1\u03b5\u1e61",
)


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
    """Found in a time that grows with the text alone: whoever asks may choose words that nearly stand everywhere."""
    start = _in_one_case(text).find(_in_one_case(q))
    if start < 0:
        raise QueryNotFound("The text searched for does not occur in this field.", param="q")
    return start, start + len(q)


def _in_one_case(text: str) -> str:
    """Every letter at its place."""
    return text.lower() if text.isascii() else text.translate(_LONG_IN_LOWER_CASE).lower().translate(_SAME_LETTERS)
