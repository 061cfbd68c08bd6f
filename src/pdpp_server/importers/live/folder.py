"""A folder that another program fills: its exports, notes and messages are read again when anything in it changed."""

import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from hashlib import sha256
from pathlib import Path
from typing import Any

from pdpp_server.importers.files import is_litter
from pdpp_server.importers.live.trouble import SourceTrouble
from pdpp_server.importers.missing import MissingChoice
from pdpp_server.importers.registry import look_into, nothing_known
from pdpp_server.importers.source import Importer
from pdpp_server.importers.watch import bring_found
from pdpp_server.model.live import WITHHELD
from pdpp_server.owner.desk import Owner

_FLAGS = re.compile(r"[:;!]2,[A-Za-z]*\Z")  # of a message in a Maildir: whether it was read is no change of it


def folder_settings(path: Path) -> dict[str, Any]:
    """What is kept of it. Raises: SourceTrouble."""
    whole = path.resolve()
    _require_folder(whole)
    return {"path": str(whole)}


def sync_folder(
    settings: Mapping[str, Any],
    state: Mapping[str, Any],
    owner: Owner,
    zone: tzinfo,
    importers: Sequence[Importer],
    now: datetime,
    is_stopping: Callable[[], bool],
    missing: MissingChoice,
) -> tuple[str, dict[str, Any]]:
    """What came of it, and what to remember. Raises: PdppError, Stopped."""
    top = Path(settings["path"])
    _require_folder(top)
    seen = _signature(top)
    if seen == state.get("seen") and not state.get(WITHHELD):
        return "nothing changed", dict(state)
    looked = look_into(top, zone, None, importers, now)
    if not looked.found:
        if state:
            raise SourceTrouble(
                f"Nothing in {top} is known any more.", remedy="If its disk is not there, it is tried again by itself."
            )
        raise nothing_known(str(top), looked.left)
    said = [bring_found(one, owner, is_stopping, missing) for one in looked.found]
    said += [f"{name} is left out: {refusal.message}" for name, refusal in looked.refused.items()]
    return " ".join(said), {"seen": seen}


def _require_folder(top: Path) -> None:
    if not top.is_dir():
        raise SourceTrouble(
            f"There is no folder {top}.",
            remedy="If its disk is not there now, nothing is lost: it is tried again by itself.",
        )


def _signature(top: Path) -> str:
    """Another one whenever a file in it comes, goes or is written."""
    digest = sha256()
    for folder, inner, names in os.walk(top):
        inner[:] = sorted(name for name in inner if not is_litter(name))
        for name in sorted(names):
            try:
                status = Path(folder, name).lstat()
            except OSError:  # gone in this very moment
                continue
            if stat.S_ISREG(status.st_mode) and not is_litter(name):
                told = (folder, _FLAGS.sub("", name), status.st_size, status.st_mtime_ns)
                digest.update(repr(told).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()
