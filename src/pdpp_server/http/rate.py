"""How fast a token may ask: so many at once, and so many a second in the long run."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from starlette.requests import Request
from starlette.responses import Response

from pdpp_server.errors import PdppError
from pdpp_server.http.headers import token_of
from pdpp_server.http.limiter import Limiter, Steadily
from pdpp_server.http.visitors import visitor


class Rates:
    """Any number where no rate is set."""

    def __init__(self, per_second: int, burst: int, now: Callable[[], datetime]) -> None:
        self._limiter = Limiter(Steadily(per_second, burst), now) if per_second else None

    async def metered(self, run: Callable[[Request], Awaitable[Response]], request: Request) -> Response:
        """A token that was answered before pays in advance, and without one an address does. Any other token pays when
        it is refused, out of what its address has, so that nobody who guesses tokens slows one that is good.

        Raises:
            RateLimited: nothing is left.
        """
        if self._limiter is None:
            return await run(request)
        token = token_of(request)
        if token is None or token in self._limiter:
            self._limiter.take(_address_of(request) if token is None else token)
            return await run(request)
        try:
            response = await run(request)
        except PdppError:
            self._limiter.take(_address_of(request))
            raise
        self._limiter.take(token)
        return response


def _address_of(request: Request) -> str:
    return visitor(request.client.host if request.client else "")
