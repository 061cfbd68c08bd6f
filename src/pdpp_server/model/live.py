"""Sources that are asked again and again, and how the last try went."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

WITHHELD, AGREED = "withheld", "agreed"
BACK_OFF_MINUTES, BACK_OFF_MOST = 1, timedelta(hours=6)


class LiveSource(NamedTuple):
    """One such source; its settings hold no secret."""

    name: str
    kind: str
    settings: Mapping[str, Any]
    state: Mapping[str, Any]
    tried_at: str | None = None
    succeeded_at: str | None = None
    next_at: str | None = None
    failures: int = 0
    trouble: str = ""
    said: str = ""  # what the last good try found

    @property
    def withheld(self) -> int:
        """How many records it has no longer stay here, because they are so many that only the owner can mean it."""
        return int(self.state.get(WITHHELD, 0))

    @property
    def agreed(self) -> int:
        """How many may go by the owner's word: those that were withheld when they gave it, and no more."""
        return int(self.state.get(AGREED, 0))

    def is_due(self, now: str) -> bool:
        return self.next_at is None or self.next_at <= now


def next_try(now: datetime, pause: timedelta, failures: int, asked: timedelta = timedelta()) -> datetime:
    """After a good try the usual pause; after each bad one twice as long as after the one before.

    A source that asked for a longer wait gets it, but none without an end.
    """
    if not failures:
        return now + pause
    usual = timedelta(minutes=BACK_OFF_MINUTES) * 2 ** min(failures - 1, 20)
    return now + min(max(usual, asked), BACK_OFF_MOST)
