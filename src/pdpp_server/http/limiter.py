"""How often something may be tried: counted for whoever tries it, and for all strangers together."""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from threading import Lock
from typing import Protocol

from pdpp_server.errors import RateLimited
from pdpp_server.store.tries import NOTHING, Ledger, Spent

KEYS_MAX, KNOWN_MAX = 10_000, 1000


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
        return (self.left_over(spent, now) + 1 - self.burst) / self.per_second

    def after(self, spent: Spent, now: float) -> Spent:
        return Spent(self.left_over(spent, now) + 1, now)

    def left_over(self, spent: Spent, now: float) -> float:
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


OpenLedger = Callable[[], AbstractContextManager[Ledger]]
EACH, ALL, KNOWN, AIM = "each", "all", "known", "aim"  # what a ledger counts


class Memory:
    """A ledger of this process alone. Whoever tried longest ago is forgotten first; the sum of all is not."""

    def __init__(self) -> None:
        self._counted: defaultdict[str, OrderedDict[str, Spent]] = defaultdict(OrderedDict)
        self._lock = Lock()

    @contextmanager
    def open(self) -> Generator[Ledger, None, None]:
        with self._lock:
            yield self

    def get(self, kind: str, whose: str) -> Spent:
        return self._counted[kind].get(whose, NOTHING)

    def put(self, kind: str, whose: str, spent: Spent) -> None:
        counted = self._counted[kind]
        counted[whose] = spent
        counted.move_to_end(whose)
        if len(counted) > (KNOWN_MAX if kind == KNOWN else KEYS_MAX):
            counted.popitem(last=False)

    def drop(self, kind: str, whose: str) -> None:
        self._counted[kind].pop(whose, None)

    def clear(self, kind: str) -> None:
        self._counted[kind].clear()


class Limiter:
    """Counted in the memory of this process, or in a ledger that is open to all of them.

    Somebody who is known is counted alone: what strangers spend together does not hold them up.
    """

    def __init__(
        self,
        each: Rule,
        now: Callable[[], datetime],
        *,
        strangers: Rule | None = None,
        ledger: OpenLedger | None = None,
    ) -> None:
        self._each, self._strangers, self._now = each, strangers, now
        self._open = ledger or Memory().open

    def __contains__(self, whose: str) -> bool:
        """Whether anything was counted for them."""
        with self._open() as ledger:
            return ledger.get(EACH, whose) != NOTHING

    def require(self, whose: str, remedy: str | None = None) -> None:
        """Raises `RateLimited` while they have to wait; it says for how long."""
        now = self._now().timestamp()
        with self._open() as ledger:
            wait = self._wait(ledger, whose, now)
        if wait > 0:
            raise _refused(wait, remedy)

    def spend(self, whose: str) -> None:
        """One more, whether it was allowed or not."""
        now = self._now().timestamp()
        with self._open() as ledger:
            self._count(ledger, whose, now)

    def take(self, whose: str) -> None:
        """One more if it is allowed; raises `RateLimited` and counts nothing if it is not."""
        now = self._now().timestamp()
        with self._open() as ledger:
            wait = self._wait(ledger, whose, now)
            if wait <= 0:
                self._count(ledger, whose, now)
        if wait > 0:
            raise _refused(wait, None)

    def know(self, whose: str) -> None:
        """They are no stranger: from now on they are counted alone."""
        now = self._now().timestamp()
        with self._open() as ledger:
            ledger.put(KNOWN, whose, Spent(1, now))

    def forgive(self, whose: str) -> None:
        """What they tried was meant well."""
        with self._open() as ledger:
            ledger.drop(EACH, whose)

    def aim_at(self, what: str) -> None:
        """What is tried at from now on: what was tried at another before is forgotten."""
        now = self._now().timestamp()
        with self._open() as ledger:
            if ledger.get(AIM, what) == NOTHING:
                for kind in (EACH, ALL, AIM):
                    ledger.clear(kind)
                ledger.put(AIM, what, Spent(1, now))

    def _wait(self, ledger: Ledger, whose: str, now: float) -> float:
        own = self._each.wait(ledger.get(EACH, whose), now)
        if self._strangers is None or _is_known(ledger, whose):
            return own
        return max(own, self._strangers.wait(ledger.get(ALL, ""), now))

    def _count(self, ledger: Ledger, whose: str, now: float) -> None:
        ledger.put(EACH, whose, self._each.after(ledger.get(EACH, whose), now))
        if self._strangers is not None and not _is_known(ledger, whose):
            ledger.put(ALL, "", self._strangers.after(ledger.get(ALL, ""), now))


def _is_known(ledger: Ledger, whose: str) -> bool:
    return ledger.get(KNOWN, whose) != NOTHING


def _refused(wait: float, remedy: str | None) -> RateLimited:
    seconds = ceil(wait)
    refusal = RateLimited(f"Too many tries. The next one is heard in {seconds} s.", remedy=remedy)
    refusal.retry_after_seconds = seconds
    return refusal
