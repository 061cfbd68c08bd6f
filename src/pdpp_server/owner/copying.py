"""What every copying of a whole home needs: nobody else in it, and a count of how far it is."""

from collections.abc import Callable
from pathlib import Path

from pdpp_server.errors import Conflict
from pdpp_server.store.engines.sqlite import snapshot
from pdpp_server.store.opened import DATABASE_FILE


def require_alone(home: Path) -> None:
    """Raises: Conflict where another process has its database open."""
    if snapshot.is_open_elsewhere(home / DATABASE_FILE):
        raise Conflict(
            f"Another process uses {home}.", remedy="End `pdpp serve` and every agent's `pdpp mcp`, then try again."
        )


def metered(total: int, progress: Callable[[int, int], None]) -> Callable[[int], None]:
    """Hears how much more is done, and tells how much is done of all."""
    done = 0

    def heard(more: int) -> None:
        nonlocal done
        done += more
        progress(min(done, total), max(total, 1))

    return heard
