"""The manifest of a backup: written last, so that a folder without it is no whole backup."""

import orjson

from pdpp_server.errors import InvalidRequest
from pdpp_server.model.backup import KeptFile, Manifest, Snapshot
from pdpp_server.wire.shapes import JSON, TEXT, Shape, list_of, members

FORMAT, FORMAT_VERSION = "pdpp-backup", 1
DATABASE, ACTIVITY, ASKED, BLOBS, KEYS, CLIENTS = "database", "activity", "asked", "blobs", "keys", "clients"

_DIGEST: JSON = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_SIZE: JSON = {"type": "integer", "minimum": 0}
# Whoever restores must not be led out of the folder: each path starts in one that we know and never climbs.
_PATH: JSON = {
    "type": "string",
    "pattern": rf"^(?:{DATABASE}|{ACTIVITY}|{ASKED}|{BLOBS}|{KEYS}|{CLIENTS})(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$",
}
_FILE: JSON = {"file": _PATH, "sha256": _DIGEST, "size_bytes": _SIZE}
_COUNTS: JSON = {"type": "object", "additionalProperties": _SIZE}
_SNAPSHOT = members({**_FILE, "at": TEXT, "schema_version": _SIZE, "counts": _COUNTS})
_MANIFEST = Shape(
    members(
        {
            "format": {"const": FORMAT},
            "format_version": {"const": FORMAT_VERSION},
            "created_at": TEXT,
            "snapshots": list_of(_SNAPSHOT, minItems=1),
            "files": list_of(members(_FILE)),
        }
    )
)


class FaultyManifest(InvalidRequest):
    """The manifest of a backup or of an export is none of ours, or of a newer version."""


def encode_manifest(manifest: Manifest) -> bytes:
    document = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "created_at": manifest.created_at,
        "snapshots": [encode_snapshot(snapshot) for snapshot in manifest.snapshots],
        "files": [_encode_file(path, kept) for path, kept in sorted(manifest.files.items())],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def decode_manifest(text: bytes) -> Manifest:
    """Raises: FaultyManifest."""
    document = checked_document(text, _MANIFEST, FORMAT_VERSION)
    return Manifest(
        document["created_at"],
        tuple(
            Snapshot(each["file"], each["at"], each["schema_version"], each["counts"], _kept(each))
            for each in document["snapshots"]
        ),
        {each["file"]: _kept(each) for each in document["files"]},
    )


def checked_document(text: bytes, shape: Shape, version: int) -> JSON:
    """The document, once it has the shape that our own have. Raises: FaultyManifest."""
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise FaultyManifest("it is not JSON") from error
    match document:
        case {"format_version": int(newer)} if newer > version:
            raise FaultyManifest(f"it has format version {newer}; this pdpp-server knows {version}")
        case _:
            pass
    fault = next(shape.faults(document), None)
    if fault:
        raise FaultyManifest(f"{fault.path or '/'} {fault.says}")
    return document


def encode_snapshot(snapshot: Snapshot) -> JSON:
    return {
        **_encode_file(snapshot.file, snapshot.kept),
        "at": snapshot.at,
        "schema_version": snapshot.schema,
        "counts": dict(snapshot.counts),
    }


def _encode_file(path: str, kept: KeptFile) -> JSON:
    return {"file": path, "sha256": kept.sha256, "size_bytes": kept.size}


def _kept(document: JSON) -> KeptFile:
    return KeptFile(document["sha256"], document["size_bytes"])
