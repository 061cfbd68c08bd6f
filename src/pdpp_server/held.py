"""What only one process at a time may do: others are refused, or wait for their turn."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from pdpp_server.errors import Conflict

if sys.platform == "win32":
    import msvcrt

    def lock(descriptor: int, *, waits: bool) -> None:
        """Until the descriptor is closed. Raises BlockingIOError: another process has it, and nobody is to wait."""
        while True:
            try:
                return msvcrt.locking(descriptor, msvcrt.LK_LOCK if waits else msvcrt.LK_NBLCK, 1)
            except OSError as error:
                if not waits:
                    raise BlockingIOError from error

else:
    import fcntl

    def lock(descriptor: int, *, waits: bool) -> None:
        """Until the descriptor is closed. Raises BlockingIOError: another process has it, and nobody is to wait."""
        fcntl.flock(descriptor, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def held(mark: Path) -> Generator[None, None, None]:
    """While this process has it; whatever ends the process lets it go.

    Raises:
        Conflict: another process has it.
    """
    descriptor = os.open(mark, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        lock(descriptor, waits=False)
        yield
    except BlockingIOError as error:
        raise Conflict(
            f"Another process is writing to {mark.parent} now.", remedy="Wait for it, then try again."
        ) from error
    finally:
        os.close(descriptor)


@contextmanager
def in_turn(mark: Path) -> Generator[None, None, None]:
    """Waits for whoever has it, in this process or another; whatever ends the process lets it go."""
    descriptor = os.open(mark, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        lock(descriptor, waits=True)
        yield
    finally:
        os.close(descriptor)
