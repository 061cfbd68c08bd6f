"""Manifests of backups and exports: what is written is read again, and nothing else is."""

import json
from typing import Any

import pytest

from pdpp_server.model.backup import (
    ExportedBlob,
    ExportedConnection,
    ExportedStream,
    KeptFile,
    Manifest,
    Snapshot,
)
from pdpp_server.wire.backup import FaultyManifest, decode_manifest, encode_manifest
from pdpp_server.wire.export import decode_export, encode_export, encode_line

DIGEST = "ab" * 32
MANIFEST = Manifest(
    "2026-11-15T12:00:00.000Z",
    (
        Snapshot(
            "database/2026-11-15T120000.000Z.sqlite", "2026-11-15T12:00:00.000Z", 2, {"records": 3}, KeptFile(DIGEST, 9)
        ),
    ),
    {"keys/cursors.key": KeptFile(DIGEST, 64), f"blobs/ab/ab/{DIGEST}": KeptFile(DIGEST, 7)},
)
EXPORT = (
    ExportedConnection(
        "cin_1", "Phone", "cin_1/declaration.json",
        (ExportedStream("photos", "cin_1/photos.ndjson", 2, True), ExportedStream("Ä", "cin_1/_2.ndjson", 0, False)),
        (ExportedBlob(DIGEST, "image/png", (("photos", "p1"),)),),
    ),
)  # fmt: skip


def test_a_manifest_is_read_as_it_was_written() -> None:
    assert decode_manifest(encode_manifest(MANIFEST)) == MANIFEST
    assert decode_export(encode_export(EXPORT)) == EXPORT


@pytest.mark.parametrize(
    "path",
    ["keys/..", "keys/../x", "../keys/x", "/keys/x", "keys/.x", "keys", "other/x", "keys//x", "keys/x\n", "keys/a b"],
)
def test_no_path_leads_elsewhere(path: str) -> None:
    document = json.loads(encode_manifest(MANIFEST))
    document["files"][0]["file"] = path

    with pytest.raises(FaultyManifest):
        decode_manifest(json.dumps(document).encode())


@pytest.mark.parametrize("path", ["../x", "cin_1/../x", "x", "/a/b", "a/b/c", "blobs/.x"])
def test_no_path_of_an_export_leads_elsewhere(path: str) -> None:
    document = json.loads(encode_export(EXPORT))
    document["connections"][0]["declaration"] = path

    with pytest.raises(FaultyManifest):
        decode_export(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format_version": 2}, "format version 2"),
        ({"format": "other"}, "/format"),
        ({"snapshots": []}, "/snapshots"),
        ({"surplus": 1}, "surplus"),
    ],
)
def test_what_is_none_of_ours_is_refused_with_its_place(change: dict[str, Any], says: str) -> None:
    document = json.loads(encode_manifest(MANIFEST)) | change

    with pytest.raises(FaultyManifest, match=says):
        decode_manifest(json.dumps(document).encode())


def test_a_line_keeps_the_stored_bytes_of_the_record() -> None:
    single = encode_line("notes", 'a"b', '{"x":1.0}', "2026-01-01T00:00:00Z", is_compound=False)
    compound = encode_line("notes", '["a","7"]', "{}", "2026-01-01T00:00:00Z", is_compound=True)

    assert single == b'{"stream":"notes","key":"a\\"b","emitted_at":"2026-01-01T00:00:00Z","data":{"x":1.0}}\n'
    assert json.loads(compound)["key"] == ["a", "7"]
