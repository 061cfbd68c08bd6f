"""What the tools add around the server's own JSON: flat results, next steps, envelopes that say nothing twice."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import orjson

from pdpp_server.errors import InvalidExpand, InvalidFilter, InvalidRequest, PdppError
from pdpp_server.model.aggregates import Aggregation
from pdpp_server.model.catalogue import Catalogue, StreamEntry
from pdpp_server.model.parameters import parameters
from pdpp_server.model.records import Record, RecordId, RecordPage, SearchPage, Tombstone
from pdpp_server.model.sources import Origin
from pdpp_server.model.text import FieldWindow
from pdpp_server.wire import aggregate, errors, query_records, read_record_field, schema, search
from pdpp_server.wire.envelope import NO_COUNT, Json, encode_warnings, present
from pdpp_server.wire.params import NestedPath, Params
from pdpp_server.wire.records import encode_bare, encode_expanded, encode_tombstone

LEGEND = {
    "t": "type",
    "role": "what the field is declared to be",
    "eq": "exact filter",
    "r": "range filter operators",
    "lex": "word search",
    "sem": "search by meaning",
    "a": "aggregations",
    "g=false": "not granted",
}


def _legend(catalogue: Catalogue) -> Json:
    return {**LEGEND, "r": f"{LEGEND['r']}; sort takes it too"} if catalogue.sorts_by_any else LEGEND


Step = tuple[str, Mapping[str, Any]]


def encode_next(steps: Iterable[Step]) -> list[Json]:
    """The first member of an answer: a client that cuts it still shows how to go on."""
    return [{"tool": tool, "arguments": dict(arguments)} for tool, arguments in steps]


# Arguments --------------------------------------------------------------------------------------------------------

ARGUMENTS_BYTES_MAX = 3000  # every next step repeats them
FILTER_REMEDY = (
    'A filter is {"field": value} or {"field": {"gte": value}} with gte, gt, lte or lt; a value is text, a number, '
    "true or false."
)
EXPAND_REMEDY = 'Name relations as {"expand": ["relation"], "expand_limit": {"relation": 3}}.'
_NOT_REPEATED = ("query", "q", "cursor", "changes_since")  # or with a bound of its own
_WHOLE_FLOATS = 1 << 53


def params_of(query: type, arguments: Mapping[str, Any], /, *without: str, **instead: str) -> Params:
    """Arguments as the reader of an address takes them, so that what one door takes the other takes too."""
    named: dict[str, Any] = {}
    for each in parameters(query):
        if each.hint is None or each.tool in without:
            continue
        value = instead.get(each.tool) or arguments.get(each.tool, each.usual)
        if value is not None:
            named[each.name] = value
        if each.kind == "expand" and "expand_limit" in arguments:
            named["expand_limit"] = arguments["expand_limit"]
    check_size(arguments)
    return Params(tuple(pair for name, value in named.items() for pair in _pairs((name,), value)))


def check_size(arguments: Mapping[str, Any]) -> None:
    """Refuse more than the next step of an answer has room to repeat.

    Raises: InvalidRequest.
    """
    if len(orjson.dumps(arguments)) <= ARGUMENTS_BYTES_MAX:  # as nearly always
        return
    repeated = {name: value for name, value in arguments.items() if name not in _NOT_REPEATED}
    size = len(orjson.dumps(repeated))
    if size > ARGUMENTS_BYTES_MAX:
        raise InvalidRequest(
            f"The arguments have {size} bytes; at most {ARGUMENTS_BYTES_MAX} are possible.",
            remedy="Name fewer fields, or a shorter filter.",
        )


def _pairs(path: NestedPath, value: Any) -> Iterable[tuple[NestedPath, str]]:
    """`{"filter": {"a": {"gte": 1}}}` as what `filter[a][gte]=1` is read to."""
    if isinstance(value, list):
        return [(path, _value_text(item)) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return [(path, _value_text(value))]
    inner = cast("Mapping[str, Any]", value)
    for name in inner:
        _check_name(path[0], name)
    return [pair for name, each in inner.items() for pair in _pairs((*path, name), each)]


def _check_name(param: str, name: str) -> None:
    if name and not set(name) & set("[]"):
        return
    message = f"A name in {param} is empty or has brackets."
    if param == "filter":
        raise InvalidFilter(message, param=param, remedy=FILTER_REMEDY)
    raise InvalidExpand(message, param=param, remedy=EXPAND_REMEDY)


def _value_text(value: str | float) -> str:
    """JSON does not tell 5.0 from 5, and neither does a filter."""
    if isinstance(value, str):
        return value
    is_whole = type(value) is float and value.is_integer() and abs(value) < _WHOLE_FLOATS
    return orjson.dumps(int(value) if is_whole else value).decode()


# search -----------------------------------------------------------------------------------------------------------


def encode_search(
    page: SearchPage,
    recall_says: str,
    request_id: str,
    *,
    ids: Sequence[str],
    titles: Sequence[str],
    url_of: Callable[[str], str],
    steps: Iterable[Step],
) -> Json:
    """The lean envelope as the server gives it and, in the same order, the flat results."""
    results: list[Json] = []
    for id, title, hit in zip(ids, titles, page.hits, strict=True):
        result = {"id": id, "title": title, "url": url_of(id)}
        if hit.id.connection_id:
            result["connection_id"] = hit.id.connection_id
        results.append(result)
    excerpts = [excerpt for hit in page.hits for excerpt in hit.excerpts]
    is_cut = any(len(excerpt.text) < excerpt.total_chars for excerpt in excerpts)
    return {
        "next": encode_next(steps),
        "results": results,
        "data": search.encode_lean(page, recall_says),
        **present(read_with=READ_WITH if is_cut else None),
        "request_id": request_id,
    }


_EVIDENCE = "data.data[i].evidence[j]"
READ_WITH: Json = {
    "tool": "read_record_field",
    "arguments": {
        "id": "results[i].id",
        "field_path": f"{_EVIDENCE}.field_path",
        "offset_chars": f"{_EVIDENCE}.start",
    },
}


# schema -----------------------------------------------------------------------------------------------------------


_MONTH_CHARS = len("2026-11")


def encode_index(catalogue: Catalogue, *, fields: bool = False) -> Json:
    """What there is, of which connection, and from when to when: each once, and by name; with `fields`, what each of
    these can do."""
    connectors: list[Json] = []
    for source, entries in schema.by_source(catalogue):
        origins = dict.fromkeys(holding.origin for entry in entries for holding in entry.holdings)
        connections = [present(connection_id=one.connection_id, display_name=one.label) for one in origins]
        streams: list[Json] = []
        for entry in entries:
            row: Json = {"name": entry.stream.name, "holdings": _holdings(entry, _MONTH_CHARS)}
            if fields:
                row["field_capabilities"] = schema.flags_of(entry, catalogue.narrows)
            streams.append(row)
        connectors.append({"connector_key": source.connector_key, "connections": connections, "streams": streams})
    index = {
        **_without(schema.head(catalogue), "capabilities"),
        "detail": "compact",
        "connector_count": len(connectors),
        "stream_count": len(catalogue.entries),
        "connectors": connectors,
    }
    if fields:
        index["field_capability_legend"] = _legend(catalogue)
    return index


def _holdings(entry: StreamEntry, chars: int | None = None) -> Json:
    """How many records each connection has, and from when to when."""
    held: Json = {}
    for holding in entry.holdings:
        earliest = holding.earliest[:chars] if holding.earliest else None
        latest = holding.latest[:chars] if holding.latest else None
        amounts = present(record_count=holding.records, earliest_at=earliest, latest_at=latest)
        held[holding.origin.connection_id] = amounts
    return held


def encode_numbered_index(
    catalogue: Catalogue, numbers: Mapping[str, int], ranges: Callable[[Iterable[int]], str], *, counts: bool
) -> Json:
    """The index of a large grant: each connection once, and streams that name connections by number."""
    origins: dict[str, Origin] = {}
    connectors: dict[str, list[Json]] = {}
    for entry in catalogue.entries:
        ids = {holding.origin.connection_id: holding.origin for holding in entry.holdings}
        origins |= ids
        row: Json = {"name": entry.stream.name, "connections": ranges(numbers[id] for id in ids)}
        if counts and entry.records is not None:
            row["record_count"] = entry.records
        connectors.setdefault(entry.source.connector_key, []).append(row)
    return {
        "object": "schema",
        "detail": "compact",
        "connector_count": len(connectors),
        "stream_count": len(catalogue.entries),
        "connections": [_numbered(number, origins[id]) for id, number in numbers.items()],
        "connectors": [{"connector_key": key, "streams": rows} for key, rows in connectors.items()],
        **schema.encode_partial(catalogue),
    }


def _numbered(number: int, origin: Origin) -> Json:
    return present(
        number=number,
        connection_id=origin.connection_id,
        connector_key=origin.connector_key,
        display_name=origin.label,
    )


def encode_names(catalogue: Catalogue) -> Json:
    """Nothing but names: what is left of an index when even numbers are too many."""
    connectors: dict[str, list[Json]] = {}
    for entry in catalogue.entries:
        connectors.setdefault(entry.source.connector_key, []).append({"name": entry.stream.name})
    return {
        "object": "schema",
        "detail": "compact",
        "stream_count": len(catalogue.entries),
        "connectors": [{"connector_key": key, "streams": names} for key, names in connectors.items()],
        **schema.encode_partial(catalogue),
    }


def encode_stream(catalogue: Catalogue, *, fields: int | None = None, holdings: bool = True) -> Json:
    """The compact document of one stream, its numbers by name; at most `fields` of each row, without what is said of
    them, and how many that leaves out."""
    document = _without(schema.encode_compact(catalogue, ""), "links")
    entries = [entry for _, of in schema.by_source(catalogue) for entry in of]
    for row, entry in zip(_rows(document), entries, strict=True):
        if holdings:
            row["holdings"] = _holdings(entry)
        else:
            row.pop("holdings", None)
            row.pop("granted_connections", None)
        _keep_fields(row, fields)
    return {**document, "field_capability_legend": _legend(catalogue)}


def encode_full_stream(catalogue: Catalogue, *, flags: bool = False, fields: int | None = None) -> Json:
    """The exhaustive document; where it is too long, abilities as flags, then fewer fields, counted."""
    document = _without(schema.encode_full(catalogue, ""), "links")
    compact = _rows(schema.encode_compact(catalogue, ""))
    for row, short in zip(_rows(document), compact, strict=True):
        if flags:
            row["field_capabilities"] = short["field_capabilities"]
        else:
            for name, capability in row["field_capabilities"].items():
                row["field_capabilities"][name] = _without(capability, "schema")
        _keep_fields(row, fields)
        if fields is not None:
            _keep_schema(row)
    document["detail"] = "full"
    if flags:
        document["field_capability_legend"] = _legend(catalogue)
    return document


def _keep_schema(row: Json) -> None:
    """Of the fields that are shown, and nothing more of the stream."""
    properties = row["schema"].get("properties", {})
    kept = {name: properties[name] for name in row["field_capabilities"] if name in properties}
    row["schema"] = {"type": "object", "properties": kept}
    for name in ("views", "relationships", "query", "description", "display", "granted_connections"):
        row.pop(name, None)


def _rows(document: Json) -> list[Json]:
    return [row for connector in document["connectors"] for row in connector["streams"]]


def _keep_fields(row: Json, fields: int | None) -> None:
    capabilities = row["field_capabilities"]
    if fields is not None:
        row.pop("field_descriptions", None)
    if fields is not None and fields < len(capabilities):
        row["field_capabilities"] = dict(list(capabilities.items())[:fields])
        row["fields_omitted"] = len(capabilities) - fields


def encode_schema(document: Json, request_id: str, steps: Iterable[Step], note: str | None = None) -> Json:
    return {"next": encode_next(steps), **present(note=note), "data": document, "request_id": request_id}


# query_records and aggregate --------------------------------------------------------------------------------------

READ_CLIPPED: Json = {
    "tool": "read_record_field",
    "arguments": {"id": "a key of data.meta.clipped", "field_path": "a name in data.meta.clipped[id]"},
}


def encode_records(
    page: RecordPage,
    stream: str,
    request_id: str,
    *,
    handle_of: Callable[[RecordId], str],
    clipped: Mapping[str, Mapping[str, int]],
    omitted: Mapping[str, int],
    steps: Iterable[Step],
) -> Json:
    """The list envelope, each record with its handle; what was clipped is listed once, with the call that reads it."""
    envelope = query_records.encode_list(page, stream, partial(_with_handle, handle_of))
    if page.around:
        envelope = _talk(envelope, handle_of(page.around.id))
    envelope["meta"] |= present(clipped=clipped or None, omitted_fields=omitted or None)
    return {
        "next": encode_next(steps),
        "data": envelope,
        **present(read_with=READ_CLIPPED if clipped else None),
        "request_id": request_id,
    }


_OF_A_TALK = ("connector_key", "connection_id", "display_name")  # the same for all that is said in it


def _talk(envelope: Json, handle: str) -> Json:
    """A page around a record: what its records share is said once, as is each cursor, with the way that it goes."""
    told: Json = envelope["meta"]
    records: list[Json] = envelope["data"]
    first = records[0] if records else {}
    shared = {name: value for name, value in first.items() if name in _OF_A_TALK}
    meta = {name: value for name, value in told.items() if value not in ([], NO_COUNT)}
    meta["around"] = {"handle": handle, **told["around"], **shared}
    said = [_said(record) for record in records]
    return {**_without(envelope, "next_cursor"), "data": said, "meta": meta}


def _said(record: Json) -> Json:
    """When it was stored does not matter here, and its own time stands in its data."""
    said = _without(record, "object", "stream", "emitted_at", *_OF_A_TALK)
    if said.get("authored_at") in said["data"].values():
        said.pop("authored_at", None)
    return said


def _with_handle(handle_of: Callable[[RecordId], str], entry: Record | Tombstone) -> Json:
    """Without the roles of its fields, which `schema` tells once, and without addresses that no tool can follow."""
    named: Json = {"handle": handle_of(entry.id)}
    if isinstance(entry, Tombstone):
        return named | encode_tombstone(entry)
    named |= encode_bare(entry)
    if entry.expanded:
        encode = partial(_with_handle, handle_of)
        named["expanded"] = {name: encode_expanded(group, encode) for name, group in entry.expanded.items()}
    return named


def encode_aggregation(
    aggregation: Aggregation, request_id: str, total_chars: Sequence[int | None], steps: Iterable[Step]
) -> Json:
    """The aggregation; a key or value that had to be clipped says how long it is."""
    body = _without(aggregate.encode(aggregation, ""), "links")
    for clipped, chars in zip(body.get("groups", (body,)), total_chars, strict=True):
        clipped |= present(total_chars=chars)
    return {"next": encode_next(steps), "data": body, "request_id": request_id}


# fetch, read_record_field, refusals -------------------------------------------------------------------------------


def encode_document(id: str, title: str, text: str, url: str, metadata: dict[str, str]) -> Json:
    return {"id": id, "title": title, "text": text, "url": url, "metadata": metadata}


def encode_window(window: FieldWindow, id: str, request_id: str, steps: Iterable[Step]) -> Json:
    """A cursor is the plain offset, as text."""
    encoded = read_record_field.encode(window, "")
    warnings = encode_warnings(window.warnings)
    return {
        "next": encode_next(steps),
        "record": {
            "id": id,
            "connection_id": window.id.connection_id,
            "stream": window.id.stream,
            "record_id": window.id.key,
        },
        "field": encoded["field"],
        "window": {
            **encoded["window"],
            "next_cursor": _cursor(window.next_offset),
            "previous_cursor": _cursor(window.previous_offset),
        },
        **present(warnings=warnings or None),
        "request_id": request_id,
    }


def _cursor(offset: int | None) -> str | None:
    return None if offset is None else str(offset)


def encode_refusal(error: PdppError, message: str, remedy: str, label_of: Callable[[str], str], most: int) -> Json:
    """The error envelope in the words of the text, with at most `most` candidates; a name may be a caller's own."""
    inner: Json = {**errors.encode(error)["error"], "message": message}
    if error.param:
        inner["param"] = label_of(error.param)
    if remedy:
        inner["next_step"] = remedy
    if "available_connections" in inner:
        candidates: list[Json] = inner["available_connections"][:most]
        for candidate in candidates:
            if candidate.get("display_name"):
                candidate["display_name"] = label_of(candidate["display_name"])
        inner["available_connections"] = candidates
        omitted = len(error.candidates) - len(candidates)
        if omitted:
            inner |= {"available_connections_truncated": True, "available_connections_omitted": omitted}
    return {"error": inner}


def _without(document: Json, *names: str) -> Json:
    return {name: value for name, value in document.items() if name not in names}
