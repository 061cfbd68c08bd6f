"""What only one process at a time may do for an owner, wherever the others run that use the same database."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from pdpp_server.held import held, in_turn


class Turns(Protocol):
    """Each thing has a name. Whatever ends the process ends its turn."""

    def held(self, name: str) -> AbstractContextManager[None]:
        """Nobody waits. Raises: Conflict where another process is at it."""
        ...

    def in_turn(self, name: str) -> AbstractContextManager[None]:
        """Waits for whoever is at it."""
        ...


class FileTurns:
    """Among the processes of one folder, by a file in it."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def held(self, name: str) -> AbstractContextManager[None]:
        return held(self._mark(name))

    def in_turn(self, name: str) -> AbstractContextManager[None]:
        return in_turn(self._mark(name))

    def _mark(self, name: str) -> Path:
        return self._home / f".{name}.lock"
