"""Keys of an owner: each is known by a name, and made once."""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from pdpp_server.errors import DisclosureLogUnavailable
from pdpp_server.store.files import plain_files, written_whole
from pdpp_server.wire.cursors import KEY_BYTES

_KEY_BYTES_MOST = 1 << 16  # of a file that holds one
WRAPPING_KEY = "wrapping.key"  # which wraps those in a database, and is none of them


class Keys(Protocol):
    def kept(self, name: str) -> bytes:
        """The key of that name; made when it is first asked for.

        Raises:
            DisclosureLogUnavailable: it cannot be kept, and without keys nothing is logged.
        """
        ...

    def find(self, name: str) -> bytes | None:
        """The same, where it was made before."""
        ...

    def renew(self, name: str) -> None:
        """Another one in its place."""
        ...

    def names(self) -> list[str]:
        """Of all that were made."""
        ...

    def put(self, name: str, key: bytes) -> None:
        """One that was made elsewhere, in the place of any other."""
        ...


class KeyFiles:
    """A file for each, which the owner alone can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def kept(self, name: str) -> bytes:
        try:
            return self._made_once(self._folder / name)
        except OSError as error:
            raise DisclosureLogUnavailable(
                "The keys of this home cannot be kept, so nothing is read.",
                remedy="The owner must free disk space, or let the server write to the folder `keys` of its home.",
            ) from error

    def find(self, name: str) -> bytes | None:
        path = self._folder / name
        return path.read_bytes() if path.exists() else None

    def renew(self, name: str) -> None:
        self.put(name, secrets.token_bytes(KEY_BYTES))

    def names(self) -> list[str]:
        return [path.name for path in plain_files(self._folder) if path.name != WRAPPING_KEY]

    def put(self, name: str, key: bytes) -> None:
        with written_whole(self._folder / name) as file:
            file.write(key)

    def _made_once(self, path: Path) -> bytes:
        with suppress(FileNotFoundError):  # as it is once in its life: every read asks for it
            return _read_key(path)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f".{secrets.token_hex(8)}.new")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
        with suppress(FileExistsError):  # another process was first: its key is the one
            path.hardlink_to(draft)
        draft.unlink()
        return path.read_bytes()


def _read_key(path: Path) -> bytes:
    """Every search asks for one, which may be gone: `read_bytes` makes three objects for these few bytes."""
    opened = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        return os.read(opened, _KEY_BYTES_MOST)
    finally:
        os.close(opened)
