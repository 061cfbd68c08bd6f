"""What was asked in the asker's own words, sealed, by request: beside the log, which holds digests alone."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol


class SealedAsk(NamedTuple):
    request_id: str
    operation: str
    month: str  # whose key opens it
    sealed: bytes


class AskedTable(Protocol):
    """Whoever writes here never waits for an import."""

    def keep(self, ask: SealedAsk) -> None:
        """Raises `OSError` where it cannot be kept."""
        ...

    def find(self, request_ids: Iterable[str]) -> list[SealedAsk]: ...

    def every(self) -> list[SealedAsk]: ...

    def drop(self, asks: Iterable[SealedAsk]) -> None:
        """For good."""
        ...

    def close(self) -> None: ...
