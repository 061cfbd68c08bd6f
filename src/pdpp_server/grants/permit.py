"""The one place that decides. Storage accepts only what this module returns."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from pdpp_server.errors import (
    AmbiguousConnection,
    AmbiguousSchemaDetail,
    Candidate,
    ConnectionNotFound,
    ConnectorInvalid,
    FieldNotGranted,
    InsufficientScope,
    InvalidExpand,
    InvalidFilter,
    InvalidRequest,
    InvalidSort,
    NotFound,
    PdppError,
    StreamNotGranted,
    UnknownField,
)
from pdpp_server.grants.permitted import Permitted, Related, Scope
from pdpp_server.model.catalogue import Expandable
from pdpp_server.model.grants import Holder, StreamGrant
from pdpp_server.model.queries import (
    AggregateQuery,
    BlobQuery,
    Condition,
    Expand,
    FetchQuery,
    Query,
    RecordsQuery,
    SchemaQuery,
    SearchQuery,
    StreamMetadataQuery,
    StreamRead,
    StreamsQuery,
    WindowQuery,
)
from pdpp_server.model.streams import Expansion, Field, Relationship

Q = TypeVar("Q", bound=Query)
_TELLING_ABILITIES = (SchemaQuery, StreamsQuery, StreamMetadataQuery)
_UNRELATED = ("related_stream_unknown", "related_stream_not_granted")


def permit(holder: Holder, query: Q, *, core_strict: bool = False) -> Permitted[Q]:
    """The query with everything it may touch; raises the refusal that says why not."""
    if core_strict and holder.kind != "owner":
        _refuse_extensions(query)
    related: Iterable[Related] = ()
    match query:  # the shortest reads first: of them it is a part that can be felt
        case FetchQuery():
            scopes = _fetch(holder, query)
            related = _expansions(holder, scopes, query.expand) if query.expand else ()
        case WindowQuery():
            scopes = _window(holder, query)
        case RecordsQuery():
            scopes = _records(holder, query, core_strict and holder.kind != "owner")
            related = _expansions(holder, scopes, query.expand) if query.expand else ()
        case SearchQuery():
            scopes = _search(holder, query)
        case AggregateQuery():
            scopes = _aggregate(holder, query)
        case BlobQuery():
            scopes = _blob(holder, query)
        case SchemaQuery():
            scopes = _schema(holder, query)
        case StreamsQuery():
            scopes = _streams(holder, query)
        case StreamMetadataQuery():
            scopes = _stream_metadata(holder, query)
    scopes = tuple(scopes)
    if type(query) in _TELLING_ABILITIES:
        expandable = tuple(_expandable(holder, scope, core_strict) for scope in scopes)
        return Permitted(query, scopes, holder, expandable=expandable, core_strict=core_strict)
    return Permitted(query, scopes, holder, tuple(related), core_strict=core_strict)


def _refuse_extensions(query: Query) -> None:
    """What Core v0.1 does not give to clients, refused before anything is looked up."""
    if isinstance(query, AggregateQuery) and query.metric != "count" and (query.group_by or query.group_by_time):
        param = "group_by" if query.group_by else "group_by_time"
        raise InvalidRequest(f"This server takes {param} from clients with count only.", param=param)
    for param, name in (("filter", "conditions"), ("expand", "expand"), ("view", "view"), ("around", "around")):
        if getattr(query, name, None):
            raise InvalidRequest(f"This server takes no {param} from clients.", param=param)


def _schema(holder: Holder, query: SchemaQuery) -> Iterable[Scope]:
    if query.full and query.stream is None:
        raise InvalidRequest(
            "The full schema is given for one stream.",
            param="detail",
            remedy="Add stream, and connection_id if it has several.",
        )
    scopes = _scopes(holder) if query.stream is None else _scopes_of(holder, query.stream)
    if query.connection_id is not None:
        scopes = _of_connection(scopes, query.connection_id)
    if query.full and sum(len(scope.connections) for scope in scopes) > 1:
        raise AmbiguousSchemaDetail(
            f"{query.stream!r} has several sources; the full schema is given for one.",
            param="connection_id",
            candidates=_candidates(holder, scopes),
        )
    return scopes


def _streams(holder: Holder, query: StreamsQuery) -> list[Scope]:
    """A stream of other connections only is left out; a connection that has none of them is refused."""
    scopes = _of_connector(holder, _scopes(holder), query.connector_key)
    if query.connection_id is None:
        return scopes
    narrowed = _of_connection(scopes, query.connection_id)
    if not narrowed:
        raise _connection_refused(query.connection_id)
    return narrowed


def _stream_metadata(holder: Holder, query: StreamMetadataQuery) -> Sequence[Scope]:
    """Of one declaration: the connections of a source may have different versions of it."""
    scopes = _of_stream(holder, query)
    if len(scopes) > 1:
        raise AmbiguousSchemaDetail(
            f"{query.stream!r} is declared in {len(scopes)} versions.",
            param="connection_id",
            candidates=_candidates(holder, scopes),
        )
    return scopes


def _search(holder: Holder, query: SearchQuery) -> Iterable[Scope]:
    scopes = _scopes(holder)
    if query.streams is not None:
        granted = {scope.stream.name for scope in scopes}
        for name in query.streams:
            if name not in granted and holder.kind != "owner":
                raise _stream_refused(holder, name, "streams")
        scopes = [scope for scope in scopes if scope.stream.name in query.streams]
    if query.connection_id is not None:
        if not _of_connection(_scopes(holder), query.connection_id):
            raise _connection_refused(query.connection_id)
        scopes = _of_connection(scopes, query.connection_id)
    if query.conditions:
        if query.streams is None or len(query.streams) != 1:
            raise InvalidRequest("A filter in a search needs exactly one stream.", param="filter")
        for scope in scopes:
            _check_conditions(scope, query.conditions)
    return scopes


def _fetch(holder: Holder, query: FetchQuery) -> Sequence[Scope]:
    scopes = _of_stream(holder, query)
    return scopes if query.fields is None else [_projected(scope, query.fields, "fields") for scope in scopes]


def _window(holder: Holder, query: WindowQuery) -> Sequence[Scope]:
    asked = (query.stream, query.connection_id, query.connector_key, query.field)
    scopes = holder.found.get(asked)
    if scopes is None:
        scopes = tuple([_projected(scope, (query.field,), "field") for scope in _of_stream(holder, query)])
        holder.found[asked] = scopes
    return scopes


def _records(holder: Holder, query: RecordsQuery, core_strict: bool) -> Sequence[Scope]:
    scopes = _of_stream(holder, query)
    for scope in scopes:
        _check_conditions(scope, query.conditions)
        if query.sort is not None:
            _check_sort(scope, query.sort, core_strict)
    if query.view is not None:
        return [_viewed(scope, query.view) for scope in scopes]
    return scopes if query.fields is None else [_projected(scope, query.fields, "fields") for scope in scopes]


def _aggregate(holder: Holder, query: AggregateQuery) -> Sequence[Scope]:
    scopes = _of_stream(holder, query)
    for scope in scopes:
        _check_conditions(scope, query.conditions)
        _check_aggregation(scope, query)
    return scopes


def _blob(holder: Holder, query: BlobQuery) -> list[Scope]:
    """Every stream of which the grant shows a field that refers to blobs; nothing else of those streams."""
    scopes = _scopes(holder)
    if query.connection_id is not None:
        scopes = _of_connection(scopes, query.connection_id)
        if not scopes:
            raise _connection_refused(query.connection_id)
    referring: list[Scope] = []
    for scope in scopes:
        fields = scope.fields & scope.stream.blob_fields
        if fields:
            referring.append(_showing(scope, fields))
    return referring


def _check_conditions(scope: Scope, conditions: tuple[Condition, ...]) -> None:
    for condition in conditions:
        name, operator = condition.field, condition.comparison
        _require_field(scope, name, "filter")
        field = scope.stream.fields[name]
        if not field.is_scalar:
            raise InvalidFilter(f"{name!r} holds no single value to compare.", param="filter")
        allowed = scope.stream.range_filters.get(name, ())
        if operator != "eq" and operator not in allowed:
            remedy = _usable(field, allowed)
            raise InvalidFilter(f"{name!r} cannot be filtered by {operator}.", param="filter", remedy=remedy)
        if field.literal(condition.value) is None:
            raise InvalidFilter(f"A filter on {name!r} needs a value of type {field.type}.", param="filter")


def _usable(field: Field, allowed: Sequence[str]) -> str:
    """Whoever asks for a span of time that cannot be filtered by is told what else there is."""
    usable = f"Usable: {', '.join(('equality', *allowed))}."
    if field.type in ("date", "date-time"):
        return f"{usable} A date among the words of `search` lifts what is of that time."
    return usable


def _check_sort(scope: Scope, name: str, core_strict: bool) -> None:
    """By a granted field that can be ranged over; to clients of a strict server only by the stream's own."""
    stream = scope.stream
    sortable = tuple(each for each in stream.sortable if not core_strict or each == stream.position_field)
    usable = ", ".join(each for each in sortable if each in scope.granted)
    remedy = f"Sort by {usable}, or leave sort out." if usable else "Leave sort out."
    if name not in sortable:
        raise InvalidSort(f"{stream.name!r} cannot be sorted by {name!r}.", param="sort", remedy=remedy)
    if name not in scope.granted:
        message = f"The grant leaves out field {name!r} of {stream.name!r}."
        raise FieldNotGranted(message, param="sort", remedy=remedy)


