"""How fast a token may ask: so many at once, and so many a second in the long run."""

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import datetime
from threading import Event, Thread

from starlette.responses import Response

from pdpp_server.errors import PdppError
from pdpp_server.http.headers import token_of
from pdpp_server.http.heard import HeardRequest
from pdpp_server.http.limiter import EACH, Limiter, Memory, OpenLedger, Steadily
from pdpp_server.http.visitors import visitor
from pdpp_server.store.tries import Ledger, Spent

TOLD_EVERY_SECONDS = 0.5
_EVERYBODY = "everybody"


class Rates:
    """Any number where no rate is set.

    Where a token may ask several processes, each counts for itself and tells the others once a second, in a ledger that
    is open to all: what may be asked at once is exceeded by no more than they let pass in a second.
    """

    def __init__(
        self,
        per_second: int,
        burst: int,
        now: Callable[[], datetime],
        ledger: OpenLedger | None = None,
        together: int = 0,
    ) -> None:
        """`together` is what all of one owner may ask a second, in this process."""
        self._together = Limiter(Steadily(together, 10 * together), now) if together else None
        self._rule, self._now, self._ledger = Steadily(per_second or 1, burst), now, ledger
        self._memory = Memory()
        self._limiter = Limiter(self._rule, now, ledger=self._memory.open) if per_second else None
        self._fresh: Counter[str] = Counter()  # taken here, and not told yet
        self._stopping = Event()
        self._telling: Thread | None = None

    def begin(self) -> None:
        """Tell the others from now on, if there are any."""
        if self._limiter and self._ledger:
            self._telling = Thread(target=self._tell_now_and_then, name="rates", daemon=True)
            self._telling.start()

    def close(self) -> None:
        self._stopping.set()
        if self._telling:
            self._telling.join()

    @property
    def are_set(self) -> bool:
        """Whether anything is counted here at all."""
        return self._limiter is not None or self._together is not None

    @property
    def has_news(self) -> bool:
        return bool(self._fresh)

    def tell(self) -> None:
        """What was taken here, to all; and what all have taken, to here."""
        if self._ledger is None or not self._fresh:
            return
        fresh, self._fresh = self._fresh, Counter()
        now = self._now().timestamp()
        try:
            with self._ledger() as ledger:
                together = {whose: self._told(ledger, whose, times, now) for whose, times in fresh.items()}
        except PdppError:  # told later: whoever asks is refused by the database itself meanwhile
            self._fresh.update(fresh)
            return
        with self._memory.open() as ours:
            for whose, spent in together.items():
                ours.put(EACH, whose, spent._replace(times=spent.times + self._fresh[whose]))

    def _told(self, ledger: Ledger, whose: str, times: int, now: float) -> Spent:
        left = self._rule.left_over(ledger.get(EACH, whose), now)
        spent = Spent(left + times, now)
        ledger.put(EACH, whose, spent)
        return spent

    def _tell_now_and_then(self) -> None:
        while not self._stopping.wait(TOLD_EVERY_SECONDS):
            self.tell()

    def take(self, whose: str) -> None:
        """Raises: RateLimited."""
        if self._limiter:
            self._limiter.take(whose)
            if self._ledger:
                self._fresh[whose] += 1

    def knows(self, request: HeardRequest) -> bool:
        """Whether its token was answered before."""
        token = token_of(request)
        return token is not None and self._limiter is not None and token in self._limiter

    async def metered(self, run: Callable[[HeardRequest], Awaitable[Response]], request: HeardRequest) -> Response:
        """A token that was answered before pays in advance, and without one an address does. Any other token pays when
        it is refused, out of what its address has, so that nobody who guesses tokens slows one that is good.

        Raises:
            RateLimited: nothing is left.
        """
        if self._together is not None:
            self._together.take(_EVERYBODY)
        if self._limiter is None:
            return await run(request)
        token = token_of(request)
        if token is None or token in self._limiter:
            self.take(_address_of(request) if token is None else token)
            return await run(request)
        try:
            response = await run(request)
        except PdppError:
            self.take(_address_of(request))
            raise
        self.take(token)
        return response


def _address_of(request: HeardRequest) -> str:
    return visitor(request.client.host if request.client else "")
