"""The one place that decides. Storage accepts only what this module returns."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from pdpp_server.errors import (
    AmbiguousConnection,
    AmbiguousSchemaDetail,
    Candidate,
    ConnectionNotFound,
    FieldNotGranted,
    InvalidRequest,
    StreamNotGranted,
    UnknownField,
)
from pdpp_server.grants.permitted import Permitted, Scope
from pdpp_server.model.grants import Holder, StreamGrant
from pdpp_server.model.queries import FetchQuery, Query, SchemaQuery, SearchQuery, WindowQuery

Q = TypeVar("Q", bound=Query)


def permit(holder: Holder, query: Q) -> Permitted[Q]:
    """The query with everything it may touch; raises the refusal that says why not."""
    match query:
        case SchemaQuery():
            scopes = _schema(holder, query)
        case SearchQuery():
            scopes = _search(holder, query)
        case FetchQuery():
            scopes = _fetch(holder, query)
        case WindowQuery():
            scopes = _window(holder, query)
    return Permitted(query, tuple(scopes), holder)


def _schema(holder: Holder, query: SchemaQuery) -> Iterable[Scope]:
    if query.full and query.stream is None:
        raise InvalidRequest(
            "The full schema is given for one stream.",
            param="detail",
            remedy="Add stream, and connection_id if it has several.",
        )
    scopes = list(_scopes(holder, query.stream))
    if query.connection_id is not None:
        scopes = _of_connection(scopes, query.connection_id)
    if query.full and sum(len(scope.connections) for scope in scopes) > 1:
        raise AmbiguousSchemaDetail(
            f"{query.stream!r} has several sources; the full schema is given for one.",
            param="connection_id",
            candidates=_candidates(holder, scopes),
        )
    return scopes


def _search(holder: Holder, query: SearchQuery) -> Iterable[Scope]:
    scopes = list(_scopes(holder))
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
    return scopes


def _fetch(holder: Holder, query: FetchQuery) -> Iterable[Scope]:
    scopes = _of_stream(holder, query.stream, query.connection_id)
    return scopes if query.fields is None else [_projected(scope, query.fields, "fields") for scope in scopes]


def _window(holder: Holder, query: WindowQuery) -> Iterable[Scope]:
    return [
        _projected(scope, (query.field,), "field") for scope in _of_stream(holder, query.stream, query.connection_id)
    ]


def _scopes(holder: Holder, stream: str | None = None) -> Iterator[Scope]:
    for grant in holder.grants:
        for granted in grant.streams:
            if stream is None or granted.name == stream:
                yield _scope(grant.grant_id, granted)


def _scope(grant_id: str, granted: StreamGrant) -> Scope:
    since, until = granted.time.bounds if granted.time else (None, None)
    return Scope(grant_id, granted.declared, granted.connections, granted.fields, since, until, granted.resources)


def _of_stream(holder: Holder, stream: str, connection_id: str | None) -> list[Scope]:
    """The scopes of one stream. A package of several sources must say which one it means."""
    scopes = list(_scopes(holder, stream))
    if not scopes:
        raise _stream_refused(holder, stream, "stream")
    if connection_id is not None:
        narrowed = _of_connection(scopes, connection_id)
        if not narrowed:
            raise _connection_refused(connection_id)
        return narrowed
    if len(holder.grants) > 1:
        candidates = _candidates(holder, scopes)
        raise AmbiguousConnection(
            f"This needs one source; {stream!r} is granted from {len(candidates)}.",
            param="connection_id",
            candidates=candidates,
        )
    return scopes


def _of_connection(scopes: Iterable[Scope], connection_id: str) -> list[Scope]:
    return [scope._replace(connections=(connection_id,)) for scope in scopes if connection_id in scope.connections]


def _projected(scope: Scope, fields: tuple[str, ...], param: str) -> Scope:
    """Requested and granted, plus the primary key."""
    for name in fields:
        if name not in scope.stream.fields:
            known = ", ".join(sorted(scope.fields))
            raise UnknownField(
                f"{scope.stream.name!r} has no field {name!r}.", param=param, remedy=f"Granted fields: {known}."
            )
        if name not in scope.fields:
            raise FieldNotGranted(f"The grant leaves out field {name!r} of {scope.stream.name!r}.", param=param)
    return scope._replace(fields=frozenset(fields) | (scope.fields & set(scope.stream.primary_key)))


def _stream_refused(holder: Holder, stream: str, param: str) -> StreamNotGranted:
    granted = sorted({scope.stream.name for scope in _scopes(holder)})
    shown = ", ".join(granted[:20]) + (f" and {len(granted) - 20} more" if len(granted) > 20 else "")
    return StreamNotGranted(
        f"The grant does not include stream {stream!r}.",
        param=param,
        remedy=f"Granted streams: {shown}. Only the owner can widen a grant." if granted else None,
    )


def _connection_refused(connection_id: str) -> ConnectionNotFound:
    return ConnectionNotFound(f"No connection {connection_id!r} is granted here.", param="connection_id")


def _candidates(holder: Holder, scopes: Iterable[Scope]) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(connection_id, origin.connector_key, scope.grant_id, origin.label)
        for scope in scopes
        for connection_id in scope.connections
        if (origin := holder.origins.get(connection_id)) is not None
    )
