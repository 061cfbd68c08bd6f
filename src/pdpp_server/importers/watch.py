"""A folder that exports are dropped into: what has stopped growing is imported, once, and moved aside."""

import math
import os
import re
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path

from pdpp_server.errors import IngestStorageError, InvalidRequest, PdppError
from pdpp_server.evidence.words import moment
from pdpp_server.importers.attached.texts import lacking
from pdpp_server.importers.missing import ASK_NOBODY, MissingChoice, Removal
from pdpp_server.importers.registry import FoundAccount, look_into, nothing_known, with_mapping
from pdpp_server.importers.run import Tally, fingerprint_of, import_account
from pdpp_server.importers.source import Importer, Proposal
from pdpp_server.owner.desk import Owner

QUIET_SECONDS = 10.0  # a download that pauses for longer is taken for whole, and refused as damaged
DONE, REFUSED = "imported", "refused"
_NOT_FOR_US = re.compile(rf"\A(?:\.|{DONE}\Z|{REFUSED}\Z)|\.(?:part|partial|crdownload|download|tmp)\Z")

FolderLook = tuple[int, int, int]  # how many files, their bytes, the newest change


class Stopped(Exception):
    """Whoever watches was asked to end."""


class NothingStored(InvalidRequest):
    """Nothing of an export could be read as a record."""


@dataclass(slots=True)
class Inbox:
    """Looked at now and then by whoever has a clock. It may be stopped at any time: what lies in it is still to do."""

    folder: Path
    bring: Callable[[Path], str]  # imports a path and says what came of it; raises PdppError
    say: Callable[[str], None]
    _seen: dict[Path, tuple[FolderLook, float]] = field(default_factory=dict[Path, tuple[FolderLook, float]])

    def step(self, now: float) -> None:
        """One look: everything that is as it was for long enough is imported."""
        before, self._seen = self._seen, {}
        for path in waiting(self.folder):
            look = _look(path)
            last, since = before.get(path, (None, now))
            self._seen[path] = (look, since if look == last else now)
            if look == last and now - since >= QUIET_SECONDS:
                is_settled = self._take(path)
                self._seen[path] = (look, math.inf if is_settled else now)  # also where it cannot be moved aside

    def _take(self, path: Path) -> bool:
        """Whether it need not be looked at again."""
        try:
            said = self.bring(path)
        except (IngestStorageError, Stopped) as trouble:  # of ours, not of the export: it waits here for better times
            self.say(f"{path.name} waits: {trouble}")
            return False
        except PdppError as refusal:
            self._refuse(path, f"{refusal.message} {refusal.remedy}".strip())
        except Exception as bug:  # noqa: BLE001 - one export that trips us must not stop the others, nor be met for ever
            frame = traceback.extract_tb(bug.__traceback__)[-1]
            place = f"{Path(frame.filename).name}:{frame.lineno}"  # its message may hold data, so it stays out
            self._refuse(path, f"Something unforeseen: {type(bug).__name__} at {place}.")
        else:
            self.say(f"{path.name}: {said}")
            self._move(path, DONE)
        return True

    def _refuse(self, path: Path, reason: str) -> None:
        self.say(f"{path.name} is refused: {reason}")
        self._move(path, REFUSED, reason)

    def _move(self, path: Path, where: str, reason: str | None = None) -> None:
        try:
            moved = _moved(path, self.folder / where)
            if reason is not None:
                beside = moved.with_name(f"{moved.name}.txt")
                with beside.open("x", encoding="utf-8", errors="backslashreplace") as file:  # never through a link
                    file.write(reason + "\n")
        except OSError as error:
            self.say(f"{path.name} cannot be moved to {where!r}: {error.strerror}.")


def waiting(folder: Path) -> list[Path]:
    """What lies there to be imported, in order."""
    if not folder.is_dir():
        return []
    return [path for path in sorted(folder.iterdir()) if not _NOT_FOR_US.search(path.name)]


def _look(path: Path) -> FolderLook:
    """What changes while something is still being written."""
    found: list[os.stat_result] = []
    for file in [path, *path.rglob("*")]:
        with suppress(OSError):  # gone in this very moment
            found.append(file.lstat())
    return len(found), sum(one.st_size for one in found), max((one.st_mtime_ns for one in found), default=0)


def _moved(path: Path, folder: Path) -> Path:
    """Into that folder, under a name that nothing there has."""
    folder.mkdir(exist_ok=True)
    target, number = folder / path.name, 1
    while target.exists() or target.with_name(f"{target.name}.txt").exists():
        number += 1
        target = folder / f"{path.stem}-{number}{path.suffix}"
    return path.rename(target)


# What becomes of one that is taken ----------------------------------------------------------------------------------


def bring_in(
    path: Path,
    owner: Owner,
    zone: tzinfo,
    importers: Sequence[Importer],
    is_stopping: Callable[[], bool],
    now: datetime | None = None,
    kept: Callable[[Proposal | None], bytes | None] = lambda _: None,
) -> str:
    """Import all accounts under the path, and say so. Raises: PdppError; Stopped, between two batches."""
    looked = look_into(path, zone, None, importers, now)
    for refusal in looked.refused.values():
        raise refusal
    if not looked.found:
        raise nothing_known(path.name, looked.left)
    settled = (with_mapping(one, mapping) if (mapping := kept(one.account.proposal)) else one for one in looked.found)
    return " ".join(bring_found(found, owner, is_stopping) for found in settled)


def bring_found(
    found: FoundAccount,
    owner: Owner,
    is_stopping: Callable[[], bool],
    missing: MissingChoice = ASK_NOBODY,
    name: str | None = None,
) -> str:
    """Import one account, unless it is unchanged, and say so. Raises: PdppError; Stopped, between two batches."""

    def heard(_: int, tally: Tally) -> None:
        if is_stopping():
            raise Stopped(f"{tally.stored} records are kept")

    if found.account.lacks:
        raise NothingStored(found.account.lacks, remedy="`pdpp import` says more about it.")
    name, fingerprint = name or found.account.name, fingerprint_of(found)
    before = fingerprint and owner.finished_import(found.declaration, name, fingerprint)
    if before:
        return f"{name!r} is unchanged since {moment(before.at)}."
    with owner.trying(found.declaration, name) as writer:
        tally = import_account(found, writer, heard, fingerprint, missing)
        if tally.rejected and not tally.stored:
            first = tally.rejections[0]
            raise NothingStored(f"Nothing of {name!r} could be read; first {first.place}: {first.reason}.")
    counts = f"{tally.accepted} accepted, {tally.unchanged} unchanged, {tally.rejected} rejected"
    return f"{name!r}: {counts}{lacking(tally.without_text)}{_removal(tally.removal)}."


def _removal(removal: Removal) -> str:
    """Nobody can be asked here: what is in doubt is kept."""
    kept = removal.missing - removal.removed
    removed = f", {removal.removed} removed (`pdpp import --undo {removal.run}`)" if removal.removed else ""
    return f"{removed}, {kept} kept that it has no longer: {'; '.join(removal.why_kept)}" if kept else removed