def _check_aggregation(scope: Scope, query: AggregateQuery) -> None:
    declared = scope.stream.aggregations
    asked = (
        (query.metric, "field", query.field),
        ("group_by", "group_by", query.group_by),
        ("group_by_time", "group_by_time", query.group_by_time),
    )
    for kind, param, name in asked:
        if name is None:
            continue
        _require_field(scope, name, param)
        usable: tuple[str, ...] = getattr(declared, kind)
        if name not in usable:
            shown = ", ".join(sorted(scope.granted & set(usable))) or "none"
            remedy = f"Usable: {shown}."
            raise InvalidRequest(f"{scope.stream.name!r} declares no {kind} of {name!r}.", param=param, remedy=remedy)
    if query.metric == "count" and not declared.count:
        raise InvalidRequest(
            f"{scope.stream.name!r} declares no count.",
            param="metric",
            remedy='query_records with {"count": "exact"} counts its records.',
        )


def _expansions(holder: Holder, scopes: Sequence[Scope], asked: tuple[Expand, ...]) -> Iterator[Related]:
    for expand in asked:
        for scope in scopes:
            yield _expansion(holder, scope, expand)


def _expansion(holder: Holder, scope: Scope, expand: Expand) -> Related:
    """The related records lie in the same grant and connection, and in a field that both sides may see."""
    declared = {expansion.name: expansion for expansion in scope.stream.expansions}
    expansion = declared.get(expand.name)
    relationship = next((known for known in scope.stream.relationships if known.name == expand.name), None)
    if expansion is None or relationship is None:
        names = ", ".join(declared) or "none"
        raise InvalidExpand(
            f"{scope.stream.name!r} has no expansion {expand.name!r}.",
            param="expand",
            remedy=f"Usable: {names}.",
        )
    limit = _expand_limit(expand, expansion, relationship)
    others = [other for other in _scopes_of(holder, relationship.stream) if other.grant_id == scope.grant_id]
    if not others:
        raise InsufficientScope(f"The grant does not include stream {relationship.stream!r}.", param="expand")
    related = others[0]
    holds_key = related if relationship.joins_there(related.stream) else scope
    _require_field(holds_key, relationship.foreign_key, "expand")
    shared = tuple(name for name in scope.connections if name in related.connections)
    return Related(relationship, _within(related, shared), limit)


