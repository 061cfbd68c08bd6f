"""Backups and exports: which files they hold, and what was in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class KeptFile(NamedTuple):
    """What a file of a backup must be; one that only grows may be longer by now."""

    sha256: str
    size: int


class DatabaseFacts(NamedTuple):
    schema: int
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The database as it was at one moment; `file` is its path inside the backup."""

    file: str
    at: str
    schema: int
    counts: Mapping[str, int]
    kept: KeptFile


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a whole backup holds: snapshots, oldest first, and every other file by its path inside the backup."""

    created_at: str
    snapshots: tuple[Snapshot, ...] = ()
    files: Mapping[str, KeptFile] = field(default_factory=dict[str, KeptFile])


class Remark(NamedTuple):
    """Something that the owner should know; which words say it is up to who prints it."""

    code: str
    place: str


@dataclass(frozen=True, slots=True)
class BackupReport:
    snapshot: Snapshot
    is_new: bool  # False: the database is as it was in that snapshot
    snapshots: int
    copied_files: int
    copied_bytes: int
    remarks: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class RestoreReport:
    snapshot: Snapshot
    files: int
    bytes: int
    moved_aside: str | None
    remarks: tuple[Remark, ...]


class ExportedStream(NamedTuple):
    name: str
    file: str
    records: int
    is_declared: bool  # False: a later declaration left the stream out, so that nothing can be imported into it


class ExportedBlob(NamedTuple):
    """One blob and the records it was delivered for, as (stream, key)."""

    sha256: str
    mime_type: str
    bound_to: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ExportedConnection:
    connection_id: str
    name: str
    declaration: str  # the path of its declaration
    streams: tuple[ExportedStream, ...]
    blobs: tuple[ExportedBlob, ...] = ()

    @property
    def records(self) -> int:
        return sum(stream.records for stream in self.streams)


@dataclass(frozen=True, slots=True)
class ExportReport:
    connections: tuple[ExportedConnection, ...]
    remarks: tuple[Remark, ...]
