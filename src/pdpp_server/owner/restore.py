"""Restore a backup into a home: checked byte for byte while it is laid out beside it, and only then moved in."""

import shutil
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from pdpp_server.errors import Conflict, InvalidRequest, ServerTrouble
from pdpp_server.model.backup import KeptFile, Manifest, Remark, RestoreReport, Snapshot
from pdpp_server.model.times import instant, iso
from pdpp_server.owner.backup import ASKED_FILE, CopyProgress, read_manifest
from pdpp_server.owner.copying import metered, require_alone
from pdpp_server.store import files, log
from pdpp_server.store.engines.sqlite import snapshot
from pdpp_server.store.engines.sqlite.migrations import NewerDatabase, migration_files
from pdpp_server.store.opened import DATABASE_FILE
from pdpp_server.wire.backup import ACTIVITY, ASKED

DAMAGED_SHOWN = 5


class DamagedBackup(ServerTrouble):
    """Files of a backup are missing or not as they were written."""

    remedy = "Nothing was changed. Restore another backup, or another moment of this one with --at."


class HomeInTheWay(InvalidRequest):
    """A home that holds data is not overwritten."""


def restore(
    source: Path, home: Path, *, at: str | None, replace: bool, now: datetime, progress: CopyProgress
) -> RestoreReport:
    """Raises: InvalidRequest, Conflict, DamagedBackup, NewerDatabase; then the home is as it was."""
    home = home.absolute()
    manifest = read_manifest(source)
    chosen = _chosen(manifest, at)
    _require_known_schema(chosen)
    _require_room(home, replace=replace)
    laid_out = _staging(home)
    parts = _parts(manifest, chosen)
    size = sum(kept.size for _, _, kept in parts)
    try:
        _require_space(laid_out.parent, size)
        _lay_out(source, laid_out, parts, metered(size, progress))
        _require_sound(laid_out / DATABASE_FILE, chosen)
        remarks = _remarks(laid_out)
        moved_aside = _move_in(laid_out, home, now)
    finally:
        shutil.rmtree(laid_out, ignore_errors=True)
    return RestoreReport(chosen, len(parts), size, moved_aside, remarks)


def _chosen(manifest: Manifest, at: str | None) -> Snapshot:
    """The newest snapshot, or the newest that is not later than `at`."""
    if at is None:
        return manifest.snapshots[-1]
    moment = instant(at)
    if moment is None:
        raise InvalidRequest("That is no time.", remedy="Write it as 2026-11-15 or 2026-11-15T12:00:00Z.")
    earlier = [each for each in manifest.snapshots if (instant(each.at) or 0) <= moment]
    if not earlier:
        times = ", ".join(each.at for each in manifest.snapshots)
        raise InvalidRequest(f"The backup has no snapshot of {at} or before.", remedy=f"It has: {times}.")
    return earlier[-1]


def _require_known_schema(chosen: Snapshot) -> None:
    known = len(migration_files())
    if chosen.schema > known:
        raise NewerDatabase(
            f"{chosen.file} has schema {chosen.schema}; this pdpp-server knows {known}.",
            remedy="Install the newer pdpp-server, or restore an earlier moment with --at.",
        )


def _require_room(home: Path, *, replace: bool) -> None:
    if not home.exists() or _is_empty(home):
        return
    if not replace:
        raise HomeInTheWay(
            f"{home} is not empty, and nothing in it is overwritten.",
            remedy="Name an empty PDPP_HOME, or say --replace to move it aside first.",
        )
    if (home / DATABASE_FILE).is_file():
        require_alone(home)


def _is_empty(home: Path) -> bool:
    return home.is_dir() and all(path == _inside(home) for path in home.iterdir())


def _inside(home: Path) -> Path:
    return home / ".restoring"


def _staging(home: Path) -> Path:
    """Beside the home, so that it is moved in at once; inside an empty one, which may be a disk of its own."""
    place = _inside(home) if home.is_dir() and _is_empty(home) else home.with_name(f".{home.name}.restoring")
    if place.exists():
        shutil.rmtree(place)  # an interrupted run left it
    return files.private_folder(place)


def _parts(manifest: Manifest, chosen: Snapshot) -> list[tuple[str, str, KeptFile]]:
    """Path in the backup, path in the home, what it must be."""
    return [
        (chosen.file, DATABASE_FILE, chosen.kept),
        *((name, _place(name), kept) for name, kept in manifest.files.items()),
    ]


def _place(name: str) -> str:
    """Where a file of the backup belongs in a home."""
    return ASKED_FILE if name == f"{ASKED}/{ASKED_FILE}" else name


def _require_space(folder: Path, size: int) -> None:
    free = shutil.disk_usage(folder).free
    if size > free:
        raise ServerTrouble(
            f"{folder} has {free >> 20} MiB free, and {size >> 20} MiB are needed.", remedy="Free space there."
        )


def _lay_out(source: Path, target: Path, parts: list[tuple[str, str, KeptFile]], heard: Callable[[int], None]) -> None:
    damaged = [name for name, place, kept in parts if not _is_copied(source / name, target / place, kept, heard)]
    if damaged:
        shown = ", ".join(damaged[:DAMAGED_SHOWN])
        more = f" and {len(damaged) - DAMAGED_SHOWN} more" if len(damaged) > DAMAGED_SHOWN else ""
        raise DamagedBackup(f"The backup is damaged: {shown}{more}.")


def _is_copied(source: Path, target: Path, kept: KeptFile, heard: Callable[[int], None]) -> bool:
    """Only so many bytes as the manifest lists: an interrupted run may have added to a file that grows."""
    try:
        return files.copy_whole(source, target, heard, size=kept.size) == kept
    except (FileNotFoundError, IsADirectoryError):
        return False


def _require_sound(database: Path, chosen: Snapshot) -> None:
    try:
        found = snapshot.look(database, thoroughly=True)
    except snapshot.UnusableDatabase as unusable:
        raise DamagedBackup(f"{chosen.file} is damaged.") from unusable
    if (found.schema, dict(found.counts)) != (chosen.schema, dict(chosen.counts)):
        raise DamagedBackup(f"{chosen.file} does not hold what the manifest says.")


def _remarks(laid_out: Path) -> tuple[Remark, ...]:
    """A log that had been touched before it was backed up is restored as it is, and said to be so."""
    verdicts = log.verify(laid_out / ACTIVITY, ())
    return tuple(Remark("log_changed", verdict.segment) for verdict in verdicts if not verdict.is_sound)


def _move_in(laid_out: Path, home: Path, now: datetime) -> str | None:
    if laid_out.parent == home:
        for path in _database_last(laid_out):
            path.rename(home / path.name)
        home.chmod(0o700)
        files.sync(home)
        return None
    aside = home.with_name(f"{home.name}.before-restore-{iso(now).replace(':', '')}")
    was_there = home.exists()
    if was_there:
        if aside.exists():
            raise Conflict(f"{aside} is there already.", remedy="Try again in a second.")
        home.rename(aside)
    try:
        laid_out.rename(home)
    except OSError:
        if was_there:
            aside.rename(home)
        raise
    files.sync(home.parent)
    return str(aside) if was_there else None


def _database_last(folder: Path) -> Iterator[Path]:
    yield from sorted(folder.iterdir(), key=lambda path: path.name == DATABASE_FILE)
