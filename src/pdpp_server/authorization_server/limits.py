"""How often something may be tried, for whoever tries it: so many times in so many seconds."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv6Address, IPv6Network, ip_address
from math import ceil
from threading import Lock

from pdpp_server.errors import RateLimited

KEYS_MAX = 10_000
NETWORK_BITS = 64


def visitor(address: str) -> str:
    """Whoever has one IPv6 address has a whole network of them: they count as one."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    return str(parsed.ipv4_mapped or IPv6Network((int(parsed), NETWORK_BITS), strict=False))


@dataclass(slots=True)
class Spent:
    since: float
    times: int = 0


class Allowance:
    """Counted in memory, for this process. Whoever tried longest ago is forgotten first."""

    def __init__(self, most: int, seconds: int, now: Callable[[], datetime]) -> None:
        self._most, self._seconds, self._now = most, seconds, now
        self._spent: OrderedDict[str, Spent] = OrderedDict()
        self._lock = Lock()

    def require(self, whose: str) -> None:
        """Raises RateLimited where nothing is left, until the seconds have passed."""
        now = self._now().timestamp()
        with self._lock:
            spent = self._spent.get(whose)
            left = spent.since + self._seconds - now if spent else 0
            if spent is None or left <= 0 or spent.times < self._most:
                return
        refusal = RateLimited("Too many tries.")
        refusal.retry_after_seconds = ceil(left)
        raise refusal

    def spend(self, whose: str) -> None:
        now = self._now().timestamp()
        with self._lock:
            spent = self._spent.get(whose)
            if spent is None or spent.since + self._seconds <= now:
                spent = self._spent[whose] = Spent(now)
            spent.times += 1
            self._spent.move_to_end(whose)
            if len(self._spent) > KEYS_MAX:
                self._spent.popitem(last=False)
