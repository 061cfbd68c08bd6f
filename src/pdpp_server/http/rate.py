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
_ANY_NUMBER = Steadily(1e9, 10**9)  # by which it is known all the same who was answered before


class PaidHere:
    """What is taken here by one rule, and what of it the other processes were not told yet."""

    def __init__(self, rule: Steadily, now: Callable[[], datetime]) -> None:
        self._rule, self._now, self._memory = rule, now, Memory()
        self._limiter = Limiter(rule, now, ledger=self._memory.open)
        self._telling: Counter[str] = Counter()
        self._told: dict[str, Spent] = {}
        self.fresh: Counter[str] = Counter()

    def __contains__(self, whose: str) -> bool:
        return whose in self._limiter

    def require(self, whose: str) -> None:
        """Raises: RateLimited."""
        self._limiter.require(whose)

    def spend(self, whose: str) -> None:
        self._limiter.spend(whose)

    def take(self, whose: str) -> None:
        """Raises: RateLimited."""
        self._limiter.take(whose)

    def tell(self, ledger: Ledger) -> None:
        """To all, what was taken here. Whether that is kept, is said afterwards."""
        self._telling, self.fresh = self.fresh, Counter()
        now = self._now().timestamp()
        self._told = {whose: self._summed(ledger, whose, times, now) for whose, times in self._telling.items()}

    def is_told(self) -> None:
        """From now on what all have taken counts here too."""
        self._telling = Counter()
        with self._memory.open() as ours:
            for whose, spent in self._told.items():
                ours.put(EACH, whose, spent._replace(times=spent.times + self.fresh[whose]))

    def is_not_told(self) -> None:
        self.fresh.update(self._telling)
        self._telling = Counter()

    def _summed(self, ledger: Ledger, whose: str, times: int, now: float) -> Spent:
        left = self._rule.left_over(ledger.get(EACH, whose), now)
        spent = Spent(left + times, now)
        ledger.put(EACH, whose, spent)
        return spent


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
        """`together` is what all of one owner may ask a second."""
        self._tokens = PaidHere(Steadily(per_second, burst) if per_second else _ANY_NUMBER, now)
        self._everybody = PaidHere(Steadily(together, 10 * together), now) if together else None
        self._counted = [self._tokens] if per_second else list[PaidHere]()
        if self._everybody:
            self._counted.append(self._everybody)
        self._ledger = ledger
        self._stopping = Event()
        self._telling: Thread | None = None

    def begin(self) -> None:
        """Tell the others from now on, if there are any."""
        if self._counted and self._ledger:
            self._telling = Thread(target=self._tell_now_and_then, name="rates", daemon=True)
            self._telling.start()

    def close(self) -> None:
        self._stopping.set()
        if self._telling:
            self._telling.join()

    @property
    def are_set(self) -> bool:
        """Whether anything is counted here at all."""
        return bool(self._counted)

    @property
    def has_news(self) -> bool:
        return any(counted.fresh for counted in self._counted)

    def tell(self) -> None:
        """What was taken here, to all; and what all have taken, to here."""
        if self._ledger is None or not self.has_news:
            return
        try:
            with self._ledger() as ledger:
                for counted in self._counted:
                    counted.tell(ledger)
        except PdppError:  # told later: whoever asks is refused by the database itself meanwhile
            for counted in self._counted:
                counted.is_not_told()
            return
        for counted in self._counted:
            counted.is_told()

    def _tell_now_and_then(self) -> None:
        while not self._stopping.wait(TOLD_EVERY_SECONDS):
            self.tell()

    def take(self, whose: str) -> None:
        """Raises: RateLimited."""
        self._tokens.take(whose)
        self._note(self._tokens, whose)

    def _note(self, counted: PaidHere, whose: str) -> None:
        if self._ledger and counted in self._counted:
            counted.fresh[whose] += 1

    def knows(self, request: HeardRequest) -> bool:
        """Whether its token was answered before."""
        token = token_of(request)
        return token is not None and token in self._tokens

    async def metered(self, run: Callable[[HeardRequest], Awaitable[Response]], request: HeardRequest) -> Response:
        """A token that was answered before pays in advance, and without one an address does. Any other token pays when
        it is refused, out of what its address has, so that nobody who guesses tokens slows one that is good, nor spends
        what all of an owner's have together.

        Raises:
            RateLimited: nothing is left.
        """
        if not self._counted:
            return await run(request)
        token, everybody = token_of(request), self._everybody
        if token is None:
            self.take(_address_of(request))
            return await run(request)
        if token in self._tokens:
            if everybody:
                everybody.take(_EVERYBODY)
                self._note(everybody, _EVERYBODY)
            self.take(token)
            return await run(request)
        if everybody:
            everybody.require(_EVERYBODY)
        try:
            response = await run(request)
        except PdppError:
            self.take(_address_of(request))
            raise
        if everybody:
            everybody.spend(_EVERYBODY)
            self._note(everybody, _EVERYBODY)
        self.take(token)
        return response


def _address_of(request: HeardRequest) -> str:
    return visitor(request.client.host if request.client else "")
