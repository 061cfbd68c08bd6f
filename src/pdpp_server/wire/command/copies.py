"""Copies of a home as the owner's command prints them: backed up, restored, exported, moved."""

from collections.abc import Iterable, Mapping, Sequence

from pdpp_server.model.backup import BackupReport, ExportedConnection, ExportReport, Remark, RestoreReport
from pdpp_server.wire.backup import encode_snapshot
from pdpp_server.wire.envelope import Json


def encode_backup(folder: str, report: BackupReport) -> Json:
    return {
        "folder": folder,
        "snapshot": encode_snapshot(report.snapshot),
        "changed": report.is_new,
        "snapshots": report.snapshots,
        "copied_files": report.copied_files,
        "copied_bytes": report.copied_bytes,
        "remarks": _encode_remarks(report.remarks),
    }


def encode_restore(home: str, report: RestoreReport) -> Json:
    return {
        "home": home,
        "snapshot": encode_snapshot(report.snapshot),
        "files": report.files,
        "bytes": report.bytes,
        "moved_aside": report.moved_aside,
        "remarks": _encode_remarks(report.remarks),
    }


def encode_export(folder: str, report: ExportReport) -> Json:
    connections = [_encode_connection(connection) for connection in report.connections]
    return {"folder": folder, "connections": connections, "remarks": _encode_remarks(report.remarks)}


def _encode_connection(connection: ExportedConnection) -> Json:
    return {
        "connection_id": connection.connection_id,
        "name": connection.name,
        "streams": [
            {"name": stream.name, "file": stream.file, "records": stream.records} for stream in connection.streams
        ],
        "blobs": len(connection.blobs),
    }


def _encode_remarks(remarks: Iterable[Remark]) -> list[Json]:
    return [remark._asdict() for remark in remarks]


def encode_move(
    owner: str, *, was_there: bool, rows: Mapping[str, int], log_lines: int, lost_blobs: Sequence[str]
) -> Json:
    return {
        "owner": owner,
        "was_there": was_there,
        "rows": dict(rows),
        "log_lines": log_lines,
        "lost_blobs": list(lost_blobs),
    }
