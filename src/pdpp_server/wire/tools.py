"""What the tools add around the server's own JSON: flat results, next steps, envelopes that say nothing twice."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pdpp_server.errors import PdppError
from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.records import Excerpt, Hit, SearchPage
from pdpp_server.model.sources import Origin
from pdpp_server.model.text import FieldWindow
from pdpp_server.wire import errors, read_record_field, schema, search
from pdpp_server.wire.envelope import Json, present
from pdpp_server.wire.records import shown_label

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

Step = tuple[str, Mapping[str, Any]]


def encode_next(steps: Iterable[Step]) -> list[Json]:
    return [{"tool": tool, "arguments": dict(arguments)} for tool, arguments in steps]


# search -----------------------------------------------------------------------------------------------------------


def encode_search(
    page: SearchPage,
    request_id: str,
    *,
    ids: Sequence[str],
    titles: Sequence[str],
    label_of: Callable[[Origin], str],
    url_of: Callable[[str], str],
    steps: Iterable[Step],
) -> Json:
    """The list envelope with hits that `encode_evidence` completes and, in the same order, the flat results."""
    envelope = search.encode_page(replace(page, hits=()), "")
    del envelope["links"]  # addresses of an API that no tool can follow; `next` says it in calls
    results = [
        {"id": id, "title": title, "url": url_of(id)}
        | ({"connection_id": hit.id.connection_id} if hit.id.connection_id else {})
        for id, title, hit in zip(ids, titles, page.hits, strict=True)
    ]
    sources = {origin: _source(origin, label_of(origin)) for origin in {hit.origin for hit in page.hits}}
    return {
        "results": results,
        "data": {**envelope, "data": [_hit(hit, sources[hit.origin]) for hit in page.hits]},
        "next": encode_next(steps),
        "read_with": READ_WITH,
        "request_id": request_id,
    }


_EXCERPT = "data.data[i].evidence_excerpts[j]"
READ_WITH: Json = {
    "tool": "read_record_field",
    "arguments": {
        "id": "results[i].id",
        "field_path": f"{_EXCERPT}.field_path",
        "offset_chars": f"{_EXCERPT}.offset_chars",
    },
}


def _source(origin: Origin, label: str) -> Json:
    shown = shown_label(replace(origin, label=label or None))
    return {"connector_key": origin.connector_key, **present(display_name=shown)}


def _hit(hit: Hit, source: Json) -> Json:
    """A hit of the server's envelope without what stands in its result, and without addresses."""
    encoded = {
        "object": "search_result",
        "stream": hit.id.stream,
        "record_key": hit.id.key,
        **source,
        "emitted_at": hit.emitted_at,
        "authored_at": hit.authored_at,
        "matched_fields": list(dict.fromkeys([excerpt.field for excerpt in hit.excerpts])),
    }
    if hit.authored_at is None:
        del encoded["authored_at"]
    return encoded


def encode_evidence(excerpts: Sequence[Excerpt], marked: Callable[[Excerpt], str]) -> Json:
    """The members of a hit that prove it, at least one excerpt; `marked` shows an excerpt and its matches."""
    encoded = [_excerpt(excerpt, marked(excerpt)) for excerpt in excerpts]
    first, shown = excerpts[0], encoded[0]["preview_text"]
    before, after = "…" if first.start else "", "…" if first.end < first.total_chars else ""
    return {"snippet": {"field": first.field, "text": f"{before}{shown}{after}"}, "evidence_excerpts": encoded}


def _excerpt(excerpt: Excerpt, shown: str) -> Json:
    place = {"match_start_chars": excerpt.marks[0][0], "match_end_chars": excerpt.marks[0][1]} if excerpt.marks else {}
    return {
        "field_path": excerpt.field,
        "preview_text": shown,
        "provenance": "lexical_match",
        "truncated": excerpt.start > 0 or excerpt.end < excerpt.total_chars,
        "offset_chars": excerpt.start,
        **place,
        "total_chars": excerpt.total_chars,
    }


# schema -----------------------------------------------------------------------------------------------------------


def encode_index(catalogue: Catalogue) -> Json:
    """The compact document without the abilities of fields."""
    document = schema.encode_compact(catalogue, "")
    for connector in document["connectors"]:
        connector["streams"] = [
            _without(row, "field_capabilities", "expand_capabilities") for row in connector["streams"]
        ]
    return _without(document, "links", "capabilities")


def encode_numbered_index(
    catalogue: Catalogue, numbers: Mapping[str, int], ranges: Callable[[Iterable[int]], str], *, counts: bool
) -> Json:
    """The index of a large grant: each connection once, and streams that name connections by number."""
    origins = {h.origin.connection_id: h.origin for entry in catalogue.entries for h in entry.holdings}
    connectors: dict[str, list[Json]] = {}
    for entry in catalogue.entries:
        records = sum(holding.records for holding in entry.holdings) if counts else None
        held = ranges(numbers[holding.origin.connection_id] for holding in entry.holdings)
        row = {"name": entry.stream.name, "connections": held, **present(record_count=records)}
        connectors.setdefault(entry.source.connector_key, []).append(row)
    return {
        "object": "schema",
        "detail": "compact",
        "connector_count": len(connectors),
        "stream_count": len(catalogue.entries),
        "connections": [
            present(
                number=number, connection_id=id, connector_key=origins[id].connector_key, display_name=origins[id].label
            )
            for id, number in numbers.items()
        ],
        "connectors": [{"connector_key": key, "streams": rows} for key, rows in connectors.items()],
    }


