"""Related records in short: which there are, each by its handle."""

from collections.abc import Iterator
from typing import NamedTuple

from pdpp_server.evidence.budget import first_that_fits
from pdpp_server.evidence.handles import mint
from pdpp_server.evidence.shown import related_to
from pdpp_server.evidence.text import handle_text, name_text
from pdpp_server.model.records import Expanded, Record


class ExpandedText(NamedTuple):
    text: str
    named: tuple[Record, ...]  # the related records whose handles it gives; none where it only counts them


NOBODY = ExpandedText("", ())


def expanded_text(record: Record, limit: int, *fallback: str) -> ExpandedText:
    """What fits into `limit` bytes, or the last way of all; nothing where nothing was asked for."""
    if not record.expanded:
        return NOBODY
    ways = expanded_ways(record)
    text = first_that_fits((*ways, *fallback), limit)
    names_them = text == ways[0]
    return ExpandedText(text, tuple(related_to(record)) if names_them else ())


def expanded_ways(record: Record) -> list[str]:
    """With the handles of the related records, or with their number alone; nothing where none were asked for."""
    groups = record.expanded
    if not groups:
        return []
    counted = {name: _counted(group) for name, group in groups.items()}
    named = [f"{name_text(name)} {' '.join((counted[name], *_handles(group)))}" for name, group in groups.items()]
    return [
        "; ".join(named),
        "; ".join(f"{name_text(name)} {number}" for name, number in counted.items()),
        f"{sum(len(group.records) for group in groups.values())} records",
    ]


def _counted(group: Expanded) -> str:
    return f"{len(group.records) or 'none'}{' and more' if group.has_more else ''}"


def _handles(group: Expanded) -> Iterator[str]:
    return (handle_text(mint(record.id)) for record in group.records)