def _expandable(holder: Holder, scope: Scope, core_strict: bool) -> tuple[Expandable, ...]:
    """What is declared to be expanded, and whether it may be: asked of the decision itself."""
    relationships = {relationship.name: relationship for relationship in scope.stream.relationships}
    abilities: list[Expandable] = []
    for expansion in scope.stream.expansions:
        to = relationships[expansion.name]
        reason = _why_not_expanded(holder, scope, expansion.name)
        granted = reason not in _UNRELATED
        if core_strict and holder.kind != "owner":
            reason = "client_expand_not_supported"
        limits = (expansion.default_limit, expansion.max_limit)
        abilities.append(Expandable(to.name, to.stream, to.cardinality, to.foreign_key, *limits, granted, reason))
    return tuple(abilities)


def _why_not_expanded(holder: Holder, scope: Scope, name: str) -> str | None:
    try:
        _expansion(holder, scope, Expand(name))
    except InsufficientScope:
        return "related_stream_unknown" if holder.kind == "owner" else "related_stream_not_granted"
    except FieldNotGranted as refusal:
        return refusal.code
    return None


def _expand_limit(expand: Expand, expansion: Expansion, relationship: Relationship) -> int:
    if expand.limit is None:
        return expansion.default_limit
    if relationship.cardinality != "has_many":
        raise InvalidExpand(f"{expand.name!r} is one record at the most and takes no limit.", param="expand_limit")
    if not 1 <= expand.limit <= expansion.max_limit:
        raise InvalidExpand(f"The limit of {expand.name!r} is 1 to {expansion.max_limit}.", param="expand_limit")
    return expand.limit