def encode_names(catalogue: Catalogue) -> Json:
    """Nothing but names: what is left of an index when even numbers are too many."""
    connectors: dict[str, list[str]] = {}
    for entry in catalogue.entries:
        connectors.setdefault(entry.source.connector_key, []).append(entry.stream.name)
    rows = [{"connector_key": key, "streams": [{"name": name} for name in names]} for key, names in connectors.items()]
    return {"object": "schema", "detail": "compact", "stream_count": len(catalogue.entries), "connectors": rows}


def encode_stream(catalogue: Catalogue, *, fields: int | None = None, holdings: bool = True) -> Json:
    """The compact document of one stream; at most `fields` of each row, and how many that leaves out."""
    document = _without(schema.encode_compact(catalogue, ""), "links")
    for row in _rows(document):
        if not holdings:
            row.pop("holdings", None)
            row.pop("granted_connections", None)
        _keep_fields(row, fields)
    return {**document, "field_capability_legend": LEGEND}


def encode_full_stream(catalogue: Catalogue, *, flags: bool = False, fields: int | None = None) -> Json:
    """The exhaustive document; where it is too long, abilities as flags, then fewer fields, counted."""
    document = _without(schema.encode_full(catalogue, ""), "links")
    compact = _rows(schema.encode_compact(catalogue, ""))
    for row, short in zip(_rows(document), compact, strict=True):
        if flags:
            row["field_capabilities"] = short["field_capabilities"]
        else:
            row["field_capabilities"] = {n: _without(c, "schema") for n, c in row["field_capabilities"].items()}
        _keep_fields(row, fields)
        if fields is not None:
            kept = row["field_capabilities"]
            properties = row["schema"].get("properties", {})
            row["schema"] = {"type": "object", "properties": {n: properties[n] for n in kept if n in properties}}
            for name in ("views", "relationships", "query", "description", "display", "granted_connections"):
                row.pop(name, None)
    return {**document, "detail": "full", **({"field_capability_legend": LEGEND} if flags else {})}


def _rows(document: Json) -> list[Json]:
    return [row for connector in document["connectors"] for row in connector["streams"]]


def _keep_fields(row: Json, fields: int | None) -> None:
    capabilities = row["field_capabilities"]
    if fields is not None and fields < len(capabilities):
        row["field_capabilities"] = dict(list(capabilities.items())[:fields])
        row["fields_omitted"] = len(capabilities) - fields


def encode_schema(document: Json, request_id: str, steps: Iterable[Step]) -> Json:
    return {"data": document, "next": encode_next(steps), "request_id": request_id}


# fetch, read_record_field, refusals -------------------------------------------------------------------------------


def encode_document(id: str, title: str, text: str, url: str, metadata: Mapping[str, str]) -> Json:
    return {"id": id, "title": title, "text": text, "url": url, "metadata": dict(metadata)}


def encode_window(window: FieldWindow, id: str, request_id: str, steps: Iterable[Step]) -> Json:
    """A cursor is the plain offset, as text."""
    encoded = read_record_field.encode(window, "")
    offsets = {"next_cursor": window.next_offset, "previous_cursor": window.previous_offset}
    return {
        "record": {
            "id": id,
            "connection_id": window.id.connection_id,
            "stream": window.id.stream,
            "record_id": window.id.key,
        },
        "field": encoded["field"],
        "window": {
            **encoded["window"],
            **{name: None if offset is None else str(offset) for name, offset in offsets.items()},
        },
        "next": encode_next(steps),
        "request_id": request_id,
    }


def encode_refusal(error: PdppError, message: str, remedy: str, label_of: Callable[[str], str], most: int) -> Json:
    """The error envelope in the words of the text, with at most `most` candidates."""
    envelope = errors.encode(error)
    inner: Json = {**envelope["error"], "message": message, **present(remedy=remedy or None)}
    inner.pop("next_step", None)
    if "available_connections" in inner:
        listed: list[Json] = inner["available_connections"][:most]
        named = [entry.get("display_name") for entry in listed]
        candidates = [
            {**entry, **present(display_name=label_of(name) if name else None)}
            for entry, name in zip(listed, named, strict=True)
        ]
        omitted = len(error.candidates) - len(candidates)
        inner["available_connections"] = candidates
        if omitted:
            inner |= {"available_connections_truncated": True, "available_connections_omitted": omitted}
    return {"error": inner}


def _without(document: Json, *names: str) -> Json:
    return {name: value for name, value in document.items() if name not in names}
