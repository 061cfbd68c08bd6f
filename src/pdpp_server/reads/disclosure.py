"""The line that must be written before an answer leaves."""

import hashlib
from typing import Any, NamedTuple

import orjson

from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.activity import Disclosure
from pdpp_server.model.queries import FetchQuery, SchemaQuery, SearchQuery, WindowQuery


class Disclosed(NamedTuple):
    """What an answer gives away."""

    connections: tuple[str, ...]
    streams: tuple[str, ...]
    fields: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    bytes: int = 0


def disclosure(
    permitted: Permitted[Any], disclosed: Disclosed, operation: str, request_id: str, now: str, key: bytes
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
        disclosed.connections,
        disclosed.streams,
        disclosed.fields,
        disclosed.records,
        disclosed.bytes,
    )


def logged_query(query: SchemaQuery | SearchQuery | FetchQuery | WindowQuery, key: bytes) -> dict[str, Any]:
    """What was asked, with words of the asker's own turned into digests: alike for alike, telling nothing else."""
    said: dict[str, Any]
    match query:
        case SearchQuery():
            said = {
                "query": _hashed(query.text, key),
                "streams": query.streams,
                "limit": query.limit,
                "paged": bool(query.cursor),
            }
        case SchemaQuery():
            said = {"stream": query.stream, "full": query.full or None}
        case FetchQuery():
            said = {"fields": query.fields}
        case WindowQuery():
            said = {"field": query.field, "offset": query.offset, "limit": query.limit}
            said["q"] = query.q and _hashed(query.q, key)
    said["connection_id"] = query.connection_id
    return {name: value for name, value in said.items() if value is not None and value is not False}


def json_bytes(data: object) -> int:
    return len(orjson.dumps(data))


def _hashed(text: str, key: bytes) -> str:
    """Keyed, because common words could be guessed from a plain digest."""
    return "keyed:" + hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=key).hexdigest()
