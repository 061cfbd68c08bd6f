"""What an authorization server elsewhere says of a token: asked once, briefly, and never guessed."""

import hashlib
import re
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple, cast

import httpx2
import orjson

from pdpp_server.errors import AuthorizationServerUnavailable, Unauthenticated
from pdpp_server.settings import Introspecting
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.introspection import Expected, Rights, decode_introspection, encode_introspection, is_active

SECONDS, BODY_BYTES = 5.0, 8 * 1024 * 1024
KEPT_MAX = 10_000  # answers, where any are kept at all
_TOKEN = re.compile(r"[\x21-\x7e]{1,4096}")


class _Kept(NamedTuple):
    until: float
    body: Json


class Introspection:
    """Asks with the name and secret of this server. No proxy, no redirect, and no answer means no."""

    def __init__(
        self,
        asked: Introspecting,
        *,
        now: Callable[[], datetime],
        monotonic: Callable[[], float] = time.monotonic,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self._asked, self._now, self._monotonic = asked, now, monotonic
        self._kept: dict[bytes, _Kept] = {}
        self._client = httpx2.Client(
            auth=(asked.client, asked.secret),
            headers={"Accept": "application/json", "Accept-Encoding": "identity"},
            timeout=SECONDS,
            trust_env=False,
            follow_redirects=False,
            transport=transport,
        )

    def rights(self, token: str, resource: str) -> Rights:
        """What the token may read at that address of ours.

        Raises:
            Unauthenticated, GrantRevoked, GrantExpired, GrantInvalid: nothing.
            AuthorizationServerUnavailable: nobody could say.
        """
        if not _TOKEN.fullmatch(token):
            raise Unauthenticated("The token is not one that can be sent.")
        expected = Expected(self._asked.issuer, resource, self._now().timestamp())
        return decode_introspection(self._told(token), expected)

    def close(self) -> None:
        self._client.close()

    def _told(self, token: str) -> Mapping[str, Any]:
        """An answer that says yes may be kept as long as the operator said; the checks are made anew each time."""
        if not self._asked.cache_seconds:
            return self._ask(token)
        digest, moment = hashlib.sha256(token.encode()).digest(), self._monotonic()
        kept = self._kept.get(digest)
        if kept is not None and moment < kept.until:
            return kept.body
        body = self._ask(token)
        self._kept.pop(digest, None)
        if is_active(body):
            if len(self._kept) >= KEPT_MAX:
                self._kept.clear()
            self._kept[digest] = _Kept(moment + self._asked.cache_seconds, body)
        return body

    def _ask(self, token: str) -> Json:
        try:
            return self._answer(token)
        except (httpx2.NetworkError, httpx2.RemoteProtocolError):
            pass  # a connection that was kept open may have ended meanwhile: one more try
        except (httpx2.HTTPError, httpx2.InvalidURL):
            raise _unavailable("did not answer") from None
        try:
            return self._answer(token)
        except (httpx2.HTTPError, httpx2.InvalidURL):
            raise _unavailable("cannot be reached") from None

    def _answer(self, token: str) -> Json:
        ends = self._monotonic() + SECONDS
        with self._client.stream("POST", self._asked.url, data=encode_introspection(token)) as response:
            if response.status_code != 200:
                raise _unavailable(f"answered {response.status_code}")
            raw = bytearray()
            for piece in response.iter_raw():
                raw += piece
                if len(raw) > BODY_BYTES or self._monotonic() >= ends:
                    raise _unavailable("did not come to an end")
        return _object(bytes(raw))


def _object(raw: bytes) -> Json:
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError:
        body = None
    if not isinstance(body, dict):
        raise _unavailable("answered something else than a JSON object")
    return cast("Json", body)


def _unavailable(why: str) -> AuthorizationServerUnavailable:
    return AuthorizationServerUnavailable(f"The authorization server {why}, so no token can be accepted.")
