"""The record envelope."""

from collections.abc import Mapping
from typing import Any

from pdpp_server.model.records import Record, RecordId
from pdpp_server.model.sources import REGISTRY, Origin, Source
from pdpp_server.wire.envelope import Json, needed, object_of, present, text_of

PLACEHOLDERS = frozenset({"", "legacy", "default_account", "default account"})


def encode_record(record: Record) -> Json:
    return {
        "object": "record",
        "id": record.id.key,
        "stream": record.id.stream,
        **encode_origin(record.origin),
        "data": record.data,
        "emitted_at": record.emitted_at,
        **present(authored_at=record.authored_at, roles=record.roles),
    }


def decode_record(body: Mapping[str, Any]) -> Record:
    origin = decode_origin(body)
    key, stream = needed(text_of(body, "id"), "record id"), needed(text_of(body, "stream"), "stream")
    return Record(
        RecordId(origin.connection_id, stream, key),
        origin,
        object_of(body, "data"),
        text_of(body, "emitted_at") or "",
        text_of(body, "authored_at"),
        object_of(body, "roles") if "roles" in body else None,
    )


def encode_origin(origin: Origin) -> Json:
    return {
        "connector_key": origin.connector_key,
        "connection_id": origin.connection_id,
        **present(display_name=shown_label(origin)),
    }


def decode_origin(body: Mapping[str, Any]) -> Origin:
    """Older servers name the connection by its alias, and give the connector as an address or under another name."""
    connector = text_of(body, "connector_key") or text_of(body, "connector_id") or ""
    return Origin(
        text_of(body, "connection_id") or text_of(body, "connector_instance_id") or "",
        Source("connector", connector).connector_key,
        text_of(body, "display_name"),
    )


def shown_label(origin: Origin) -> str | None:
    """The owner's own name for a connection; never one that only repeats what stands beside it."""
    label = (origin.label or "").strip()
    if label.lower() in PLACEHOLDERS or label in {origin.connector_key, origin.connection_id}:
        return None
    return None if label.startswith(REGISTRY) else label
