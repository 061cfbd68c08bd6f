"""A SQLite file of the owner's that is not ours: opened where nothing can be written beside it."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pdpp_server.errors import InvalidRequest
from pdpp_server.store.engines.sqlite import foreign
from pdpp_server.store.engines.sqlite.foreign import ForeignFile, ForeignTable

__all__ = ["ForeignFile", "ForeignTable", "opened_tables"]

BESIDE = ("-wal", "-journal")  # what was written and does not stand in the file yet, or must be taken back


@contextmanager
def opened_tables(path: Path) -> Generator[ForeignFile, None, None]:
    """Raises: InvalidRequest where it is no database, is damaged, or is being written to just now."""
    logs = [log for ending in BESIDE if (log := path.with_name(path.name + ending)).is_file() and log.stat().st_size]
    if not logs:
        with foreign.opened(path, is_own_copy=False) as file:
            yield file
        return
    with TemporaryDirectory(prefix="pdpp-") as folder:
        before = _looks(path, *logs)
        copies = [Path(shutil.copyfile(one, Path(folder) / one.name)) for one in (path, *logs)]
        if _looks(path, *logs) != before:
            raise InvalidRequest(
                f"{path.name} is being written to.", remedy="Close the program that it belongs to, and try again."
            )
        with foreign.opened(copies[0], is_own_copy=True) as file:
            yield file


def _looks(*paths: Path) -> list[tuple[int, int]]:
    return [(told.st_size, told.st_mtime_ns) for told in (path.stat() for path in paths)]
