"""How often a secret may be guessed: after a few wrong ones, each further guess waits longer."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from threading import Lock

from pdpp_server.errors import RateLimited

ADDRESSES_MAX = 1000
FREE, FREE_IN_ALL = 5, 25  # wrong guesses that cost nothing: of one address, and of all together
WAIT_SECONDS_MAX, WAIT_SECONDS_MAX_IN_ALL = 900, 30  # all together wait less: nobody may lock the owner out
FORGET_SECONDS = 3600


@dataclass(slots=True)
class Guesses:
    wrong: int
    last: float

    def wait(self, now: float, free: int, most: int) -> float:
        """The seconds until another may be tried."""
        if self.wrong < free or now - self.last > FORGET_SECONDS:
            return 0
        return self.last + min(most, 2.0 ** min(self.wrong - free, 20)) - now


class Throttle:
    """Counted in memory, for this process. The address left alone longest is forgotten first; the sum is not."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now, self._lock = now, Lock()
        self._addresses: OrderedDict[str, Guesses] = OrderedDict()
        self._all = Guesses(0, 0.0)

    def require(self, address: str) -> None:
        """Raises `RateLimited` while that address, or everybody, has to wait."""
        with self._lock:
            now = self._now().timestamp()
            own = self._addresses.get(address, Guesses(0, 0.0))
            wait = max(own.wait(now, FREE, WAIT_SECONDS_MAX), self._all.wait(now, FREE_IN_ALL, WAIT_SECONDS_MAX_IN_ALL))
        if wait > 0:
            refusal = RateLimited(
                f"Too many wrong tries. The next one is heard in {ceil(wait)} s.",
                remedy="Forgotten it? `pdpp owner password` in a terminal of this machine sets a new one.",
            )
            refusal.retry_after_seconds = ceil(wait)
            raise refusal

    def count_wrong(self, address: str) -> None:
        with self._lock:
            now = self._now().timestamp()
            own = self._addresses.setdefault(address, Guesses(0, now))
            self._addresses.move_to_end(address)
            if len(self._addresses) > ADDRESSES_MAX:
                self._addresses.popitem(last=False)
            for guesses in (own, self._all):
                fresh = now - guesses.last <= FORGET_SECONDS
                guesses.wrong, guesses.last = (guesses.wrong if fresh else 0) + 1, now

    def forgive(self, address: str) -> None:
        """The right one was given there."""
        with self._lock:
            self._addresses.pop(address, None)
