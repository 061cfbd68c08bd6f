"""Declarations that are proposed for data of the owner's own, written as a publisher would write them."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import orjson

from pdpp_server.wire.envelope import Json

_REGISTRY = "https://registry.pdpp.dev/"
_RANGE_OPERATORS = ("gte", "gt", "lte", "lt")
_VERSION_CHARS = 12


class ProposedStream(NamedTuple):
    """One stream: its fields by their kinds, "" where nothing can be said, and what some of them are for."""

    name: str
    key: str
    kinds: Mapping[str, str]
    key_says: str  # of a key that no row has: what it is
    time: str | None
    title: str | None
    body: str | None
    searched: tuple[str, ...]


def encode_proposal(name: str, slug: str, streams: Iterable[ProposedStream], digest: Callable[[bytes], str]) -> Json:
    """Its version is a digest of the rest, so that the same rows propose the same."""
    document: Json = {
        "protocol_version": "0.1.0",
        "source": {"kind": "connector", "id": f"{_REGISTRY}connectors/own-{slug}"},
        "declaration_version": "",
        "publisher": {"id": _REGISTRY},
        "display": {"name": name},
        "streams": [_encode_stream(stream) for stream in streams],
    }
    document["declaration_version"] = digest(orjson.dumps(document))[:_VERSION_CHARS]
    return document


def _encode_stream(stream: ProposedStream) -> Json:
    time = stream.time
    ranged = [name for name, kind in stream.kinds.items() if kind in ("integer", "number")]
    aggregations: Json = {"count": True}
    if time:
        ranged.append(time)
        aggregations["group_by_time"] = [time]
    document: Json = {
        "name": stream.name,
        "semantics": "mutable_state",
        "primary_key": [stream.key],
        "selection": {"fields": True, "resources": True},
        "schema": {"type": "object", "required": [stream.key], "properties": _encode_fields(stream)},
        "query": {
            "range_filters": {name: [*_RANGE_OPERATORS] for name in ranged},
            "search": {"lexical_fields": [*stream.searched]},
            "aggregations": aggregations,
        },
    }
    if time:
        document |= {"cursor_field": time, "consent_time_field": time}
    return document


def _encode_fields(stream: ProposedStream) -> Json:
    fields = {name: _encode_kind(kind) for name, kind in stream.kinds.items()}
    if stream.key_says:
        fields[stream.key]["description"] = stream.key_says
    for role, name in (("event-time", stream.time), ("primary-title", stream.title), ("primary-body", stream.body)):
        if name:
            fields[name]["x_pdpp_role"] = role
    return fields


def _encode_kind(kind: str) -> Json:
    if kind in ("date-time", "date"):
        return {"type": "string", "format": kind}
    return {"type": kind} if kind else {}
