"""How fast a token may ask: a bucket for each, filled at a steady rate."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from starlette.requests import Request
from starlette.responses import Response

from pdpp_server.errors import PdppError, RateLimited
from pdpp_server.http.headers import token_of

BUCKETS_MAX = 10_000


@dataclass(slots=True)
class Bucket:
    drops: float
    filled_at: float


class Rates:
    """Asked on the event loop's thread only. The bucket that was left alone longest is the one that is forgotten."""

    def __init__(self, per_second: int, burst: int, now: Callable[[], datetime]) -> None:
        self._per_second, self._burst, self._now = per_second, burst, now
        self._buckets: OrderedDict[int | str | None, Bucket] = OrderedDict()

    async def metered(self, run: Callable[[Request], Awaitable[Response]], request: Request) -> Response:
        """A token that was answered before pays in advance. Any other pays when it is refused, out of the one bucket
        of its address, so that nobody who guesses tokens slows one that is good.

        Raises:
            RateLimited: the bucket is empty.
        """
        if not self._per_second:
            return await run(request)
        token = token_of(request)
        if token in self._buckets:
            self._spend(token)
            return await run(request)
        try:
            response = await run(request)
        except PdppError:
            self._spend(request.client.host if request.client else "")
            raise
        self._spend(token)
        return response

    def _spend(self, whose: int | str | None) -> None:
        bucket = self._filled(whose)
        if bucket.drops < 1:
            refusal = RateLimited("Too many requests.")
            refusal.retry_after_seconds = ceil((1 - bucket.drops) / self._per_second)
            raise refusal
        bucket.drops -= 1

    def _filled(self, whose: int | str | None) -> Bucket:
        now = self._now().timestamp()
        bucket = self._buckets.get(whose)
        if bucket is None:
            bucket = self._buckets[whose] = Bucket(self._burst, now)
            if len(self._buckets) > BUCKETS_MAX:
                self._buckets.popitem(last=False)
            return bucket
        self._buckets.move_to_end(whose)
        since = max(0.0, now - bucket.filled_at)  # a clock that was set back fills nothing
        bucket.drops = min(self._burst, bucket.drops + since * self._per_second)
        bucket.filled_at = now
        return bucket
