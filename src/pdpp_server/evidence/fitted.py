"""A page of records within the room of the structured form: long values are clipped, then there are fewer of them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from operator import is_not
from typing import Any, NamedTuple

from pdpp_server.evidence.budgets import FITTED_CHARS_MIN
from pdpp_server.evidence.handles import mint
from pdpp_server.evidence.shown import with_related
from pdpp_server.evidence.titles import label
from pdpp_server.evidence.values import are_texts, by_importance, clipped_value, readable_text
from pdpp_server.model.records import Expanded, Record, RecordPage, Tombstone, Warned
from pdpp_server.model.sources import Origin


class Fitted(NamedTuple):
    """A page with its long values clipped; by handle the clipped fields with their length, and how many are missing."""

    page: RecordPage
    clipped: Mapping[str, Mapping[str, int]]
    omitted: Mapping[str, int]


def fitted(page: RecordPage, chars: int | None, *, fields: int | None = None, related: int | None = None) -> Fitted:
    """At most `chars` of each value, `fields` of each record and `related` records of each expansion; None: all."""
    kept = [entry.origin for entry in with_related(page.records)]
    named = {origin.connection_id: origin for origin in kept}
    origins = {connection_id: _shown(origin) for connection_id, origin in named.items()}
    if chars is fields is related is None and all(origins[origin.connection_id] is origin for origin in kept):
        return Fitted(page, {}, {})
    clipped: dict[str, Mapping[str, int]] = {}
    omitted: dict[str, int] = {}

    def narrowed(record: Record) -> Record:
        data = record.data if fields is None else _first(record, fields)
        cut = {} if chars is None else _clipped(data, chars)
        if cut:
            shown = {name: text for name, (text, _) in cut.items()}
            clipped[mint(record.id)] = {name: total for name, (_, total) in cut.items()}
            data = {**data, **shown}
        if len(data) < len(record.data):
            omitted[mint(record.id)] = len(record.data) - len(data)
        origin = origins[record.origin.connection_id]
        if data is not record.data or origin is not record.origin:
            record = record._replace(origin=origin, data=data)
        if not record.expanded:
            return record
        groups: Mapping[str, Expanded] = {} if related == 0 else record.expanded
        return record._replace(expanded={name: expansion(group) for name, group in groups.items()})

    def expansion(group: Expanded) -> Expanded:
        kept = group.records[:related]
        more = group.has_more or len(kept) < len(group.records)
        return replace(group, records=tuple(narrowed(record) for record in kept), has_more=more)

    entries: list[Record | Tombstone] = []
    for entry in page.records:
        if isinstance(entry, Record):
            entries.append(narrowed(entry))
        else:
            entries.append(replace(entry, origin=origins[entry.origin.connection_id]))
    if related is not None:
        page = replace(page, warnings=(*page.warnings, _EXPANSION_SHORTENED))
    if any(map(is_not, entries, page.records)):
        page = replace(page, records=tuple(entries))
    return Fitted(page, clipped, omitted)


def _clipped(data: Mapping[str, Any], chars: int) -> dict[str, tuple[Any, int]]:
    """Of the values that are longer, so many characters, and how many each has."""
    cut: dict[str, tuple[Any, int]] = {}
    for name, value in data.items():
        if isinstance(value, str) and len(value) <= chars:  # as nearly every one
            continue
        shown, total = clipped_value(value, chars)
        if total is not None:
            cut[name] = shown, total
    return cut


def _first(record: Record, fields: int) -> Mapping[str, Any]:
    """The most important fields, in the order in which they stood."""
    names = by_importance(record.data, record.roles, record.id.key)[:fields]
    return {name: value for name, value in record.data.items() if name in names}


_EXPANSION_SHORTENED = Warned(
    "expansion_shortened", "Not all related records fit in one answer; a lower expand_limit shows them whole.", "expand"
)


def is_short(page: RecordPage, room: int) -> bool:
    """Whether all values fit into it, so that none has to be clipped."""
    return sum([_chars(record.data.values()) for record in _records(page)]) <= room


def even_chars(page: RecordPage, room: int) -> int:
    """How many characters of each value fit into `room` if the short ones leave theirs to the long ones; where all
    fit, as many as the longest has."""
    lengths = sorted([length for record in _records(page) for length in _lengths(record.data.values())])
    for index, length in enumerate(lengths):
        even = room // (len(lengths) - index)
        if length > even:
            return max(even, FITTED_CHARS_MIN)
        room -= length
    return max((*lengths[-1:], FITTED_CHARS_MIN))


def _records(page: RecordPage) -> Iterator[Record]:
    return (entry for entry in with_related(page.records) if isinstance(entry, Record))


def _chars(values: Collection[Any]) -> int:
    return len("".join(values)) if are_texts(values) else sum(_lengths(values))


def _lengths(values: Collection[Any]) -> list[int]:
    return [len(text) for value in values if (text := readable_text(value)) is not None]


def _shown(origin: Origin) -> Origin:
    name = label(origin) or None
    return origin if name == origin.name else replace(origin, name=name)