def _scopes(holder: Holder) -> list[Scope]:
    return [_scope(grant.grant_id, granted) for grant in holder.grants for granted in grant.streams]


def _scopes_of(holder: Holder, stream: str) -> list[Scope]:
    return [_scope(grant_id, granted) for grant_id, granted in holder.by_stream.get(stream, ())]


def _scope(grant_id: str, granted: StreamGrant) -> Scope:
    since, until = granted.time.bounds if granted.time else (None, None)
    fields = granted.fields
    return Scope(
        grant_id,
        granted.declared,
        granted.connections,
        fields,
        since=since,
        until=until,
        resources=granted.resources,
        granted=fields,
    )


def _within(scope: Scope, connections: tuple[str, ...]) -> Scope:
    """The same of these connections alone."""
    return scope if connections == scope.connections else Scope(*scope[:2], connections, *scope[3:])


def _showing(scope: Scope, fields: frozenset[str]) -> Scope:
    """The same with these fields shown, whatever may be asked by."""
    return Scope(*scope[:3], fields, *scope[4:])


def _of_stream(holder: Holder, query: StreamRead) -> Sequence[Scope]:
    """The scopes of one stream: for one holder always the same, so that they are found once. Refusals are not kept."""
    asked = (query.stream, query.connection_id, query.connector_key)
    scopes = holder.found.get(asked)
    if scopes is None:
        scopes = holder.found[asked] = tuple(_found_of_stream(holder, query))
    return scopes


def _found_of_stream(holder: Holder, query: StreamRead) -> list[Scope]:
    """Where several sources have the stream, the caller must say which one it means."""
    stream, connection_id = query.stream, query.connection_id
    scopes = _of_connector(holder, _scopes_of(holder, stream), query.connector_key)
    if not scopes:
        raise _stream_refused(holder, stream, "stream")
    if connection_id is not None:
        narrowed = _of_connection(scopes, connection_id)
        if not narrowed:
            raise _connection_refused(connection_id)
        return narrowed
    if holder.kind == "owner":
        sources = {grant.grant_id: grant.source.id for grant in holder.grants}
        found = {sources[scope.grant_id] for scope in scopes}
        if len(found) > 1:
            raise InvalidRequest(
                f"{len(found)} sources have a stream {stream!r}.",
                param="connector_id",
                remedy="Name one by connector_id or connection_id.",
            )
    elif len(holder.grants) > 1:
        candidates = _candidates(holder, scopes)
        raise AmbiguousConnection(
            _needs_connection(stream, len(candidates)),
            param="connection_id",
            candidates=candidates,
        )
    return scopes


