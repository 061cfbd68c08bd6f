"""What the processes of one home tell each other about uploads: only one of them has the files, any may be asked."""

import os
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import orjson

TOLD_EVERY_SECONDS, STALE_SECONDS = 1.0, 30.0  # whoever says nothing for so long has ended
HEARD_EVERY_SECONDS, HEARD_SECONDS = 0.1, 5.0  # for whoever has the files to hear a wish
ID = re.compile(r"[A-Za-z0-9_-]{16,40}")  # of an upload; nothing else is part of a path

UploadTold = dict[str, Any]  # what a page says of an upload
UploadWish = dict[str, Any]  # what the owner wants done with it


class UploadBoard:
    """Two small files for each, beside the folder of its own files: what is told of it, and what is wished."""

    def __init__(self, folder: Path, now: Callable[[], datetime]) -> None:
        self._folder, self._now = folder, now

    def tell(self, id: str, told: UploadTold) -> None:
        self._write(self._told(id), told)

    def told(self, id: str) -> UploadTold | None:
        """None where nobody tells of it, or nobody has for a while."""
        path = self._told(id)
        try:
            is_fresh = bool(ID.fullmatch(id)) and self._now().timestamp() - path.stat().st_mtime < STALE_SECONDS
            return orjson.loads(path.read_bytes()) if is_fresh else None
        except OSError:
            return None

    def every(self) -> list[str]:
        """The ids of all that is told of, newest first."""
        paths = [path for path in self._folder.glob("*.told") if path.is_file()]
        return [path.stem for path in sorted(paths, key=_changed, reverse=True)]

    def wish(self, id: str, wish: UploadWish) -> None:
        """Heard when this returns, unless nobody listens any more."""
        path = self._wished(id)
        self._write(path, wish)
        until = monotonic() + HEARD_SECONDS
        while path.exists() and monotonic() < until:
            sleep(HEARD_EVERY_SECONDS)

    def wished(self, id: str) -> UploadWish | None:
        try:
            return orjson.loads(self._wished(id).read_bytes())
        except OSError:
            return None

    def heard(self, id: str) -> None:
        self._wished(id).unlink(missing_ok=True)

    def forget(self, id: str) -> None:
        for path in (self._told(id), self._wished(id)):
            path.unlink(missing_ok=True)

    def _told(self, id: str) -> Path:
        return self._folder / f"{id}.told"

    def _wished(self, id: str) -> Path:
        return self._folder / f"{id}.wish"

    def _write(self, path: Path, said: UploadTold | UploadWish) -> None:
        """Whole or not at all, whoever else writes it now. What it says may be private."""
        draft = path.with_suffix(f".{os.urandom(4).hex()}.new")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(orjson.dumps(said))
        draft.replace(path)


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
