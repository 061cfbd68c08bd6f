"""The schema document."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from itertools import groupby
from typing import Any, cast

from pdpp_server.errors import InvalidRequest
from pdpp_server.model.catalogue import Catalogue, Expandable, Holding, MissingConnection, StreamEntry
from pdpp_server.model.queries import SchemaQuery
from pdpp_server.model.records import Warned
from pdpp_server.model.sources import Origin, Source
from pdpp_server.model.streams import (
    DATES,
    Aggregations,
    Expansion,
    Field,
    Relationship,
    Stream,
    View,
)
from pdpp_server.model.times import newest
from pdpp_server.wire.envelope import (
    Json,
    encode_missing,
    finish,
    is_object,
    listed,
    needed,
    object_of,
    objects_of,
    present,
    text_of,
    texts_of,
    time_of,
    url,
    whole_of,
)
from pdpp_server.wire.params import ParameterRow, Params
from pdpp_server.wire.queries import rows
from pdpp_server.wire.records import decode_origin

AGGREGATES = ("sum", "min", "max", "group_by", "group_by_time", "count_distinct")
NOT_GRANTED = "field_not_granted"
SILENT = "declared"  # the flags of a field of which nothing else is said

PARAMETERS = (
    ParameterRow("view", "`compact`: a row of flags for each field.", {"type": "string", "enum": ["compact"]}),
    *rows(SchemaQuery),
)

_AMOUNTS: tuple[str, ...] = ("record_count", "earliest_at", "latest_at", "captured_at", "refreshed_on")
_SEPARATORS = re.compile(r"[;,\[\]{}=\s]")


def encode_query(query: SchemaQuery) -> str:
    return url(
        "schema",
        view=None if query.full else "compact",
        detail="full" if query.full else None,
        stream=query.stream,
        connection_id=query.connection_id,
    )


def encode_plain_query(query: SchemaQuery) -> str:
    """For a server that knows no forms."""
    return url("schema", stream=query.stream, connection_id=query.connection_id)


def decode_query(params: Params) -> SchemaQuery:
    params.only(*PARAMETERS)
    stream, detail = params.text("stream"), params.text("detail")
    if stream == "":
        raise InvalidRequest("stream must not be empty.", param="stream")
    if detail not in (None, "full"):
        raise InvalidRequest("detail must be full.", param="detail")
    full = detail == "full" and not wants_compact(params)
    if full and stream is None:
        raise InvalidRequest("detail=full needs a stream.", param="detail")
    return SchemaQuery(stream, params.text("connection_id") or None, full)


def wants_compact(params: Params) -> bool:
    view = params.text("view")
    if view is not None and view.strip().lower() != "compact":
        raise InvalidRequest("view must be compact.", param="view")
    return view is not None


def encode_full(catalogue: Catalogue, links_self: str, warnings: Iterable[Warned] = ()) -> Json:
    connectors: list[Json] = []
    for source, entries in by_source(catalogue):
        streams = [full_row(entry, catalogue.narrows) for entry in entries]
        connectors.append({**encode_connector(source, entries), "streams": streams})
    return finish({**head(catalogue), "connectors": connectors}, links_self, warnings)


def encode_compact(catalogue: Catalogue, links_self: str, warnings: Iterable[Warned] = ()) -> Json:
    """Where one stream was asked for, with what its publisher says of it."""
    connectors: list[Json] = []
    is_of_one = len({entry.stream.name for entry in catalogue.entries}) == 1
    for source, entries in by_source(catalogue):
        lifted = _most_shared(entries)
        rows = [_compact_row(entry, catalogue.narrows, lifted) for entry in entries]
        if is_of_one:
            rows = [row | _encode_said(entry) for row, entry in zip(rows, entries, strict=True)]
        connectors.append(
            {
                **encode_connector(source, entries),
                **present(granted_connections=_encode_origins(lifted) or None),
                "streams": rows,
            }
        )
    counts = {"connector_count": len(connectors), "stream_count": len(catalogue.entries)}
    body = {**head(catalogue), "detail": "compact", **counts, "connectors": connectors}
    return finish(body, links_self, warnings)


def decode(body: Mapping[str, Any]) -> Catalogue:
    """Either form; the compact one gives back what it says and no more."""
    bearer = object_of(body, "bearer")
    token_kind = needed(text_of(bearer, "token_kind"), "kind of token")
    grant_id = text_of(bearer, "grant_id")
    entries: list[StreamEntry] = []
    for connector in listed(body, "connectors"):
        rows = objects_of(connector, "streams")
        entries += [_decode_entry(connector, row, grant_id) for row in rows]
    return Catalogue(
        token_kind,
        text_of(bearer, "client_id"),
        (grant_id,) if grant_id else (),
        tuple(entries),
        missing=_decode_missing(body),
        extensions=_decode_extensions(body),
    )


def _decode_extensions(body: Mapping[str, Any]) -> tuple[str, ...] | None:
    told = object_of(body, "capabilities")
    return texts_of(told, "client_query_extensions") if "client_query_extensions" in told else None


# What both forms share --------------------------------------------------------------------------------------------


def head(catalogue: Catalogue) -> Json:
    bearer: Json = {"token_kind": catalogue.token_kind, "scope": "owner"}
    if catalogue.token_kind != "owner":
        bearer |= {"scope": "grant", **present(grant_id=catalogue.meant, client_id=catalogue.client_id)}
    extensions = catalogue.extensions
    said = {} if extensions is None else {"capabilities": {"client_query_extensions": list(extensions)}}
    return {"object": "schema", "bearer": bearer, **said, **encode_partial(catalogue)}


def encode_partial(catalogue: Catalogue) -> Json:
    """What is granted and no longer here: said where there is any."""
    missing = catalogue.missing
    if not missing:
        return {}
    return {"partial": True, "missing_sources": encode_missing(missing), "missing_source_count": len(missing)}


def _decode_missing(body: Mapping[str, Any]) -> tuple[MissingConnection, ...]:
    missing: list[MissingConnection] = []
    for each in objects_of(body, "missing_sources"):
        connection_id = text_of(each, "connection_id")
        if connection_id:
            connector_key = text_of(each, "source") or ""
            missing.append(MissingConnection(connection_id, connector_key, text_of(each, "grant_id")))
    return tuple(missing)


def by_source(catalogue: Catalogue) -> list[tuple[Source, list[StreamEntry]]]:
    ordered = sorted(catalogue.entries, key=lambda entry: (*_place(entry.source), entry.stream.name))
    return [(source, list(entries)) for source, entries in groupby(ordered, key=lambda entry: entry.source)]


def _place(source: Source) -> tuple[str, str]:
    return source.connector_key, source.id


def encode_connector(source: Source, entries: list[StreamEntry]) -> Json:
    return {
        "object": "connector",
        "connector_key": source.connector_key,
        **encode_source(source),
        "stream_count": len(entries),
    }


def encode_source(source: Source) -> Json:
    return {"connector_id": source.connector_key, "source": {"kind": source.kind, "id": source.id}}


def _encode_origins(origins: Iterable[Origin]) -> list[Json]:
    return [present(connection_id=origin.connection_id, display_name=origin.label) for origin in origins]


def _declared(stream: Stream) -> Json:
    """The members that both forms say of a stream, in the same words."""
    return {
        "name": stream.name,
        **present(semantics=stream.semantics),
        "primary_key": list(stream.primary_key),
        **present(cursor_field=stream.cursor_field, consent_time_field=stream.consent_time_field),
    }


# The full form ----------------------------------------------------------------------------------------------------


def full_row(entry: StreamEntry, narrows: bool) -> Json:
    stream = entry.stream
    display = present(label=stream.label, detail=stream.detail)
    return {
        "object": "stream_metadata",
        **_declared(stream),
        **present(display=display or None, description=stream.description),
        "selection": {"fields": stream.selects_fields, "resources": stream.selects_resources},
        "schema": stream.schema,
        "views": [{"id": view.id, "label": view.label, "fields": list(view.fields)} for view in stream.views],
        "relationships": [asdict(relationship) for relationship in stream.relationships],
        "query": _encode_query_block(stream),
        "field_capabilities": {
            name: _capability(stream, field, name in entry.granted, narrows) for name, field in stream.fields.items()
        },
        "expand_capabilities": [_encode_expandable(expandable, stream) for expandable in entry.expandable],
        **present(record_count=entry.records),
        "granted_connections": [_encode_holding(holding) for holding in entry.holdings],
        "freshness": freshness(entry.holdings),
    }


def freshness(holdings: Collection[Holding]) -> Json:
    """Nothing can declare yet how old is too old, so nobody knows whether what is here is current.

    Of several connections the change is the newest, and the day one since which all of them were refreshed.
    """
    days = [holding.refreshed_on for holding in holdings if holding.refreshed_on]
    is_of_all = len(days) == len(holdings)
    refreshed_on = min(days, default=None) if is_of_all else None
    changed_at = newest(holding.changed_at for holding in holdings)
    return {"status": "unknown", **present(captured_at=changed_at, refreshed_on=refreshed_on)}


def _encode_expandable(expandable: Expandable, stream: Stream) -> Json:
    """`child_parent_key_field` is there where the related record holds the key of this one."""
    held_here = expandable.cardinality == "has_one" and expandable.foreign_key in stream.fields
    return {
        "name": expandable.name,
        "stream": expandable.stream,
        "target_stream": expandable.stream,
        "cardinality": expandable.cardinality,
        **present(child_parent_key_field=None if held_here else expandable.foreign_key),
        "foreign_key": expandable.foreign_key,
        "granted": expandable.granted,
        "usable": expandable.usable,
        "default_limit": expandable.default_limit,
        "max_limit": expandable.max_limit,
        **present(reason=expandable.reason),
    }


def _encode_holding(holding: Holding) -> Json:
    return {
        **_encode_origins((holding.origin,))[0],
        **present(
            record_count=holding.records,
            earliest_at=holding.earliest,
            latest_at=holding.latest,
            captured_at=holding.changed_at,
            refreshed_on=holding.refreshed_on,
        ),
    }


def _encode_query_block(stream: Stream) -> Json:
    words, meaning = list(stream.lexical_fields), list(stream.semantic_fields)
    search = present(lexical_fields=words or None, semantic_fields=meaning or None)
    return {
        "range_filters": {name: list(operators) for name, operators in stream.range_filters.items()},
        **present(search=search or None),  # a stream without such fields says nothing of search
        "aggregations": _encode_aggregations(stream.aggregations),
        "expand": [asdict(expansion) for expansion in stream.expansions],
    }


def _encode_aggregations(aggregations: Aggregations) -> Json:
    """The kinds of which there is any: the fields of each, and of the count only that it is there."""
    said: Json = {}
    for kind, value in asdict(aggregations).items():
        if value:
            said[kind] = value if value is True else list(value)
    return said


def _capability(stream: Stream, field: Field, granted: bool, narrows: bool) -> Json:
    aggregates = _aggregates(stream, field.name)
    return {
        **present(type=field.schema.get("x_pdpp_type"), role=field.role),
        "granted": granted,
        "schema": field.schema,
        **(_encode_filters(stream, field, granted) if narrows else {}),
        "lexical_search": _flag(field.name in stream.lexical_fields, granted),
        "semantic_search": _flag(field.name in stream.semantic_fields, granted),
        "aggregation": {kind: _flag(kind in aggregates, granted) for kind in AGGREGATES},
    }


def _encode_filters(stream: Stream, field: Field, granted: bool) -> Json:
    ranges = stream.range_filters.get(field.name)
    by_range = _flag(ranges is not None, granted)
    if ranges:
        by_range["operators"] = list(ranges)
    return {"exact_filter": _flag(stream.compares(field), granted), "range_filter": by_range}


def _flag(declared: bool, granted: bool) -> Json:
    flag: Json = {"declared": declared, "usable": declared and granted}
    if declared and not granted:
        flag["reason"] = NOT_GRANTED
    return flag


def _aggregates(stream: Stream, name: str) -> list[str]:
    return [kind for kind in AGGREGATES if name in getattr(stream.aggregations, kind)]


# The compact form -------------------------------------------------------------------------------------------------


def _compact_row(entry: StreamEntry, narrows: bool, lifted: tuple[Origin, ...]) -> Json:
    stream = entry.stream
    own = _origins(entry)
    return {
        **_declared(stream),
        **(_compact_views(stream) if narrows else {}),
        **present(record_count=entry.records),
        **({"granted_connections": _encode_origins(own)} if own != lifted else {}),
        "holdings": {holding.origin.connection_id: _encode_amounts(holding) for holding in entry.holdings},
        "field_capabilities": flags_of(entry, narrows),
        "expand_capabilities": [_encode_short_expandable(expandable) for expandable in entry.expandable],
    }


def _encode_said(entry: StreamEntry) -> Json:
    said = {field.name: field.description for field in entry.explained_fields}
    return present(description=entry.stream.description, field_descriptions=said or None)


def flags_of(entry: StreamEntry, narrows: bool) -> dict[str, str]:
    """What each field can do, in short."""
    stream = entry.stream
    return {name: _flags(stream, field, name in entry.granted, narrows) for name, field in stream.fields.items()}


def _compact_views(stream: Stream) -> Json:
    """Their names, and beside them what each shows, as far as that is known."""
    shown = {view.id: list(view.fields) for view in stream.views}
    names = [*shown, *stream.named_views]
    return present(views=names or None, view_fields=shown or None)


def _encode_short_expandable(expandable: Expandable) -> Json:
    return {
        "name": expandable.name,
        "stream": expandable.stream,
        "cardinality": expandable.cardinality,
        "usable": expandable.usable,
        "max_limit": expandable.max_limit,
        **present(reason=expandable.reason),
    }


def _origins(entry: StreamEntry) -> tuple[Origin, ...]:
    return tuple(holding.origin for holding in entry.holdings)


def _most_shared(entries: list[StreamEntry]) -> tuple[Origin, ...]:
    counted = Counter(filter(None, (_origins(entry) for entry in entries)))
    return counted.most_common(1)[0][0] if counted else ()


def _encode_amounts(holding: Holding) -> list[int | str | None]:
    """In the order of _AMOUNTS; what is unknown at the end is left off."""
    amounts = [holding.records, holding.earliest, holding.latest, holding.changed_at, holding.refreshed_on]
    while amounts and amounts[-1] is None:
        amounts.pop()
    return amounts


def _flags(stream: Stream, field: Field, granted: bool, narrows: bool) -> str:
    flags: list[str] = []
    if field.type:
        flags.append(f"t={_inline(field.type)}")
    if field.role:
        flags.append(f"role={_inline(field.role)}")
    if not granted:
        flags.append("g=false")
    for name, value in _abilities(stream, field, narrows).items():
        shown = value if granted else f"unusable:{NOT_GRANTED}"
        flags.append(f"{name}={shown}" if shown else name)
    return ",".join(flags) or SILENT


def _abilities(stream: Stream, field: Field, narrows: bool) -> dict[str, str]:
    """What the field can be asked, and with what, if that is to be said."""
    abilities: dict[str, str] = {}
    if narrows and stream.compares(field):
        abilities["eq"] = ""
    if narrows and field.name in stream.range_filters:
        abilities["r"] = "|".join(stream.range_filters[field.name])
    if field.name in stream.lexical_fields:
        abilities["lex"] = ""
    if field.name in stream.semantic_fields:
        abilities["sem"] = ""
    if aggregates := _aggregates(stream, field.name):
        abilities["a"] = "|".join(aggregates)
    return abilities


def _inline(value: str) -> str:
    return _SEPARATORS.sub("_", value)


# Decoding ---------------------------------------------------------------------------------------------------------


def _decode_entry(connector: Mapping[str, Any], row: Mapping[str, Any], grant_id: str | None) -> StreamEntry:
    capabilities = object_of(row, "field_capabilities")
    flags = {name: said for name, said in capabilities.items() if isinstance(said, str)}
    granted = frozenset(name for name, said in capabilities.items() if _is_granted(said))
    source = _decode_source(connector, row)
    holdings = _decode_holdings(connector, row)
    is_counted = all(holding.records is not None for holding in holdings)
    return StreamEntry(
        source,
        _decode_compact_stream(row, flags) if flags else _decode_full_stream(row),
        granted,
        holdings,
        grant_id,
        tuple(_decode_expandable(ability) for ability in objects_of(row, "expand_capabilities")),
        None if is_counted else whole_of(row, "record_count"),
    )


def _decode_source(connector: Mapping[str, Any], row: Mapping[str, Any]) -> Source:
    source = object_of(connector, "source") or object_of(row, "source")
    id = text_of(source, "id") or needed(text_of(connector, "connector_key"), "connector key")
    return Source(text_of(source, "kind") or "connector", id)


def _decode_expandable(body: Mapping[str, Any]) -> Expandable:
    """Whoever does not say that it is usable does not let it be used."""
    limits, usable = _expansion(body), body.get("usable") is True
    return Expandable(
        limits.name,
        text_of(body, "stream") or text_of(body, "target_stream") or "",
        text_of(body, "cardinality") or "has_many",
        text_of(body, "foreign_key") or "",
        limits.default_limit,
        limits.max_limit,
        body.get("granted", usable) is True,
        None if usable else text_of(body, "reason") or "not_usable",
    )


def _is_granted(capability: object) -> bool:
    if isinstance(capability, str):
        return "g=false" not in capability.split(",")
    return is_object(capability) and cast("Mapping[str, Any]", capability).get("granted") is True


def _decode_holdings(connector: Mapping[str, Any], row: Mapping[str, Any]) -> tuple[Holding, ...]:
    """A server that gives one count for several connections leaves each without one."""
    connections = objects_of(row if "granted_connections" in row else connector, "granted_connections")
    if not connections and decode_origin(row).connection_id:
        connections = (row,)
    amounts = object_of(row, "holdings")
    is_alone = len(connections) == 1
    holdings: list[Holding] = []
    for connection in connections:
        origin = decode_origin({**_named(connector), **connection})
        told = connection
        said = amounts.get(origin.connection_id)
        if isinstance(said, list):
            told = dict(zip(_AMOUNTS, cast("list[Any]", said), strict=False))
        times = [time_of(told, name) for name in _AMOUNTS[1:]]
        counted = row if is_alone and "record_count" not in told else told
        holdings.append(Holding(origin, whole_of(counted, "record_count"), *times))
    return tuple(holdings)


def _named(connector: Mapping[str, Any]) -> Json:
    return present(connector_key=text_of(connector, "connector_key"), connector_id=text_of(connector, "connector_id"))


def _decode_full_stream(row: Mapping[str, Any]) -> Stream:
    schema = object_of(row, "schema")
    properties = object_of(schema, "properties")
    abilities = object_of(row, "field_capabilities")
    selection = object_of(row, "selection")
    display = object_of(row, "display")
    query = object_of(row, "query")
    search = object_of(query, "search")
    ranges = object_of(query, "range_filters")
    fields = {name: _full_field(name, properties, abilities) for name in [*properties, *abilities]}
    exact = _declared_fields(fields, abilities, "exact_filter")
    words = _declared_fields(fields, abilities, "lexical_search")
    meaning = _declared_fields(fields, abilities, "semantic_search")
    says_search = bool(search) or any("lexical_search" in object_of(abilities, name) for name in abilities)
    return Stream(
        **_decode_declared(row, fields),
        schema=schema,
        selects_fields=selection.get("fields") is not False,
        selects_resources=selection.get("resources") is not False,
        views=tuple(_decode_view(view) for view in objects_of(row, "views")),
        relationships=tuple(_decode_relationship(one) for one in objects_of(row, "relationships")),
        expansions=tuple(_expansion(one) for one in objects_of(query, "expand")),
        range_filters={name: texts_of(ranges, name) for name in ranges},
        lexical_fields=texts_of(search, "lexical_fields") or words,
        semantic_fields=texts_of(search, "semantic_fields") or meaning,
        exact_fields=_exact(fields, exact),
        says_search=says_search,
        aggregations=_decode_aggregations(object_of(query, "aggregations")),
        label=text_of(display, "label"),
        detail=text_of(display, "detail"),
        description=text_of(row, "description"),
    )


def _decode_view(view: Mapping[str, Any]) -> View:
    id = needed(text_of(view, "id"), "view id")
    return View(id, text_of(view, "label") or "", texts_of(view, "fields"))


def _decode_relationship(body: Mapping[str, Any]) -> Relationship:
    return Relationship(
        text_of(body, "name") or "",
        text_of(body, "stream") or "",
        text_of(body, "foreign_key") or "",
        text_of(body, "cardinality") or "",
    )


def _decode_aggregations(body: Mapping[str, Any]) -> Aggregations:
    fields = {kind: texts_of(body, kind) for kind in AGGREGATES}
    return Aggregations(count=body.get("count") is True, **fields)


def _decode_compact_stream(row: Mapping[str, Any], flags: Mapping[str, str]) -> Stream:
    said = {name: _decode_flags(line) for name, line in flags.items()}
    about = object_of(row, "field_descriptions")
    fields: dict[str, Field] = {}
    for name, flag in said.items():
        description = present(description=text_of(about, name))
        fields[name] = Field(name, flag.get("t"), description, flag.get("role"))
    views = texts_of(row, "views")
    shown = object_of(row, "view_fields")
    words = _flagged(said, "lex")
    return Stream(
        **_decode_declared(row, fields),
        schema={},
        views=tuple(View(id, id, texts_of(shown, id)) for id in views if id in shown),
        named_views=tuple(id for id in views if id not in shown),
        exact_fields=_exact(fields, _flagged(said, "eq")),
        says_search=bool(words) or SILENT not in flags.values(),
        range_filters={name: _usable(said[name]["r"]) for name in _flagged(said, "r")},
        lexical_fields=words,
        semantic_fields=_flagged(said, "sem"),
        description=text_of(row, "description"),
        aggregations=_flagged_aggregations(said),
    )


def _flagged(said: Mapping[str, Mapping[str, str]], flag: str) -> tuple[str, ...]:
    """The fields that have the flag."""
    return tuple(name for name, flags in said.items() if flag in flags)


def _flagged_aggregations(said: Mapping[str, Mapping[str, str]]) -> Aggregations:
    fields: dict[str, tuple[str, ...]] = dict.fromkeys(AGGREGATES, ())
    for name in _flagged(said, "a"):
        for kind in _usable(said[name]["a"]):
            if kind in fields and name not in fields[kind]:
                fields[kind] += (name,)
    return Aggregations(count=False, **fields)


def _decode_declared(row: Mapping[str, Any], fields: dict[str, Field]) -> dict[str, Any]:
    """A time or cursor field that is no field of the stream is not one: nothing could be read by it."""
    cursor, consent = text_of(row, "cursor_field"), text_of(row, "consent_time_field")
    return {
        "name": needed(text_of(row, "name"), "stream name"),
        "semantics": text_of(row, "semantics"),
        "fields": fields,
        "primary_key": texts_of(row, "primary_key"),
        "cursor_field": cursor if cursor in fields else None,
        "consent_time_field": consent if consent in fields else None,
    }


def _full_field(name: str, properties: Mapping[str, Any], abilities: Mapping[str, Any]) -> Field:
    """By its schema; without one by what else is said of it."""
    ability = object_of(abilities, name)
    schema = object_of(properties, name) or object_of(ability, "schema")
    if schema:
        return _field(name, schema)
    return Field(name, text_of(ability, "type"), {}, text_of(ability, "role"))


def _exact(fields: Mapping[str, Field], said: Iterable[str]) -> frozenset[str] | None:
    """The fields that can be compared, by the words of the server; None where these are our own rule."""
    named = frozenset(said)
    scalars = frozenset(name for name, field in fields.items() if field.is_scalar)
    return None if named == scalars else named


def _declared_fields(fields: Iterable[str], abilities: Mapping[str, Any], ability: str) -> tuple[str, ...]:
    """The fields of which the server says that they can be asked this, granted or not."""
    return tuple(name for name in fields if _is_declared(object_of(abilities, name), ability))


def _is_declared(abilities: Mapping[str, Any], ability: str) -> bool:
    return object_of(abilities, ability).get("declared") is True


def _field(name: str, schema: Mapping[str, Any]) -> Field:
    return Field(name, _type(schema), schema, text_of(schema, "x_pdpp_role"))


def _type(schema: Mapping[str, Any]) -> str:
    """The one type that a value has where there is one; of a text that is a date, which date."""
    types = schema.get("type")
    several = cast("list[object]", types) if isinstance(types, list) else [types]
    (one, *others) = [each for each in several if each != "null"] or [None]
    if others or not isinstance(one, str):
        return "mixed"
    format = text_of(schema, "format")
    return format if one == "string" and format in DATES else one


def _decode_flags(line: str) -> dict[str, str]:
    flags: dict[str, str] = {}
    for flag in line.split(","):
        name, _, value = flag.partition("=")
        flags[name] = value
    return flags


def _usable(value: str) -> tuple[str, ...]:
    if not value or value.startswith("unusable:"):
        return ()
    return tuple(value.split("|"))


def _expansion(body: Mapping[str, Any]) -> Expansion:
    usual = Expansion(text_of(body, "name") or "")
    return Expansion(
        usual.name,
        whole_of(body, "default_limit") or usual.default_limit,
        whole_of(body, "max_limit") or usual.max_limit,
    )
