"""How often something may be tried: counted for whoever tries it, and for all strangers together."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from threading import Lock
from typing import NamedTuple, Protocol

from pdpp_server.errors import RateLimited

KEYS_MAX, KNOWN_MAX = 10_000, 1000


class Spent(NamedTuple):
    """What somebody has tried: how often, by the rule's own count, and since when or when last."""

    times: float
    at: float


NOTHING = Spent(0, 0)


class Rule(Protocol):
    """How tries are counted, in the seconds of a clock that may be set back."""

    def wait(self, spent: Spent, now: float) -> float:
        """The seconds until another is allowed; none or fewer where one is."""
        ...

    def after(self, spent: Spent, now: float) -> Spent:
        """What is spent with one more."""
        ...


@dataclass(frozen=True, slots=True)
class Steadily:
    """So many a second in the long run, and so many at once after a rest."""

    per_second: float
    burst: int

    def wait(self, spent: Spent, now: float) -> float:
        return (self._left_over(spent, now) + 1 - self.burst) / self.per_second

    def after(self, spent: Spent, now: float) -> Spent:
        return Spent(self._left_over(spent, now) + 1, now)

    def _left_over(self, spent: Spent, now: float) -> float:
        rested = max(0.0, now - spent.at)
        return max(0.0, spent.times - rested * self.per_second)


@dataclass(frozen=True, slots=True)
class InWindow:
    """So many in so many seconds from the first on."""

    most: int
    seconds: int

    def wait(self, spent: Spent, now: float) -> float:
        return 0 if spent.times < self.most else min(self.seconds, spent.at + self.seconds - now)

    def after(self, spent: Spent, now: float) -> Spent:
        is_over = spent.at + self.seconds <= now
        return Spent(1, now) if is_over else spent._replace(times=spent.times + 1)


@dataclass(frozen=True, slots=True)
class EverSlower:
    """A few for nothing, then each waits twice as long as the one before, up to the longest; an hour forgets all."""

    free: int
    longest_seconds: int
    forget_seconds: int = 3600

    def wait(self, spent: Spent, now: float) -> float:
        if spent.times < self.free or now - spent.at > self.forget_seconds:
            return 0
        doubled = 2.0 ** min(spent.times - self.free, 20)
        wait = min(self.longest_seconds, doubled)
        return min(wait, spent.at + wait - now)

    def after(self, spent: Spent, now: float) -> Spent:
        is_forgotten = now - spent.at > self.forget_seconds
        return Spent(1 if is_forgotten else spent.times + 1, now)


class Limiter:
    """Counted in memory, for this process. Whoever tried longest ago is forgotten first; the sum of all is not.

    Somebody who is known is counted alone: what strangers spend together does not hold them up.
    """

    def __init__(self, each: Rule, now: Callable[[], datetime], *, strangers: Rule | None = None) -> None:
        self._each, self._strangers, self._now = each, strangers, now
        self._spent: OrderedDict[Hashable, Spent] = OrderedDict()
        self._known: OrderedDict[Hashable, None] = OrderedDict()
        self._all = NOTHING
        self._lock = Lock()

    def __contains__(self, whose: Hashable) -> bool:
        """Whether anything was counted for them."""
        return whose in self._spent

    def require(self, whose: Hashable, remedy: str | None = None) -> None:
        """Raises `RateLimited` while they have to wait; it says for how long."""
        now = self._now().timestamp()
        with self._lock:
            wait = self._wait(whose, now)
        if wait > 0:
            raise _refused(wait, remedy)

    def spend(self, whose: Hashable) -> None:
        """One more, whether it was allowed or not."""
        now = self._now().timestamp()
        with self._lock:
            self._count(whose, now)

    def take(self, whose: Hashable) -> None:
        """One more if it is allowed; raises `RateLimited` and counts nothing if it is not."""
        now = self._now().timestamp()
        with self._lock:
            wait = self._wait(whose, now)
            if wait <= 0:
                self._count(whose, now)
        if wait > 0:
            raise _refused(wait, None)

    def know(self, whose: Hashable) -> None:
        """They are no stranger: from now on they are counted alone."""
        with self._lock:
            self._known[whose] = None
            self._known.move_to_end(whose)
            if len(self._known) > KNOWN_MAX:
                self._known.popitem(last=False)

    def forgive(self, whose: Hashable) -> None:
        """What they tried was meant well."""
        with self._lock:
            self._spent.pop(whose, None)

    def forget(self) -> None:
        """Nobody has tried anything."""
        with self._lock:
            self._spent.clear()
            self._all = NOTHING

    def _wait(self, whose: Hashable, now: float) -> float:
        own = self._each.wait(self._spent.get(whose, NOTHING), now)
        if self._strangers is None or whose in self._known:
            return own
        return max(own, self._strangers.wait(self._all, now))

    def _count(self, whose: Hashable, now: float) -> None:
        self._spent[whose] = self._each.after(self._spent.get(whose, NOTHING), now)
        self._spent.move_to_end(whose)
        if len(self._spent) > KEYS_MAX:
            self._spent.popitem(last=False)
        if self._strangers is not None and whose not in self._known:
            self._all = self._strangers.after(self._all, now)


def _refused(wait: float, remedy: str | None) -> RateLimited:
    seconds = ceil(wait)
    refusal = RateLimited(f"Too many tries. The next one is heard in {seconds} s.", remedy=remedy)
    refusal.retry_after_seconds = seconds
    return refusal
