"""A folder that only one process at a time may fill."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from pdpp_server.errors import Conflict


@contextmanager
def held(mark: Path) -> Generator[None, None, None]:
    """While this process has it; whatever ends the process lets it go.

    Raises:
        Conflict: another process has it.
    """
    descriptor = os.open(mark, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise Conflict(
            f"Another process is writing to {mark.parent} now.", remedy="Wait for it, then try again."
        ) from error
    finally:
        os.close(descriptor)
