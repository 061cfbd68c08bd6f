"""Exports: the manifest of the folder, and a record as the line that an import reads again."""

from collections.abc import Iterable

import orjson

from pdpp_server.model.backup import ExportedBlob, ExportedConnection, ExportedStream
from pdpp_server.wire.backup import checked_document
from pdpp_server.wire.shapes import JSON, TEXT, Shape, list_of, members

FORMAT, FORMAT_VERSION = "pdpp-export", 1

_PATH: JSON = {"type": "string", "pattern": "^[a-z0-9_][A-Za-z0-9._-]*/[a-z0-9_][A-Za-z0-9._-]*$"}
_STREAM = members(
    {"name": TEXT, "file": _PATH, "records": {"type": "integer", "minimum": 0}, "declared": {"type": "boolean"}}
)
_BLOB = members(
    {
        "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "mime_type": TEXT,
        "bound_to": list_of(members({"stream": TEXT, "key": {"type": "string"}})),
    }
)
_CONNECTION = members(
    {
        "connection_id": TEXT,
        "name": TEXT,
        "declaration": _PATH,
        "streams": list_of(_STREAM),
        "blobs": list_of(_BLOB),
    }
)
_EXPORT = Shape(
    members(
        {
            "format": {"const": FORMAT},
            "format_version": {"const": FORMAT_VERSION},
            "connections": list_of(_CONNECTION),
        }
    )
)


def encode_line(stream: str, key: str, data: str, emitted_at: str, *, is_compound: bool) -> bytes:
    """`data` is JSON already, and stays byte for byte as it is stored."""
    named = orjson.Fragment(key) if is_compound else key
    envelope = {"stream": stream, "key": named, "emitted_at": emitted_at, "data": orjson.Fragment(data)}
    return orjson.dumps(envelope, option=orjson.OPT_APPEND_NEWLINE)


def encode_export(connections: Iterable[ExportedConnection]) -> bytes:
    """No time is in it: the same data gives the same bytes."""
    document = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "connections": [_encode_connection(connection) for connection in connections],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def decode_export(text: bytes) -> tuple[ExportedConnection, ...]:
    """Raises: FaultyManifest."""
    document = checked_document(text, _EXPORT, FORMAT_VERSION)
    return tuple(_decode_connection(each) for each in document["connections"])


def _encode_connection(connection: ExportedConnection) -> JSON:
    return {
        "connection_id": connection.connection_id,
        "name": connection.name,
        "declaration": connection.declaration,
        "streams": [
            {"name": stream.name, "file": stream.file, "records": stream.records, "declared": stream.is_declared}
            for stream in connection.streams
        ],
        "blobs": [
            {
                "sha256": blob.sha256,
                "mime_type": blob.mime_type,
                "bound_to": [{"stream": stream, "key": key} for stream, key in blob.bound_to],
            }
            for blob in connection.blobs
        ],
    }


def _decode_connection(document: JSON) -> ExportedConnection:
    return ExportedConnection(
        document["connection_id"],
        document["name"],
        document["declaration"],
        tuple(
            ExportedStream(stream["name"], stream["file"], stream["records"], stream["declared"])
            for stream in document["streams"]
        ),
        tuple(
            ExportedBlob(
                blob["sha256"], blob["mime_type"], tuple((each["stream"], each["key"]) for each in blob["bound_to"])
            )
            for blob in document["blobs"]
        ),
    )
