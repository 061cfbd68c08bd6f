"""Back a home up while it is in use: only what is new is copied, and nothing counts before all of it is there."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from pdpp_server.errors import InvalidRequest, ServerTrouble
from pdpp_server.held import held
from pdpp_server.model.backup import BackupReport, KeptFile, Manifest, Remark, Snapshot
from pdpp_server.model.times import iso
from pdpp_server.store import files, log
from pdpp_server.store.engines.sqlite import snapshot
from pdpp_server.store.opened import DATABASE_FILE
from pdpp_server.wire.backup import (
    ACTIVITY,
    ASKED,
    BLOBS,
    CLIENTS,
    DATABASE,
    KEYS,
    FaultyManifest,
    decode_manifest,
    encode_manifest,
)

ASKED_FILE, MANIFEST_FILE, MARK = "asked.sqlite", "manifest.json", ".pdpp-backup"
SPARE_BYTES = 16 * 1024 * 1024  # for the manifest, and for what is written while we copy

CopyProgress = Callable[[int, int], None]  # bytes done, bytes in all


class BackupFailed(ServerTrouble):
    """A backup could not be finished; the one before is as it was."""


def back_up(home: Path, target: Path, *, now: datetime, keep: int, progress: CopyProgress) -> BackupReport:
    """Raises: InvalidRequest where the target cannot be meant, Conflict, BackupFailed."""
    home, target = home.resolve(), target.absolute()
    _require_home(home)
    _require_target(home, target)
    try:
        files.private_folder(target)
        with held(target / MARK):
            files.forget_drafts(target)
            before = _manifest_before(target)
            run = _Run(home, target, before, now, progress)
            run.require_space()
            return run.back_up(keep)
    except OSError as error:
        raise BackupFailed(
            f"{target} could not be written ({error.strerror or error}); the backup there is as it was before.",
            remedy="Free space there, or choose another folder, and run it again.",
        ) from error


def read_manifest(folder: Path) -> Manifest:
    """Raises: InvalidRequest where the folder holds no whole backup."""
    path = folder / MANIFEST_FILE
    if not path.is_file():
        unfinished = (folder / MARK).exists()
        why = "holds a backup that was never finished" if unfinished else "holds no backup"
        raise InvalidRequest(f"{folder} {why}: there is no {MANIFEST_FILE}.", remedy="`pdpp backup FOLDER` makes one.")
    try:
        return decode_manifest(path.read_bytes())
    except FaultyManifest as faulty:
        raise InvalidRequest(f"{path} cannot be read: {faulty.message}.", remedy="Use another backup.") from faulty


@dataclass
class _Run:
    """One run into one target. `kept` is what the new manifest will list, `gone` what the owner let go of the log."""

    home: Path
    target: Path
    before: Manifest
    now: datetime
    progress: CopyProgress
    kept: dict[str, KeptFile] = field(default_factory=dict[str, KeptFile])
    gone: set[str] = field(default_factory=set[str])
    remarks: list[Remark] = field(default_factory=list[Remark])
    copied_files: int = 0
    copied_bytes: int = 0
    _done: int = 0
    _total: int = 1

    def require_space(self) -> None:
        """What will be copied, as far as can be told beforehand."""
        wanted = 0
        for name in (DATABASE_FILE, f"{DATABASE_FILE}-wal"):
            path = self.home / name
            wanted += path.stat().st_size if path.exists() else 0
        for path, name in self._home_files(BLOBS):
            wanted += 0 if self._is_kept(name) else path.stat().st_size
        for path, name in self._home_files(ACTIVITY):
            wanted += max(0, path.stat().st_size - self._size_before(name))
        needed = wanted + SPARE_BYTES
        free = shutil.disk_usage(self.target).free
        if needed > free:
            raise BackupFailed(
                f"{self.target} has {free >> 20} MiB free, and {needed >> 20} MiB are needed.",
                remedy="Free space there, or choose another folder; the backup there is as it was before.",
            )
        self._total = max(wanted, 1)

    def back_up(self, keep: int) -> BackupReport:
        """Blobs before the snapshot and after it, so that one that comes or goes meanwhile is there too."""
        self._copy_blobs(path for path, _ in self._home_files(BLOBS))
        taken, is_new = self._snapshot()
        snapshots = (*self._snapshots_before(but=taken.file), taken)[-keep:]
        self._keep_blobs(snapshots)
        self._copy_log()
        self._copy_asked()
        self._copy_small(KEYS, is_mirror=False)
        self._copy_small(CLIENTS, is_mirror=True)
        manifest = Manifest(iso(self.now), snapshots, self.kept)
        with files.written_whole(self.target / MANIFEST_FILE) as file:
            file.write(encode_manifest(manifest))
        self._forget_others(manifest)
        self.progress(self._total, self._total)
        return BackupReport(taken, is_new, len(snapshots), self.copied_files, self.copied_bytes, tuple(self.remarks))

    # the database

    def _snapshot(self) -> tuple[Snapshot, bool]:
        """The newest one again where nothing changed since: the same database gives the same bytes."""
        at = iso(self.now)
        file = self._free_name(at)
        path = self.target / file
        files.private_folder(path.parent)
        draft = files.draft_of(path)
        try:
            draft.touch(mode=0o600)
            snapshot.take(self.home / DATABASE_FILE, draft, self._heard)
            kept = files.digest(draft)
            newest = self.before.snapshots[-1] if self.before.snapshots else None
            if newest and newest.kept == kept and self._is_whole(newest.file, kept):
                return newest, False
            facts = snapshot.look(draft)
            files.settle(draft, path)
        except snapshot.UnusableDatabase as damaged:
            raise BackupFailed(
                f"{self.home / DATABASE_FILE} is damaged and was not copied; the backup there is as it was before.",
                remedy="`pdpp doctor` says what is wrong and what to do.",
            ) from damaged
        finally:
            draft.unlink(missing_ok=True)
        self._count(kept)
        return Snapshot(file, at, facts.schema, facts.counts, kept), True

    def _free_name(self, at: str) -> str:
        stamp = at.replace(":", "")
        names = (f"{DATABASE}/{stamp}{f'-{again}' if again else ''}.sqlite" for again in range(1_000_000))
        return next(name for name in names if not (self.target / name).exists())

    def _snapshots_before(self, *, but: str) -> Iterator[Snapshot]:
        for each in self.before.snapshots:
            if each.file == but:
                continue
            if self._is_whole(each.file, each.kept):
                yield each
            else:
                self.remarks.append(Remark("snapshot_lost", each.file))

    # files that never change

    def _copy_blobs(self, paths: Iterable[Path]) -> None:
        for path in paths:
            name = self._name(path)
            if not self._is_kept(name) and not self._is_left_whole(path.name, name):
                self._copy_blob(path, name)

    def _is_left_whole(self, digest: str, name: str) -> bool:
        """Whether an interrupted run copied it already."""
        path = self.target / name
        if path.is_file() and (found := files.digest(path)).sha256 == digest:
            self.kept[name] = found
        return name in self.kept

    def _copy_blob(self, path: Path, name: str) -> None:
        try:
            kept = files.copy_whole(path, self.target / name, self._heard)
        except FileNotFoundError:  # erased while we looked
            return
        if kept.sha256 != path.name:
            (self.target / name).unlink()
            self.remarks.append(Remark("blob_damaged", name))
            return
        self.kept[name] = kept
        self._count(kept)

    def _keep_blobs(self, snapshots: Iterable[Snapshot]) -> None:
        """Those of every snapshot that stays."""
        wanted: set[str] = set()
        for each in snapshots:
            wanted.update(snapshot.blobs_in(self.target / each.file))
        damaged = {remark.place for remark in self.remarks}
        at_home = self._home_files(BLOBS)
        self._copy_blobs(path for path, name in at_home if path.name in wanted and name not in damaged)
        known = {**self.before.files, **self.kept}
        self.kept = {}
        for path in files.plain_files(self.target / BLOBS):
            name = self._name_in_target(path)
            if name in known and _digest(name) in wanted:
                self.kept[name] = known[name]
        told = {_digest(name) for name in (*self.kept, *damaged)}
        self.remarks += [Remark("blob_missing", digest) for digest in sorted(wanted - told)]

    # files that only grow

    def _copy_log(self) -> None:
        """What the owner let go is let go here too."""
        gone = log.let_go_in(log.segments_in(self.home / ACTIVITY).values())
        self.gone = {f"{ACTIVITY}/{id}.jsonl" for id in gone}
        self.kept |= {
            name: kept
            for name, kept in self.before.files.items()
            if name.startswith(f"{ACTIVITY}/") and name not in self.gone and self._has(name)
        }
        for path in log.segment_paths(self.home / ACTIVITY):
            self._copy_segment(path, self._name(path))

    def _copy_segment(self, path: Path, name: str) -> None:
        """Whole lines only, and only such as continue what was copied before."""
        copy, before = self.target / name, self.kept.get(name, KeptFile("", 0))
        end = log.whole_size(path, before.size)
        if end < before.size:
            self.remarks.append(Remark("log_cut", name))
            return
        if end == before.size:
            return
        if before.size:
            os.truncate(copy, before.size)  # an interrupted run may have added to it
            self._add(path, copy, before.size, end)
        else:
            files.copy_whole(path, copy, self._heard, size=end)
        verdict = log.verify_segment(copy)
        if not verdict.is_sound:
            self.remarks.append(Remark("log_changed", name))
            if before.size:
                os.truncate(copy, before.size)
                return
        self.kept[name] = files.digest(copy)
        self._count(KeptFile("", end - before.size))

    def _add(self, path: Path, copy: Path, start: int, end: int) -> None:
        with path.open("rb") as source, copy.open("ab") as target:
            source.seek(start)
            while chunk := source.read(min(files.CHUNK_BYTES, end - source.tell())):
                target.write(chunk)
                self._heard(len(chunk))
        files.sync(copy)

    # what was asked, which may be dropped

    def _copy_asked(self) -> None:
        """One moment of it; what was erased since the last backup is not in it any more."""
        if not (self.home / ASKED_FILE).is_file():
            return
        name = f"{ASKED}/{ASKED_FILE}"
        path = self.target / name
        files.private_folder(path.parent)
        draft = files.draft_of(path)
        draft.touch(mode=0o600)
        try:
            snapshot.take(self.home / ASKED_FILE, draft, self._heard)
            self.kept[name] = files.digest(draft)
            files.settle(draft, path)
        finally:
            draft.unlink(missing_ok=True)
        self._count(self.kept[name])

    # files that may be replaced

    def _copy_small(self, folder: str, *, is_mirror: bool) -> None:
        """`is_mirror`: what is gone here goes there too. A lost key is what a backup is for, so keys stay."""
        if not is_mirror:
            self.kept |= {
                name: kept
                for name, kept in self.before.files.items()
                if name.startswith(f"{folder}/") and self._is_whole(name, kept)
            }
        for path, name in self._home_files(folder):
            kept = files.digest(path)
            if self.before.files.get(name) != kept or not self._is_whole(name, kept):
                kept = files.copy_whole(path, self.target / name)
                self._count(kept)
            self.kept[name] = kept

    # what is there

    def _home_files(self, folder: str) -> Iterator[tuple[Path, str]]:
        for path in files.plain_files(self.home / folder):
            yield path, self._name(path)

    def _name(self, path: Path) -> str:
        return path.relative_to(self.home).as_posix()

    def _name_in_target(self, path: Path) -> str:
        return path.relative_to(self.target).as_posix()

    def _has(self, name: str) -> bool:
        """Whether what the manifest lists is there still; it may have grown since."""
        path = self.target / name
        return path.is_file() and path.stat().st_size >= self._size_before(name)

    def _size_before(self, name: str) -> int:
        return self.before.files.get(name, KeptFile("", 0)).size

    def _is_kept(self, name: str) -> bool:
        return name in self.kept or self._is_whole(name, self.before.files.get(name))

    def _is_whole(self, name: str, kept: KeptFile | None) -> bool:
        path = self.target / name
        return kept is not None and path.is_file() and path.stat().st_size == kept.size

    # afterwards

    def _forget_others(self, manifest: Manifest) -> None:
        """What the manifest no longer lists: old snapshots, erased blobs, removed clients."""
        listed = {*manifest.files, *(each.file for each in manifest.snapshots)}
        for folder in (DATABASE, ASKED, BLOBS, CLIENTS):
            for path in files.plain_files(self.target / folder):
                if self._name_in_target(path) not in listed:
                    path.unlink()
        files.forget_empty_folders(self.target / BLOBS)
        for name in self.gone - listed:
            (self.target / name).unlink(missing_ok=True)

    def _heard(self, size: int) -> None:
        self._done += size
        self.progress(min(self._done, self._total), self._total)

    def _count(self, kept: KeptFile) -> None:
        self.copied_files += 1
        self.copied_bytes += kept.size


def _digest(name: str) -> str:
    """A blob is called by the digest of what it holds, in a folder of its beginning."""
    return name.rpartition("/")[2]


def _require_home(home: Path) -> None:
    if not (home / DATABASE_FILE).is_file():
        raise InvalidRequest(
            f"{home} holds no data yet, so there is nothing to back up.", remedy="`pdpp import` brings data in."
        )


def _require_target(home: Path, target: Path) -> None:
    if target.resolve().is_relative_to(home):
        raise InvalidRequest(
            f"{target} lies inside {home}, and would be lost with it.",
            remedy="Choose a folder outside, best on another disk.",
        )
    if target.exists() and not target.is_dir():
        raise InvalidRequest(f"{target} is no folder.", remedy="Choose a folder.")
    if target.is_dir() and any(target.iterdir()) and not _is_ours(target):
        raise InvalidRequest(
            f"{target} is not empty and holds no backup.", remedy="Choose a folder of its own for the backup."
        )


def _is_ours(target: Path) -> bool:
    """An interrupted first run has left its mark, and no manifest."""
    return (target / MARK).exists() or (target / MANIFEST_FILE).exists()


def _manifest_before(target: Path) -> Manifest:
    """Nothing is trusted where there is no readable one: then everything is copied anew."""
    try:
        return read_manifest(target)
    except InvalidRequest:
        return Manifest("")
