"""The catalogue as a short index, then one stream in detail."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields as members
from dataclasses import replace
from itertools import chain, groupby
from typing import NamedTuple

from pdpp_server.evidence.budget import BudgetRow, first_that_fits, fit
from pdpp_server.evidence.budgets import (
    LABEL_CHARS,
    SCHEMA_ENTRY_BYTES_MIN,
    SCHEMA_FIELDS_BYTES,
    SCHEMA_INDEX_BYTES,
    SCHEMA_LABEL_STEPS,
    SCHEMA_NOTE_BYTES,
    SCHEMA_OTHER_IDS_BYTES,
    SCHEMA_OTHERS_BYTES,
    SCHEMA_SAID_CHARS,
    SCHEMA_STREAM_BYTES,
)
from pdpp_server.evidence.calls import NextCall, records_of, schema_of
from pdpp_server.evidence.text import byte_len, clip_shown, compact_json, name_text, quoted
from pdpp_server.evidence.titles import label
from pdpp_server.model.catalogue import Catalogue, Holding, StreamEntry
from pdpp_server.model.queries import BY_MEANING, BY_WORDS
from pdpp_server.model.sources import Origin
from pdpp_server.model.streams import Aggregations, Field, Stream

UNSAID = "?"  # a number or type that the server did not say
_MONTH_CHARS = len("2026-11")
_FLAGS = (
    "flags: eq exact filter, range(operators), lex word search, sem search by meaning, sort, agg(aggregations), "
    "role=what the field is declared to be"
)


_FEW_SOURCES = "add connection_id where a stream has several connections"


# The index --------------------------------------------------------------------------------------------------------


class SchemaText(NamedTuple):
    text: str
    days: bool = False  # whether it tells from when to when


def index_text(catalogue: Catalogue) -> SchemaText:
    """Every stream is named, whatever else must give way."""
    if not catalogue.entries:
        return SchemaText("schema: no stream is granted here. Only the owner can widen a grant.")
    numbers = connection_numbers(catalogue)
    text = ""
    for stream_text in (_with_months, _with_count, _with_numbers):
        ways = (_index(catalogue, numbers, chars, stream_text) for chars in SCHEMA_LABEL_STEPS)
        text = first_that_fits(ways, SCHEMA_INDEX_BYTES)
        if byte_len(text) <= SCHEMA_INDEX_BYTES:
            return SchemaText(_with_fields(catalogue, text), days=stream_text is _with_months)
    return SchemaText(_index(catalogue, numbers, 0, lambda entry, _: name_text(entry.stream.name)))


def is_of_one_stream(catalogue: Catalogue) -> bool:
    """Then its fields are what would be asked for next; a server elsewhere may not have told them yet."""
    return len(catalogue.entries) == 1 and bool(catalogue.entries[0].stream.fields)


def _with_fields(catalogue: Catalogue, index: str) -> str:
    if not is_of_one_stream(catalogue):
        return index
    told, _ = index.rsplit("\n", 1)
    _, *fields = _entry_text(catalogue, catalogue.entries[0], SCHEMA_FIELDS_BYTES, full=False).split("\n")
    text = "\n".join((told, _FLAGS, *fields, f"next: {index_next(catalogue)[0].text}"))
    return text if byte_len(text) <= SCHEMA_INDEX_BYTES else index


def index_next(catalogue: Catalogue) -> tuple[NextCall, ...]:
    """The fields of the first stream; where these are told already, that stream."""
    if is_of_one_stream(catalogue):
        return stream_next(catalogue)
    return tuple(schema_of(entry.stream.name) for entry in catalogue.entries[:1])


def connection_numbers(catalogue: Catalogue) -> dict[Origin, int]:
    """Each connection's number, by which the index names it."""
    origins = dict.fromkeys(holding.origin for entry in catalogue.entries for holding in entry.holdings)
    return {origin: number for number, origin in enumerate(origins, 1)}


def number_ranges(numbers: Iterable[int]) -> str:
    """1,2,3,7 as `1-3,7`."""
    runs = groupby(enumerate(sorted(set(numbers))), key=lambda pair: pair[1] - pair[0])
    ends = [(run[0][1], run[-1][1]) for run in (list(group) for _, group in runs)]
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ends)


StreamText = Callable[[StreamEntry, Mapping[Origin, int]], str]


