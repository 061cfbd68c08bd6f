"""A page of records within the room of the structured form: long values are clipped, then there are fewer of them."""

from collections.abc import Mapping
from dataclasses import replace
from operator import is_not
from typing import Any, NamedTuple

from pdpp_server.evidence.budgets import FITTED_CHARS_MIN
from pdpp_server.evidence.handles import mint
from pdpp_server.evidence.shown import with_related
from pdpp_server.evidence.titles import label
from pdpp_server.evidence.values import by_importance, clipped_value, readable_text
from pdpp_server.model.records import Expanded, Record, RecordPage, Warned
from pdpp_server.model.sources import Origin


class Fitted(NamedTuple):
    """A page with its long values clipped; by handle the clipped fields with their length, and how many are missing."""

    page: RecordPage
    clipped: Mapping[str, Mapping[str, int]]
    omitted: Mapping[str, int]


def fitted(page: RecordPage, chars: int | None, *, fields: int | None = None, related: int | None = None) -> Fitted:
    """At most `chars` of each value, `fields` of each record and `related` records of each expansion; None: all."""
    named = {entry.origin.connection_id: entry.origin for entry in with_related(page.records)}
    origins = {connection_id: _shown(origin) for connection_id, origin in named.items()}
    clipped: dict[str, Mapping[str, int]] = {}
    omitted: dict[str, int] = {}

    def narrowed(record: Record) -> Record:
        kept = record.data if fields is None else _first(record, fields)
        if chars is not None and (cut := _clipped(kept, chars)):
            clipped[mint(record.id)] = {name: total for name, (_, total) in cut.items()}
            kept = {**kept, **{name: shown for name, (shown, _) in cut.items()}}
        if len(kept) < len(record.data):
            omitted[mint(record.id)] = len(record.data) - len(kept)
        origin = origins[record.origin.connection_id]
        if kept is not record.data or origin is not record.origin:
            record = record._replace(origin=origin, data=kept)
        if not record.expanded:
            return record
        groups: Mapping[str, Expanded] = {} if related == 0 else record.expanded
        return record._replace(expanded={name: expansion(group) for name, group in groups.items()})

    def expansion(group: Expanded) -> Expanded:
        kept = group.records[:related]
        more = group.has_more or len(kept) < len(group.records)
        return replace(group, records=tuple(narrowed(record) for record in kept), has_more=more)

    entries = tuple(
        [
            narrowed(entry) if isinstance(entry, Record) else replace(entry, origin=origins[entry.origin.connection_id])
            for entry in page.records
        ]
    )
    if related is not None:
        page = replace(page, warnings=(*page.warnings, _EXPANSION_SHORTENED))
    is_changed = any(map(is_not, entries, page.records))
    return Fitted(replace(page, records=entries) if is_changed else page, clipped, omitted)


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


class EvenChars(NamedTuple):
    chars: int
    is_whole: bool = False  # whether no value has more


def even_chars(page: RecordPage, room: int) -> EvenChars:
    """How many characters of each value fit into `room` if the short ones leave theirs to the long ones."""
    lengths = sorted(
        [
            len(text)
            for record in with_related(page.records)
            if isinstance(record, Record)
            for value in record.data.values()
            if (text := value if isinstance(value, str) else readable_text(value)) is not None
        ]
    )
    if sum(lengths) <= room:
        return EvenChars(max((*lengths, FITTED_CHARS_MIN)), is_whole=True)
    for index, length in enumerate(lengths):
        even = room // (len(lengths) - index)
        if length > even:
            return EvenChars(max(even, FITTED_CHARS_MIN))
        room -= length
    raise AssertionError("Together they are longer than the room, so one of them is longer than its share.")


def _shown(origin: Origin) -> Origin:
    name = label(origin) or None
    return origin if name == origin.name else replace(origin, name=name)
