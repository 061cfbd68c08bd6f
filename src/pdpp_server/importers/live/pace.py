"""How fast an answer must come: a slow line is waited for, for hours if need be, a server that trickles is not."""

from collections.abc import Callable

from pdpp_server.importers.live.trouble import AGAIN, SourceTrouble

PACE_SECONDS = 300.0  # a server that is busy may say for so long nothing but that it is
PACE_BYTES = 3000  # that come in this time at least: ten a second, where a bad line brings two thousand


class Pace:
    """Of one answer after the other."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.begin()

    def begin(self) -> None:
        """What came until now, and how long it took, no longer counts."""
        self._since, self._bytes = self._clock(), 0

    def is_kept(self, came: int) -> bool:
        """Now that so many bytes more are here."""
        self._bytes += came
        if self._clock() - self._since < PACE_SECONDS:
            return True
        is_enough = self._bytes >= PACE_BYTES
        self.begin()
        return is_enough


def trickling(where: str) -> SourceTrouble:
    pace = f"fewer than {PACE_BYTES:,} bytes in {PACE_SECONDS / 60:.0f} minutes"
    return SourceTrouble(f"{where} trickles: {pace}.", remedy=AGAIN)
