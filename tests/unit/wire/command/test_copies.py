"""Copies of a home as the owner's command prints them."""

from pdpp_server.evidence.text import compact_json
from pdpp_server.model.backup import (
    BackupReport,
    ExportedBlob,
    ExportedConnection,
    ExportedStream,
    ExportReport,
    KeptFile,
    Remark,
    RestoreReport,
    Snapshot,
)
from pdpp_server.wire.backup import encode_snapshot
from pdpp_server.wire.command.copies import encode_backup, encode_export, encode_move, encode_restore

SNAPSHOT = Snapshot("database/1.sqlite", "2026-01-01T00:00:00Z", 11, {"records": 2}, KeptFile("ab", 9))
WRITTEN = compact_json(encode_snapshot(SNAPSHOT))
REMARKS = (Remark("log_cut", "seg"),)
REMARKED = '"remarks":[{"code":"log_cut","place":"seg"}]'


def test_a_backup_tells_of_its_newest_snapshot_as_the_manifest_does() -> None:
    report = BackupReport(SNAPSHOT, False, 3, 4, 5, REMARKS)
    assert compact_json(encode_backup("/b", report)) == (
        f'{{"folder":"/b","snapshot":{WRITTEN},"changed":false,"snapshots":3,"copied_files":4,"copied_bytes":5,'
        f"{REMARKED}}}"
    )


def test_what_was_restored() -> None:
    report = RestoreReport(SNAPSHOT, 6, 7, None, REMARKS)
    assert compact_json(encode_restore("/h", report)) == (
        f'{{"home":"/h","snapshot":{WRITTEN},"files":6,"bytes":7,"moved_aside":null,{REMARKED}}}'
    )


def test_what_was_exported() -> None:
    streams, blobs = (ExportedStream("notes", "n/notes.ndjson", 2, True),), (ExportedBlob("ab", "text/plain", ()),)
    report = ExportReport((ExportedConnection("notes-1", "Mine", "n/declaration.json", streams, blobs),), REMARKS)
    assert compact_json(encode_export("/e", report)) == (
        '{"folder":"/e","connections":[{"connection_id":"notes-1","name":"Mine",'
        f'"streams":[{{"name":"notes","file":"n/notes.ndjson","records":2}}],"blobs":1}}],{REMARKED}}}'
    )


def test_what_was_moved() -> None:
    moved = encode_move("ada", was_there=True, rows={"records": 2}, log_lines=3, lost_blobs=("ab",))
    assert compact_json(moved) == (
        '{"owner":"ada","was_there":true,"rows":{"records":2},"log_lines":3,"lost_blobs":["ab"]}'
    )