def _index(catalogue: Catalogue, numbers: Mapping[Origin, int], label_chars: int, stream_text: StreamText) -> str:
    streams, connections = len(catalogue.entries), len(numbers)
    call = schema_of(catalogue.entries[0].stream.name).text
    lines = [
        f"schema: {_counted(connections, 'connection')}, {_counted(streams, 'stream')}. "
        "[1] is connection number 1; after a stream its connections, records and first..last month.",
        *(f"[{number}] {_origin_text(origin, label_chars)}" for origin, number in numbers.items()),
        *(
            f"connector {name_text(key)}: " + " · ".join(stream_text(entry, numbers) for entry in entries)
            for key, entries in groupby(catalogue.entries, key=lambda entry: entry.source.connector_key)
        ),
        *missing_lines(catalogue),
        f"next: {call} for fields and filters; {several_sources(catalogue) or _FEW_SOURCES}",
    ]
    return "\n".join(lines)


def several_sources(catalogue: Catalogue) -> str | None:
    """A grant has one source: several of them are a package, in which a read of one stream has to name its own."""
    is_package = len({entry.source for entry in catalogue.entries}) > 1
    return "with several sources, query_records and aggregate always need connection_id" if is_package else None


def missing_lines(catalogue: Catalogue) -> Iterator[str]:
    """What is granted and no longer here, so that nobody looks for it."""
    missing = catalogue.missing
    if missing:
        rows = [BudgetRow(f"{name_text(each.connection_id)} {name_text(each.connector_key)}") for each in missing]
        shown = fit(rows, SCHEMA_OTHER_IDS_BYTES, joint=2)
        more = f" and {len(missing) - len(shown)} more" if len(shown) < len(missing) else ""
        yield f"partial: removed by the owner, so nothing of it is here: {', '.join(shown)}{more}"


def _with_numbers(entry: StreamEntry, numbers: Mapping[Origin, int]) -> str:
    return f"{name_text(entry.stream.name)}[{number_ranges(numbers[holding.origin] for holding in entry.holdings)}]"


def _with_count(entry: StreamEntry, numbers: Mapping[Origin, int]) -> str:
    return f"{_with_numbers(entry, numbers)} {_amount_text(entry.records)}"


def _with_months(entry: StreamEntry, numbers: Mapping[Origin, int]) -> str:
    return f"{_with_count(entry, numbers)} records{months(entry.holdings)}"


def _amount_text(records: int | None) -> str:
    return UNSAID if records is None else str(records)


def months(holdings: Iterable[Holding]) -> str:
    """` 2019-03..2026-11`, or nothing where no time is known."""
    known = [h for h in holdings if h.earliest and h.latest]
    if not known:
        return ""
    first, last = min(str(h.earliest) for h in known), max(str(h.latest) for h in known)
    return f" {name_text(first[:_MONTH_CHARS])}..{name_text(last[:_MONTH_CHARS])}"


def _origin_text(origin: Origin, label_chars: int) -> str:
    named = f"{name_text(origin.connection_id)} {name_text(origin.connector_key)}"
    shown = label(origin, label_chars) if label_chars else ""
    return f"{named} {quoted(shown)}" if shown else named


# One stream -------------------------------------------------------------------------------------------------------


