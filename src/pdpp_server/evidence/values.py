"""One value of a record: on one line of a text, or as much of it as an answer has room for."""

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from itertools import compress, repeat
from operator import eq
from typing import Any, NamedTuple, TypeGuard

import orjson

from pdpp_server.evidence.binary import Binary, are_plain, binary_text, is_plain, said_together
from pdpp_server.evidence.text import CUT, clip, compact_json, is_quoted_as_it_is, quoted, whole_characters

CLIPPED_END = " characters)"
SHORT_MARK_CHARS = len("…+99")
_TEXT = frozenset({str})
_FIRST_ROLES = ("primary-title", "event-day", "event-time", "actor", "amount", "currency", "primary-body")
_LAST_ROLES = ("secondary", "blob-reference")
_OTHER_RANK = len(_FIRST_ROLES)
_RANKS = {role: rank for rank, role in enumerate(_FIRST_ROLES)} | dict.fromkeys(_LAST_ROLES, _OTHER_RANK + 1)


class ShownValue(NamedTuple):
    """JSON, or what can be said of bytes; `whole` is the text that a cut would shorten."""

    whole: str
    kind: str  # "text", "json" or "binary"

    def text(self, chars: int) -> str:
        """On one line; a cut value is a quoted piece with its length."""
        if not self.is_cut(chars):
            return self.whole_text
        return f"{self._piece(chars)} (clipped, {len(self.whole)}{CLIPPED_END}"

    def short_text(self, chars: int) -> str:
        """The same where many stand together: after a cut piece, how many characters more there are.

        A rest that is no longer than its mark is not cut.
        """
        whole, kind = self
        if len(whole) <= chars + SHORT_MARK_CHARS or kind == "binary":
            return quoted(whole) if kind == "text" else self.whole_text
        return f"{self._piece(chars)}+{len(whole) - whole_characters(whole, chars)}"

    def is_cut_short(self, chars: int) -> bool:
        return self.kind != "binary" and len(self.whole) > chars + SHORT_MARK_CHARS

    def is_cut(self, chars: int) -> bool:
        return self.kind != "binary" and len(self.whole) > chars

    @property
    def whole_text(self) -> str:
        if self.kind == "text":
            return quoted(self.whole)
        return self.whole if self.kind == "json" else f"[{self.whole}]"

    def _piece(self, chars: int) -> str:
        cut = quoted(self.whole[: whole_characters(self.whole, chars)] + CUT)
        return cut if self.kind == "text" else f"json {cut}"


def value_text(value: object, chars: int) -> str:
    """A value on one line of at most so many characters; longer ones are cut, and say so."""
    if isinstance(value, str) and len(value) <= chars and is_plain(value):  # as nearly every one
        return quoted(value)
    return shown_value(value).text(chars)


def are_shown_whole(values: Collection[Any]) -> bool:
    """Whether one look at all of them tells that each is short, and that its text needs no escape."""
    said = said_together(values)
    return said is not None and are_plain(said) and is_quoted_as_it_is(said)


def are_texts(values: Iterable[Any]) -> TypeGuard[Iterable[str]]:
    """Whether each is a text, told without a look at each."""
    return _TEXT.issuperset(map(type, values))


def shown_value(value: object) -> ShownValue:
    if isinstance(value, str) and is_plain(value):
        return ShownValue(value, "text")
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


class RankedNames(NamedTuple):
    """The names of the fields of a record, what matters most first."""

    first: tuple[str, ...]  # those whose role says what the record is about
    others: tuple[str, ...]
    holding: tuple[str, ...]  # the key, which every handle tells already


def by_importance(data: Mapping[str, Any], roles: Mapping[str, str] | None, key: str) -> list[str]:
    """The names of the fields: by their declared roles; the key comes last."""
    ranked = ranked_names(data, roles, key)
    return [*ranked.first, *ranked.others, *ranked.holding]


def ranked_names(data: Mapping[str, Any], roles: Mapping[str, str] | None, key: str) -> RankedNames:
    declared = map(str, map((roles or {}).get, data))  # another server may have said anything
    return _by_role(tuple(data), tuple(declared), tuple(map(eq, data.values(), repeat(key))))


@lru_cache(maxsize=1000)  # the records of a stream have the same fields
def _by_role(names: tuple[str, ...], roles: tuple[str, ...], are_keys: tuple[bool, ...]) -> RankedNames:
    ranks = {name: _RANKS.get(role, _OTHER_RANK) for name, role in zip(names, roles, strict=True)}
    ranked = sorted(names, key=ranks.__getitem__)
    holding = {*compress(names, are_keys)}
    told = [name for name in ranked if name not in holding]
    first = [name for name in told if ranks[name] < _OTHER_RANK]
    return RankedNames(tuple(first), tuple(told[len(first) :]), tuple([name for name in ranked if name in holding]))
