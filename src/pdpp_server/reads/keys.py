"""Keys of a home: each made once, in a file that its owner alone can read."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from pdpp_server.errors import DisclosureLogUnavailable
from pdpp_server.wire.cursors import KEY_BYTES


def kept_key(path: Path) -> bytes:
    """The key in that file; made once, readable by the owner alone.

    Raises:
        DisclosureLogUnavailable: it cannot be kept, and without keys nothing is logged.
    """
    try:
        return _made_once(path)
    except OSError as error:
        raise DisclosureLogUnavailable(
            "The keys of this home cannot be kept, so nothing is read.",
            remedy="The owner must free disk space, or let the server write to the folder `keys` of its home.",
        ) from error


def _made_once(path: Path) -> bytes:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        draft = path.with_name(f".{secrets.token_hex(8)}.new")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
        with suppress(FileExistsError):  # another process was first: its key is the one
            path.hardlink_to(draft)
        draft.unlink()
    return path.read_bytes()
