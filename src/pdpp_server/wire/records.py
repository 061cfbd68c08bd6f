"""The record envelope."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from pdpp_server.model.records import Expanded, Record, RecordId, Tombstone
from pdpp_server.model.sources import Origin, Source
from pdpp_server.wire.blobs import with_addresses, without_addresses
from pdpp_server.wire.envelope import Json, is_object, needed, object_of, objects_of, text_of, time_of


def encode_record(record: Record) -> Json:
    body = encode_bare(record)
    body["data"] = with_addresses(record.data, record.roles)
    if record.roles is not None:
        body["roles"] = record.roles
    if record.binary is not None:
        body["binary"] = record.binary
    if record.expanded:
        body["expanded"] = {name: encode_expanded(group, encode_record) for name, group in record.expanded.items()}
    return body


def encode_bare(record: Record) -> Json:
    """Without what is declared of its fields, without addresses, and without what it is related to."""
    body = {
        "object": "record",
        "id": record.id.key,
        "stream": record.id.stream,
        **encode_origin(record.origin),
        "data": record.data,
        "emitted_at": record.emitted_at,
    }
    if record.authored_at is not None:
        body["authored_at"] = record.authored_at
    return body


def encode_expanded(group: Expanded, encode: Callable[[Record], Json]) -> Json | None:
    records = [encode(record) for record in group.records]
    if group.is_list:
        return {"object": "list", "data": records, "has_more": group.has_more}
    return records[0] if records else None


def encode_tombstone(tombstone: Tombstone) -> Json:
    return {
        "object": "record",
        "id": tombstone.id.key,
        "stream": tombstone.id.stream,
        **encode_origin(tombstone.origin),
        "deleted": True,
        "deleted_at": tombstone.deleted_at,
        "emitted_at": tombstone.emitted_at,
    }


def decode_tombstone(body: Mapping[str, Any]) -> Tombstone:
    origin = decode_origin(body)
    key, stream = needed(text_of(body, "id"), "record id"), needed(text_of(body, "stream"), "stream")
    emitted_at = time_of(body, "emitted_at") or ""
    return Tombstone(
        RecordId(origin.connection_id, stream, key), origin, emitted_at, time_of(body, "deleted_at") or emitted_at
    )


def decode_record(body: Mapping[str, Any]) -> Record:
    origin = decode_origin(body)
    key, stream = needed(text_of(body, "id"), "record id"), needed(text_of(body, "stream"), "stream")
    roles = object_of(body, "roles") if "roles" in body else None
    return Record(
        RecordId(origin.connection_id, stream, key),
        origin,
        without_addresses(object_of(body, "data"), roles),
        time_of(body, "emitted_at") or "",
        time_of(body, "authored_at"),
        roles,
        {name: _decode_expanded(group) for name, group in object_of(body, "expanded").items()},
        object_of(body, "binary") or None,
    )


def _decode_expanded(group: object) -> Expanded:
    if group is None or not is_object(group):
        return Expanded((), is_list=False)
    body = cast("Mapping[str, Any]", group)
    if body.get("object") == "record":
        return Expanded((decode_record(body),), is_list=False)
    return Expanded(tuple(decode_record(one) for one in objects_of(body, "data")), True, body.get("has_more") is True)


def encode_origin(origin: Origin) -> Json:
    told: Json = {"connector_key": origin.connector_key} if origin.connector_key else {}
    told["connection_id"] = origin.connection_id
    if origin.label is not None:
        told["display_name"] = origin.label
    return told


def decode_origin(body: Mapping[str, Any]) -> Origin:
    """Older servers name the connection by its alias, and give the connector as an address or under another name."""
    connector = text_of(body, "connector_key") or text_of(body, "connector_id") or ""
    return Origin(
        text_of(body, "connection_id") or text_of(body, "connector_instance_id") or "",
        Source("connector", connector).connector_key,
        text_of(body, "display_name"),
    )
