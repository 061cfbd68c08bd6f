"""Files that are whole or not there: written beside their place, kept on disk, then renamed. For their owner only."""

import os
import re
import shutil
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from pdpp_server.model.backup import KeptFile

CHUNK_BYTES = 1024 * 1024
_DRAFT = ".{name}.new"
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", re.ASCII)

BytesHeard = Callable[[int], None]  # so many bytes more are done


def silent(_: int) -> None:
    """Nobody listens."""


def made_folder(path: Path) -> Path:
    """Whatever is missing on the way to it is made for its owner alone; what is there stays as open as it was."""
    for folder in reversed((path, *path.parents)):
        folder.mkdir(mode=0o700, exist_ok=True)
    return path


def private_folder(path: Path) -> Path:
    made_folder(path).chmod(0o700)
    return path


def draft_of(path: Path) -> Path:
    return path.with_name(_DRAFT.format(name=path.name))


@contextmanager
def written_whole(path: Path) -> Generator[BinaryIO, None, None]:
    """A file that takes its name only when all of it is on disk; after a failure nothing of it is left."""
    made_folder(path.parent)
    draft = draft_of(path)
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            yield file
        settle(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def settle(draft: Path, path: Path) -> None:
    """Give a finished draft its name, for good."""
    draft.chmod(0o600)
    sync(draft)
    draft.replace(path)
    sync(path.parent)


def sync(path: Path) -> None:
    """Windows opens no folder, and keeps only what was opened to be written."""
    if sys.platform == "win32" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def copy_whole(source: Path, target: Path, heard: BytesHeard = silent, *, size: int | None = None) -> KeptFile:
    """Copy a file, or its first `size` bytes; what it says it copied is what it read."""
    with written_whole(target) as file:
        return _pour(source, heard, size, file)


def digest(path: Path, heard: BytesHeard = silent, *, size: int | None = None) -> KeptFile:
    """What a file, or its first `size` bytes, is."""
    return _pour(path, heard, size, None)


def plain_files(folder: Path) -> Iterator[Path]:
    """The files below a folder, in order; links, drafts and whatever else has no name of ours are not looked at."""
    if not folder.is_dir() or folder.is_symlink():
        return
    for path in sorted(folder.iterdir()):
        if not _PLAIN_NAME.fullmatch(path.name) or path.is_symlink():
            continue
        if path.is_dir():
            yield from plain_files(path)
        elif path.is_file():
            yield path


def forget_drafts(folder: Path) -> None:
    """What an interrupted run left behind."""
    for path in folder.rglob(_DRAFT.format(name="*")):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def forget_empty_folders(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            with suppress(OSError):  # not empty
                path.rmdir()


def _pour(source: Path, heard: BytesHeard, size: int | None, target: BinaryIO | None) -> KeptFile:
    hashed, done = sha256(), 0
    with source.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES if size is None else min(CHUNK_BYTES, size - done)):
            if target:
                target.write(chunk)
            hashed.update(chunk)
            done += len(chunk)
            heard(len(chunk))
    return KeptFile(hashed.hexdigest(), done)
