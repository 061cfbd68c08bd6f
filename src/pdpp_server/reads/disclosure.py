"""The line that must be written before an answer leaves."""

import hashlib
from typing import Any

from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.activity import Disclosure, Shown
from pdpp_server.model.queries import (
    AggregateQuery,
    BlobQuery,
    Condition,
    FetchQuery,
    Query,
    RecordsQuery,
    SchemaQuery,
    SearchQuery,
    StreamMetadataQuery,
    StreamsQuery,
    WindowQuery,
)


def disclosure(
    permitted: Permitted[Any], shown: Shown, size: int, operation: str, request_id: str, now: str, key: bytes
) -> Disclosure:
    holder = permitted.holder
    return Disclosure(
        now,
        request_id,
        operation,
        holder.kind,
        holder.client_id,
        tuple(dict.fromkeys([scope.grant_id for scope in permitted.scopes])) or holder.grant_ids,
        logged_query(permitted.query, key),
        *shown,
        size,
    )


def logged_query(query: Query, key: bytes) -> dict[str, Any]:
    """What was asked, with words of the asker's own turned into digests: alike for alike, telling nothing else."""
    said: dict[str, Any]
    match query:
        case SearchQuery():
            said = {
                "query": _hashed(query.text, key),
                "streams": query.streams,
                "filter": _hashed_filter(query.conditions, key),
                "limit": query.limit,
                "paged": bool(query.cursor),
            }
        case SchemaQuery():
            said = {"stream": query.stream, "full": query.full or None}
        case StreamsQuery():
            said = {"connector_id": query.connector_key}
        case StreamMetadataQuery():
            said = {"stream": query.stream, "connector_id": query.connector_key}
        case FetchQuery():
            said = {"fields": query.fields, "expand": [expand.name for expand in query.expand] or None}
        case RecordsQuery():
            said = _asked_for_records(query, key)
        case AggregateQuery():
            said = _asked_for_numbers(query, key)
        case BlobQuery():  # its id is a digest of content, and a log outlives what was erased
            said = {"blob_id": _hashed(query.blob_id, key), "headers_only": query.headers_only}
        case WindowQuery():
            said = {"field": query.field, "offset": query.offset, "limit": query.limit}
            said["q"] = query.q and _hashed(query.q, key)
    said["connection_id"] = query.connection_id
    return {name: value for name, value in said.items() if value is not None and value is not False}


def _asked_for_records(query: RecordsQuery, key: bytes) -> dict[str, Any]:
    return {
        "fields": query.fields,
        "view": query.view,
        "filter": _hashed_filter(query.conditions, key),
        "expand": [expand.name for expand in query.expand] or None,
        "changes": query.changes_since is not None,
        "limit": query.limit,
        "paged": bool(query.cursor),
    }


def _asked_for_numbers(query: AggregateQuery, key: bytes) -> dict[str, Any]:
    return {
        "metric": query.metric,
        "field": query.field,
        "group_by": query.group_by,
        "group_by_time": query.group_by_time,
        "granularity": query.granularity,
        "time_zone": query.time_zone if query.group_by_time else None,
        "filter": _hashed_filter(query.conditions, key),
        "limit": query.limit if query.group_by or query.group_by_time else None,
    }


def _hashed_filter(conditions: tuple[Condition, ...], key: bytes) -> list[tuple[str, str, str]] | None:
    """Which fields were compared and how; the values are the asker's own words."""
    return [(each.field, each.comparison, _hashed(each.value, key)) for each in conditions] or None


def _hashed(text: str, key: bytes) -> str:
    """Keyed, because common words could be guessed from a plain digest."""
    return "keyed:" + hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=key).hexdigest()
