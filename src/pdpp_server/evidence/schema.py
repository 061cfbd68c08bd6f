"""The catalogue as a short index, then one stream in detail."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields as members
from dataclasses import replace
from itertools import groupby
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
from pdpp_server.evidence.text import byte_len, clip_shown, compact_json, name_text, number_of, quoted
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
    entry = _entry_text(catalogue, catalogue.entries[0], SCHEMA_FIELDS_BYTES, full=False)
    _, fields = entry.split("\n", 1)
    following = f"next: {index_next(catalogue)[0].text}"
    text = "\n".join((told, _FLAGS, fields, following))
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
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


StreamText = Callable[[StreamEntry, Mapping[Origin, int]], str]


def _index(catalogue: Catalogue, numbers: Mapping[Origin, int], label_chars: int, stream_text: StreamText) -> str:
    connections = number_of(len(numbers), "connection")
    streams = number_of(len(catalogue.entries), "stream")
    lines = [
        f"schema: {connections}, {streams}. "
        "[1] is connection number 1; after a stream its connections, records and first..last month."
    ]
    for origin, number in numbers.items():
        lines.append(f"[{number}] {_origin_text(origin, label_chars)}")
    for key, entries in groupby(catalogue.entries, key=lambda entry: entry.source.connector_key):
        texts = [stream_text(entry, numbers) for entry in entries]
        lines.append(f"connector {name_text(key)}: {' · '.join(texts)}")
    lines += missing_lines(catalogue)
    call = schema_of(catalogue.entries[0].stream.name).text
    lines.append(f"next: {call} for fields and filters; {several_sources(catalogue) or _FEW_SOURCES}")
    return "\n".join(lines)


def several_sources(catalogue: Catalogue) -> str | None:
    """A grant has one source: several of them are a package, in which a read of one stream has to name its own."""
    is_package = len({entry.source for entry in catalogue.entries}) > 1
    return "with several sources, query_records and aggregate always need connection_id" if is_package else None


def missing_lines(catalogue: Catalogue) -> Iterator[str]:
    """What is granted and no longer here, so that nobody looks for it."""
    missing = catalogue.missing
    if missing:
        named = [f"{name_text(each.connection_id)} {name_text(each.connector_key)}" for each in missing]
        shown = _first_ids(named)
        more = f" and {len(missing) - len(shown)} more" if len(shown) < len(missing) else ""
        yield f"partial: removed by the owner, so nothing of it is here: {', '.join(shown)}{more}"


def _first_ids(ids: Iterable[str]) -> list[str]:
    """As many as there is room for."""
    return fit([BudgetRow(id) for id in ids], SCHEMA_OTHER_IDS_BYTES, joint=2)


def _with_numbers(entry: StreamEntry, numbers: Mapping[Origin, int]) -> str:
    held = number_ranges(numbers[holding.origin] for holding in entry.holdings)
    return f"{name_text(entry.stream.name)}[{held}]"


def _with_count(entry: StreamEntry, numbers: Mapping[Origin, int]) -> str:
    return f"{_with_numbers(entry, numbers)} {_amount_text(entry.records)}"


def _with_months(entry: StreamEntry, numbers: Mapping[Origin, int]) -> str:
    return f"{_with_count(entry, numbers)} records{months(entry.holdings)}"


def _amount_text(records: int | None) -> str:
    return UNSAID if records is None else str(records)


def months(holdings: Iterable[Holding]) -> str:
    """` 2019-03..2026-11`, or nothing where no time is known."""
    ends = [(holding.earliest, holding.latest) for holding in holdings if holding.earliest and holding.latest]
    if not ends:
        return ""
    first = min(earliest for earliest, _ in ends)
    last = max(latest for _, latest in ends)
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
    most = (left - SCHEMA_OTHERS_BYTES) // SCHEMA_ENTRY_BYTES_MIN
    entries = catalogue.entries[: max(1, most)]
    others = [*_other_lines(catalogue.entries[len(entries) :]), *missing_lines(catalogue)]
    left -= byte_len("\n".join(others))
    blocks: list[str] = []
    for index, entry in enumerate(entries):
        share = left // (len(entries) - index)
        block = _entry_text(catalogue, entry, share - 1, full)
        blocks.append(block)
        left -= byte_len(block) + 1
    head, *rest = "\n".join(blocks).split("\n")
    text = "\n".join((head, flags, *rest, *others, tail))
    return SchemaText(text, days=any(map(_tells_days, entries, blocks)))


def _tells_days(entry: StreamEntry, block: str) -> bool:
    """The first line of a block has the months of its connections, where there was room for them."""
    head = block.partition("\n")[0]
    dated = [months((holding,)) for holding in entry.holdings]
    return any(each in head for each in dated if each)


def _is_silent(catalogue: Catalogue) -> bool:
    """Whether a number or type of these streams was not said."""
    for entry in catalogue.entries:
        if entry.records is None or any(field.type is None for field in entry.stream.fields.values()):
            return True
    return False


def _other_lines(entries: Sequence[StreamEntry]) -> Iterator[str]:
    """Of the sources for which there is no room, by what each can be asked for."""
    if entries:
        ids = [name_text(holding.origin.connection_id) for entry in entries for holding in entry.holdings[:1]]
        shown = _first_ids(ids)
        more = f" and {len(ids) - len(shown)} more, see schema {{}}" if len(shown) < len(ids) else ""
        sources = number_of(len(entries), "more source")
        yield f"{sources} with this stream; repeat with connection_id: {', '.join(shown)}{more}"


def stream_next(catalogue: Catalogue) -> tuple[NextCall, ...]:
    """A search in the stream where it can be searched, and a list of its records; else what else there is."""
    for entry in catalogue.entries:
        searched = {*entry.stream.lexical_fields, *entry.stream.semantic_fields}
        if entry.holdings and entry.granted & searched:
            connection = entry.holdings[0].origin.connection_id
            arguments = {"query": "WORDS", "streams": [entry.stream.name], "connection_id": connection}
            return (NextCall("search", arguments), records_of(entry.stream.name, connection))
    for entry in catalogue.entries:
        for holding in entry.holdings:
            return (records_of(entry.stream.name, holding.origin.connection_id),)
    return (schema_of(),) if catalogue.entries else ()


def _entry_text(catalogue: Catalogue, entry: StreamEntry, limit: int, full: bool) -> str:
    stream = entry.stream
    head = first_that_fits(_head_ways(entry), limit // 3)
    facts = first_that_fits(_abilities_ways(catalogue, entry), limit // 3)
    sorts = _sortable(catalogue, stream)
    granted = [field for name, field in stream.fields.items() if name in entry.granted]
    rows = [_field_row(stream, field, full, catalogue.narrows, field.name in sorts) for field in granted]
    joint = "\n" if full else " | "
    room = limit - byte_len(head) - byte_len(facts) - SCHEMA_NOTE_BYTES
    shown = fit(rows, room, joint=len(joint))
    lines = [head, joint.join(shown)]
    if len(shown) < len(rows):
        missing = f"{len(rows) - len(shown)} of {len(rows)}"
        lines.append(f"{missing} granted fields do not fit here; fetch shows the fields of a record")
    text = "\n".join((*lines, facts))
    if full:
        return text
    return text + first_that_fits(_publisher_ways(entry), limit - byte_len(text))


def _head_ways(entry: StreamEntry) -> Iterator[str]:
    """Its name and its sources, with ever shorter labels; at last only how many there are."""
    name = f"schema {name_text(entry.stream.name)}:"
    for chars in (*SCHEMA_LABEL_STEPS, 0):
        yield f"{name} {_sources_text(entry, chars)}{_facts_text(entry.stream)}"
    yield f"{name} {number_of(len(entry.holdings), 'connection')}"


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
    texts: list[str] = []
    for holding in shown:
        amount = f"{_amount_text(holding.records)} records{months((holding,))}"
        texts.append(f"{_origin_text(holding.origin, label_chars)}, {amount}")
    rest = len(entry.holdings) - len(shown)
    if rest:
        texts.append(f"{rest} more connections, see schema {{}}")
    return "; ".join(texts) or "no connection"


def _facts_text(stream: Stream) -> str:
    key = f", key {_names(stream.primary_key)}" if stream.primary_key else ""
    return f"{key}, {name_text(stream.semantics).replace('_', ' ')}" if stream.semantics else key


def _abilities_ways(catalogue: Catalogue, entry: StreamEntry) -> Iterator[str]:
    stream = entry.stream
    always = f"always_returned={_names(stream.primary_key) if stream.primary_key else UNSAID}"
    usable = [name for name in _sortable(catalogue, stream) if name in entry.granted]
    sort = f"sort: {_names(usable)}" if usable else ""
    views = _views_text(stream) if catalogue.narrows else ""
    expand = _relations_text(entry)
    count = "" if catalogue.extensions is None else "count: exact"
    modes = f"search modes: {_modes_text(entry)}"
    hidden = [name for name in stream.fields if name not in entry.granted]
    not_granted = f"not granted: {_names(hidden)}" if hidden else ""
    yield _together(always, sort, views, expand, count, modes, not_granted)
    yield _together(always, sort, expand, count, modes)
    yield _together(always, count, modes)
    yield modes


def _together(*parts: str) -> str:
    """Those of them that say something."""
    return " · ".join(part for part in parts if part)


def _views_text(stream: Stream) -> str:
    known = [f"{name_text(view.id)}({_names(view.fields)})" for view in stream.views]
    named = [name_text(id) for id in stream.named_views]
    return f"views: {' '.join((*known, *named))}" if known or named else ""


def _relations_text(entry: StreamEntry) -> str:
    usable = [one for one in entry.expandable if one.usable]
    relations = [f"{name_text(one.name)} ({name_text(one.stream)}, up to {one.max_limit})" for one in usable]
    return f"expand: {', '.join(relations)}" if relations else ""


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
    if catalogue.sorts_by_any or catalogue.token_kind == "owner":
        return stream.sortable
    return (stream.cursor_field,)


def _field_row(stream: Stream, field: Field, full: bool, narrows: bool, sorts: bool) -> BudgetRow:
    type = UNSAID if field.type is None else name_text(field.type)
    name = name_text(field.name)
    plain = " ".join((name, type, *_abilities(stream, field, narrows, sorts)))
    if full:
        return BudgetRow(name, (f"{plain} {compact_json(field.schema)}", plain))
    return BudgetRow(name, (plain,))


_AGGREGATES = [member.name for member in members(Aggregations) if member.name != "count"]


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
    kinds = [kind for kind in _AGGREGATES if name in getattr(stream.aggregations, kind)]
    if kinds:
        yield f"agg({','.join(kinds)})"
    if field.role:
        yield f"role={name_text(field.role)}"


def _names(names: Iterable[str]) -> str:
    return ",".join(name_text(name) for name in names) or "none"


# What both channels share -----------------------------------------------------------------------------------------


def shown_catalogue(catalogue: Catalogue, label_chars: int = LABEL_CHARS) -> Catalogue:
    """The same with labels that are safe to show."""

    def shown(holding: Holding) -> Holding:
        name = label(holding.origin, label_chars) or None
        return replace(holding, origin=replace(holding.origin, name=name))

    entries: list[StreamEntry] = []
    for entry in catalogue.entries:
        holdings = tuple(shown(holding) for holding in entry.holdings)
        entries.append(replace(entry, holdings=holdings))
    return replace(catalogue, entries=tuple(entries))
