"""One value of a record: on one line of a text, or as much of it as an answer has room for."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from pdpp_server.evidence.binary import Binary, binary_text
from pdpp_server.evidence.text import CUT, clip, compact_json, quoted, whole_characters

CLIPPED_END = " characters)"
SHORT_MARK_CHARS = len("…+99")
_FIRST_ROLES = ("primary-title", "event-time", "actor", "amount", "primary-body")
_LAST_ROLES = ("secondary", "blob-reference")
_OTHER_RANK = len(_FIRST_ROLES)
_RANKS = {role: rank for rank, role in enumerate(_FIRST_ROLES)} | dict.fromkeys(_LAST_ROLES, _OTHER_RANK + 1)


class ShownValue(NamedTuple):
    """JSON, or what can be said of bytes; `whole` is the text that a cut would shorten."""

    whole: str
    kind: str  # "text", "json" or "binary"

    def text(self, chars: int) -> str:
        """On one line; a cut value is a quoted piece with its length."""
        mark = f" (clipped, {len(self.whole)}{CLIPPED_END}" if self.is_cut(chars) else ""
        return f"{self._piece(chars)}{mark}"

    def short_text(self, chars: int) -> str:
        """The same where many stand together: after a cut piece, how many characters more there are.

        A rest that is no longer than its mark is not cut.
        """
        if not self.is_cut_short(chars):
            return self._piece(len(self.whole))
        return f"{self._piece(chars)}+{len(self.whole) - whole_characters(self.whole, chars)}"

    def is_cut_short(self, chars: int) -> bool:
        return self.is_cut(chars + SHORT_MARK_CHARS)

    def is_cut(self, chars: int) -> bool:
        return self.kind != "binary" and len(self.whole) > chars

    def _piece(self, chars: int) -> str:
        if self.kind == "binary":
            return f"[{self.whole}]"
        if self.is_cut(chars):
            cut = quoted(self.whole[: whole_characters(self.whole, chars)] + CUT)
            return cut if self.kind == "text" else f"json {cut}"
        return quoted(self.whole) if self.kind == "text" else self.whole


def shown_value(value: object) -> ShownValue:
    if binary := binary_text(value):
        return ShownValue(binary, "binary")
    return ShownValue(value, "text") if isinstance(value, str) else ShownValue(compact_json(value), "json")


def clipped_value(value: Any, chars: int) -> tuple[Any, int | None]:
    """The value, or its first `chars` characters and how many it has, counted as `read_record_field` counts them."""
    whole = None if isinstance(value, Binary) else readable_text(value)
    if whole is None or len(whole) <= chars:
        return value, None
    return clip(whole, chars), len(whole)


def readable_text(value: Any) -> str | None:
    """What a window would be of: text, or the canonical JSON of an object or array; None for a single value."""
    if isinstance(value, str):
        return value
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode() if isinstance(value, dict | list) else None


def by_importance(data: Mapping[str, Any], roles: Mapping[str, str] | None, key: str) -> list[str]:
    """The names of the fields: by their declared roles; the key, which every handle tells already, comes last."""
    known = roles or {}

    def rank(name: str) -> tuple[bool, int]:
        role = str(known.get(name))  # another server may have said anything
        return data[name] == key, _RANKS.get(role, _OTHER_RANK)

    return sorted(data, key=rank)
