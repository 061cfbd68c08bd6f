"""Related records in short: which there are, each by its handle."""

from collections.abc import Iterator

from pdpp_server.evidence.handles import mint
from pdpp_server.evidence.text import handle_text, name_text
from pdpp_server.model.records import Expanded, Record


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