def stream_text(catalogue: Catalogue, *, full: bool = False) -> SchemaText:
    """Fields and abilities of each source that has the stream; what does not fit is counted and can be asked for."""
    if not catalogue.entries:
        return SchemaText("schema: no such stream is granted here.\nnext: schema {} for the streams that are")
    tail = f"next: {stream_next(catalogue)[0].text}"
    flags = f"{_FLAGS}; {UNSAID} not said by that server" if _is_silent(catalogue) else _FLAGS
    left = SCHEMA_STREAM_BYTES - byte_len(flags) - byte_len(tail) - 2
    entries = catalogue.entries[: max(1, (left - SCHEMA_OTHERS_BYTES) // SCHEMA_ENTRY_BYTES_MIN)]
    others = "\n".join(filter(None, (_others_text(catalogue.entries[len(entries) :]), *missing_lines(catalogue))))
    left -= byte_len(others)
    blocks: list[str] = []
    for index, entry in enumerate(entries):
        blocks.append(_entry_text(catalogue, entry, left // (len(entries) - index) - 1, full))
        left -= byte_len(blocks[-1]) + 1
    head, *rest = "\n".join(blocks).split("\n")
    text = "\n".join((head, flags, *rest, *filter(None, (others,)), tail))
    return SchemaText(text, days=any(_tells_days(*pair) for pair in zip(entries, blocks, strict=True)))


def _tells_days(entry: StreamEntry, block: str) -> bool:
    """The first line of a block has the months of its connections, where there was room for them."""
    head = block.partition("\n")[0]
    return any(dated in head for holding in entry.holdings if (dated := months((holding,))))


def _is_silent(catalogue: Catalogue) -> bool:
    """Whether a number or type of these streams was not said."""
    return any(
        entry.records is None or any(field.type is None for field in entry.stream.fields.values())
        for entry in catalogue.entries
    )


def _others_text(entries: Sequence[StreamEntry]) -> str:
    ids = [name_text(holding.origin.connection_id) for entry in entries for holding in entry.holdings[:1]]
    if not entries:
        return ""
    shown = fit([BudgetRow(id) for id in ids], SCHEMA_OTHER_IDS_BYTES, joint=2)
    more = f" and {len(ids) - len(shown)} more, see schema {{}}" if len(shown) < len(ids) else ""
    return (
        f"{_counted(len(entries), 'more source')} with this stream; repeat with connection_id: {', '.join(shown)}{more}"
    )


def stream_next(catalogue: Catalogue) -> tuple[NextCall, ...]:
    """A search in the stream where it can be searched, and a list of its records; else what else there is."""
    for entry in catalogue.entries:
        searched = {*entry.stream.lexical_fields, *entry.stream.semantic_fields}
        if entry.holdings and entry.granted & searched:
            connection = entry.holdings[0].origin.connection_id
            arguments = {"query": "WORDS", "streams": [entry.stream.name], "connection_id": connection}
            return (NextCall("search", arguments), records_of(entry.stream.name, connection))
    held = [
        (entry.stream.name, holding.origin.connection_id) for entry in catalogue.entries for holding in entry.holdings
    ]
    if held:
        return (records_of(*held[0]),)
    return (schema_of(),) if catalogue.entries else ()


def _entry_text(catalogue: Catalogue, entry: StreamEntry, limit: int, full: bool) -> str:
    stream = entry.stream
    name = f"schema {name_text(stream.name)}:"
    heads = (f"{name} {_sources_text(entry, chars)}{_facts_text(stream)}" for chars in (*SCHEMA_LABEL_STEPS, 0))
    head = first_that_fits(chain(heads, (f"{name} {_counted(len(entry.holdings), 'connection')}",)), limit // 3)
    facts = first_that_fits(_abilities_ways(catalogue, entry), limit // 3)
    narrows = catalogue.narrows
    sorts = _sortable(catalogue, stream)
    rows = [
        _field_row(stream, field, full, narrows, field.name in sorts)
        for name, field in stream.fields.items()
        if name in entry.granted
    ]
    joint = "\n" if full else " | "
    room = limit - byte_len(head) - byte_len(facts) - SCHEMA_NOTE_BYTES
    shown = fit(rows, room, joint=len(joint))
    missing = (
        f"\n{len(rows) - len(shown)} of {len(rows)} granted fields do not fit here; fetch shows the fields of a record"
    )
    text = f"{head}\n{joint.join(shown)}{missing if len(shown) < len(rows) else ''}\n{facts}"
    said = first_that_fits(_publisher_ways(entry), limit - byte_len(text)) if not full else ""
    return f"{text}{said}"


def _publisher_ways(entry: StreamEntry) -> Iterator[str]:
    """What the publisher says of the stream, and of the fields that are compared by size: signs, zones, what is left
    empty. A full text has it all in its schemas."""
    about = _said_text(entry.stream.description)
    fields = [f"{name_text(field.name)} {_said_text(field.description)}" for field in entry.explained_fields]
    for parts in ((about, *fields), (about,)):
        said = " · ".join([part for part in parts if part])
        if said:
            yield f"\nits publisher says: {said}"
    yield ""


def _said_text(said: str | None) -> str:
    return quoted(clip_shown(said, SCHEMA_SAID_CHARS)) if said else ""


def _sources_text(entry: StreamEntry, label_chars: int) -> str:
    """Each connection with what it holds; where labels had to go, only the first of many."""
    shown = entry.holdings if label_chars else entry.holdings[:3]
    texts = [f"{_origin_text(h.origin, label_chars)}, {_amount_text(h.records)} records{months((h,))}" for h in shown]
    rest = len(entry.holdings) - len(shown)
    more = [f"{rest} more connections, see schema {{}}"] if rest else []
    return "; ".join([*texts, *more]) or "no connection"


def _facts_text(stream: Stream) -> str:
    key = f", key {_names(stream.primary_key)}" if stream.primary_key else ""
    return f"{key}, {name_text(stream.semantics).replace('_', ' ')}" if stream.semantics else key


def _abilities_ways(catalogue: Catalogue, entry: StreamEntry) -> Iterator[str]:
    stream = entry.stream
    always = f"always_returned={_names(stream.primary_key) if stream.primary_key else UNSAID}"
    modes = f"search modes: {_modes_text(entry)}"
    counts = [modes] if catalogue.extensions is None else ["count: exact", modes]
    usable = [name for name in _sortable(catalogue, stream) if name in entry.granted]
    sort = [f"sort: {_names(usable)}"] if usable else []
    hidden = [name for name in stream.fields if name not in entry.granted]
    not_granted = [f"not granted: {_names(hidden)}"] if hidden else []
    known = [f"{name_text(view.id)}({_names(view.fields)})" for view in stream.views]
    named = [name_text(id) for id in stream.named_views]
    views = [f"views: {' '.join((*known, *named))}"] if (known or named) and catalogue.narrows else []
    relations = [
        f"{name_text(one.name)} ({name_text(one.stream)}, up to {one.max_limit})"
        for one in entry.expandable
        if one.usable
    ]
    expand = [f"expand: {', '.join(relations)}"] if relations else []
    for parts in ((*sort, *views, *expand, *counts, *not_granted), (*sort, *expand, *counts), counts):
        yield " · ".join((always, *parts))
    yield modes


def _modes_text(entry: StreamEntry) -> str:
    """In which modes something is found that may be read."""
    usable: tuple[str, ...] = ()
    if entry.granted & set(entry.stream.lexical_fields):
        usable += BY_WORDS
    if entry.granted & set(entry.stream.semantic_fields):
        usable += BY_MEANING
    return ", ".join(usable) or ("none" if entry.stream.says_search else "not said")


def _sortable(catalogue: Catalogue, stream: Stream) -> tuple[str | None, ...]:
    """By what a server can sort: not all of them sort by more than the order of the stream."""
    return stream.sortable if catalogue.sorts_by_any or catalogue.token_kind == "owner" else (stream.cursor_field,)


def _field_row(stream: Stream, field: Field, full: bool, narrows: bool, sorts: bool) -> BudgetRow:
    type = UNSAID if field.type is None else name_text(field.type)
    plain = " ".join((name_text(field.name), type, *_abilities(stream, field, narrows, sorts)))
    return BudgetRow(name_text(field.name), (f"{plain} {compact_json(field.schema)}", plain) if full else (plain,))


def _abilities(stream: Stream, field: Field, narrows: bool, sorts: bool) -> Iterator[str]:
    name = field.name
    if narrows and stream.compares(field):
        yield "eq"
    if narrows and (operators := stream.range_filters.get(name)):
        yield f"range({','.join(operators)})"
    if name in stream.lexical_fields:
        yield "lex"
    if name in stream.semantic_fields:
        yield "sem"
    if sorts:
        yield "sort"
    if kinds := [
        m.name for m in members(Aggregations) if m.name != "count" and name in getattr(stream.aggregations, m.name)
    ]:
        yield f"agg({','.join(kinds)})"
    if field.role:
        yield f"role={name_text(field.role)}"


def _names(names: Iterable[str]) -> str:
    return ",".join(name_text(name) for name in names) or "none"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# What both channels share -----------------------------------------------------------------------------------------


def shown_catalogue(catalogue: Catalogue, label_chars: int = LABEL_CHARS) -> Catalogue:
    """The same with labels that are safe to show."""

    def shown(holding: Holding) -> Holding:
        return replace(holding, origin=replace(holding.origin, name=label(holding.origin, label_chars) or None))

    entries: Sequence[StreamEntry] = [
        replace(entry, holdings=tuple(shown(holding) for holding in entry.holdings)) for entry in catalogue.entries
    ]
    return replace(catalogue, entries=tuple(entries))
