"""What values give away when all of them is shown; whoever shows less says so."""

from collections.abc import Iterable, Iterator
from itertools import chain
from operator import attrgetter

from pdpp_server.evidence.handles import mint
from pdpp_server.model.activity import Shown, together
from pdpp_server.model.aggregates import Aggregation
from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.records import Hit, Record, RecordId, RecordPage, Tombstone
from pdpp_server.model.text import FieldWindow

Entry = Record | Tombstone
_CONNECTION, _STREAM, _FIELD = attrgetter("connection_id"), attrgetter("stream"), attrgetter("field")


def shown_of(ids: Iterable[RecordId], fields: Iterable[str] = ()) -> Shown:
    """These fields of these records, each named once."""
    named = tuple(dict.fromkeys(ids))
    return Shown(
        tuple(dict.fromkeys(map(_CONNECTION, named))),
        tuple(dict.fromkeys(map(_STREAM, named))),
        tuple(dict.fromkeys(fields)),
        tuple(map(mint, named)),
    )


def one_shown(id: RecordId, handle: str, fields: Iterable[str]) -> Shown:
    """The same of a single record, whose handle is at hand."""
    return Shown((id.connection_id,), (id.stream,), tuple(dict.fromkeys(fields)), (handle,))


def record_shown(record: Record) -> Shown:
    return (
        shown_of(*_told((record,))) if record.expanded else one_shown(record.id, mint(record.id), fields_told(record))
    )


def page_shown(page: RecordPage) -> Shown:
    """Tombstones too: that a record is gone is told. So is the time of the first and the last record of all."""
    ids, fields = _told(page.records)
    return shown_of(ids, [*fields, *(page.span.fields if page.span else ())])


def around_shown(page: RecordPage) -> Shown:
    """The same and the name of the record that it is around, which the tools repeat."""
    shown = page_shown(page)
    return together(shown, shown_of((page.around.id,))) if page.around else shown


def _told(entries: Iterable[Entry]) -> tuple[list[RecordId], list[str]]:
    everything = [*with_related(entries)]
    records = [entry for entry in everything if isinstance(entry, Record)]
    return [entry.id for entry in everything], [*chain.from_iterable(map(fields_told, records))]


def with_related(entries: Iterable[Entry]) -> Iterator[Entry]:
    for entry in entries:
        yield entry
        if isinstance(entry, Record) and entry.expanded:
            yield from related_to(entry)


def related_to(record: Record) -> Iterator[Record]:
    return (other for group in record.expanded.values() for other in group.records)


def fields_told(record: Record) -> Iterable[str]:
    """The time of a record stands beside its data, and is told even where the field itself is left out."""
    return record.data if record.time_field is None else (*record.data, record.time_field)


def hits_shown(hits: Iterable[Hit]) -> Shown:
    """The fields of excerpts, and those that a title or a time came from."""
    hits = tuple(hits)
    fields = [name for hit in hits for name in (*hit.told_fields, *(excerpt.field for excerpt in hit.excerpts))]
    return shown_of([hit.id for hit in hits], fields)


def lean_shown(hits: Iterable[Hit]) -> Shown:
    """Of lean hits no title, but who wrote them, how much they are about, and which of their fields matched."""
    hits = tuple(hits)
    about = [name for hit in hits for name in (hit.time_field, hit.actor_field) if name is not None]
    about += [name for hit in hits if hit.amount for name in hit.amount.fields]
    proven = [name for hit in hits for name in (*hit.matched_fields, *map(_FIELD, hit.excerpts))]
    return shown_of([hit.id for hit in hits], (*about, *proven))


def window_shown(window: FieldWindow) -> Shown:
    return one_shown(window.id, mint(window.id), (window.field,))


def aggregation_shown(aggregation: Aggregation) -> Shown:
    """The fields whose values the numbers are made of, extremes among them; records are counted, not shown."""
    query = aggregation.query
    counted_in = aggregation.currency.field if aggregation.currency else None
    asked = (query.field, query.group_by, query.group_by_time, counted_in)
    return Shown(streams=(query.stream,), fields=tuple(name for name in asked if name is not None))


def catalogue_shown(catalogue: Catalogue, *, days: bool = False) -> Shown:
    """Whose streams there are, and how much they hold; `days` where it is told from when to when."""
    entries = catalogue.entries
    connections = [holding.origin.connection_id for entry in entries for holding in entry.holdings]
    dated = [entry for entry in entries if any(holding.earliest or holding.latest for holding in entry.holdings)]
    fields = [name for entry in dated if (name := entry.stream.order_field)] if days else []
    return Shown(
        tuple(dict.fromkeys(connections)),
        tuple(dict.fromkeys([entry.stream.name for entry in entries])),
        tuple(dict.fromkeys(fields)),
    )