def _needs_connection(stream: str, sources: int) -> str:
    """A package needs it even of a single candidate: a call that works keeps working when a source is added."""
    if not sources:
        return f"No source of {stream!r} is left: each that the grant names was removed."
    if sources == 1:
        return f"A grant of several sources always needs connection_id here, though only one of them has {stream!r}."
    return f"This needs one source, named by connection_id; {stream!r} is granted from {sources}."


def _of_connector(holder: Holder, scopes: list[Scope], connector_key: str | None) -> list[Scope]:
    if connector_key is None:
        return scopes
    granted = {grant.grant_id for grant in holder.grants if grant.source.connector_key == connector_key}
    if not granted:
        raise ConnectorInvalid("No such connector is granted here.", param="connector_id")
    return [scope for scope in scopes if scope.grant_id in granted]


def _of_connection(scopes: Iterable[Scope], connection_id: str) -> list[Scope]:
    return [_within(scope, (connection_id,)) for scope in scopes if connection_id in scope.connections]


def _projected(scope: Scope, fields: tuple[str, ...], param: str) -> Scope:
    """Requested and granted, plus the primary key."""
    for name in fields:
        _require_field(scope, name, param)
    return _showing(scope, frozenset(fields) | scope.fields.intersection(scope.stream.primary_key))


def _viewed(scope: Scope, view_id: str) -> Scope:
    """What the grant shows of a view."""
    fields = next((view.fields for view in scope.stream.views if view.id == view_id), None)
    if fields is None:
        known = ", ".join(view.id for view in scope.stream.views) or "none"
        raise InvalidRequest(
            f"{scope.stream.name!r} has no view {view_id!r}.",
            param="view",
            remedy=f"Declared views: {known}.",
        )
    return _showing(scope, scope.fields & {*fields, *scope.stream.primary_key})


def _require_field(scope: Scope, name: str, param: str) -> None:
    if name not in scope.stream.fields:
        known = ", ".join(sorted(scope.granted))
        raise UnknownField(
            f"{scope.stream.name!r} has no field {name!r}.",
            param=param,
            remedy=f"Granted fields: {known}.",
        )
    if name not in scope.granted:
        raise FieldNotGranted(f"The grant leaves out field {name!r} of {scope.stream.name!r}.", param=param)


def _stream_refused(holder: Holder, stream: str, param: str) -> PdppError:
    if holder.kind == "owner":
        return NotFound(f"There is no stream {stream!r}.", param=param)
    message = f"The grant does not include stream {stream!r}."
    granted = sorted({scope.stream.name for scope in _scopes(holder)})
    if not granted:
        return StreamNotGranted(message, param=param)
    shown = ", ".join(granted[:20])
    if len(granted) > 20:
        shown += f" and {len(granted) - 20} more"
    remedy = f"Granted streams: {shown}. Only the owner can widen a grant."
    return StreamNotGranted(message, param=param, remedy=remedy)


def _connection_refused(connection_id: str) -> ConnectionNotFound:
    return ConnectionNotFound(
        f"No connection {connection_id!r} is granted here.",
        param="connection_id",
        remedy="Choose one that `schema` lists, or ask the owner to approve this one again.",
    )


def _candidates(holder: Holder, scopes: Iterable[Scope]) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(connection_id, origin.connector_key, scope.grant_id, origin.label)
        for scope in scopes
        for connection_id in scope.connections
        if (origin := holder.origins.get(connection_id)) is not None
    )
