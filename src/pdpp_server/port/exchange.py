"""One question to another server, bounded in time and size; tried again where that is safe."""

import re
import secrets
import ssl
import time
from collections.abc import Callable, Mapping
from random import uniform
from typing import Any, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

import httpx2
import orjson

from pdpp_server.errors import PdppError, RateLimited, SourceUnavailable, Unauthenticated
from pdpp_server.wire import errors
from pdpp_server.wire.address import server_address
from pdpp_server.wire.envelope import VERSION, Json

V = TypeVar("V")

TRIES = 3
PAUSE_SECONDS = 0.2
BUSY, GATEWAYS = 429, frozenset({502, 503, 504})

_NO_PDPP = "Check the address: a PDPP server answers under its path /v1."
_TOKEN = re.compile(r"[\x21-\x7e]{1,4096}")
_REQUEST_ID = re.compile(r"[\x21-\x7e]{1,128}")
_SECONDS = re.compile(r"[0-9]{1,6}")


class Bounds(NamedTuple):
    """How long one question may take, further tries included, and how long its answer may be."""

    seconds: float = 30.0
    connect_seconds: float = 5.0
    body_bytes: int = 32 * 1024 * 1024
    wait_seconds: float = 2  # how long a busy server may ask to be waited for


class Told(NamedTuple):
    body: Json
    request_id: str


class AnyAnswer(NamedTuple):
    """What was answered where a refusal is an answer too."""

    status: int
    body: Json


class _Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class _Failure(NamedTuple):
    """No reply that could be read; `again` where the same question may have a better one."""

    why: str
    again: bool = False


class Exchange:
    """Asks one server with one token. No proxy, no redirect: the token goes to that server and nowhere else."""

    def __init__(
        self,
        url: str,
        bearer: str,
        bounds: Bounds = Bounds(),  # noqa: B008 - a tuple of numbers
        *,
        plain_http: bool = False,
        transport: httpx2.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Raises: ValueError, where the address is none that a token may be sent to."""
        self._address, self._bearer, self._bounds = server_address(url, plain_http=plain_http), bearer, bounds
        self._server = urlsplit(self._address).netloc
        self._sleep, self._monotonic = sleep, monotonic
        self._client = httpx2.Client(
            headers={
                "PDPP-Version": VERSION,
                "Accept": "application/json",
                "Accept-Encoding": "identity",  # what is never unpacked cannot burst
            },
            verify=self._address.startswith("https:") or _trusts_nobody(),
            trust_env=False,
            follow_redirects=False,
            limits=httpx2.Limits(max_connections=10, max_keepalive_connections=10, keepalive_expiry=30),
            transport=transport,
        )

    def close(self) -> None:
        self._client.close()

    def get(self, path: str, prefer: str | None = None) -> Told:
        """The server's answer to `path`, in the form that is preferred where it knows that one.

        Raises: the refusal that it meant, or SourceUnavailable.
        """
        request_id = new_request_id()
        headers = {"Prefer": prefer} if prefer else {}
        return self._told(self._tried("GET", path, headers, request_id), request_id)

    def send(self, method: str, path: str, body: bytes, media_type: str) -> Told:
        """The answer to something that may be sent twice: tried again like a question."""
        request_id = new_request_id()
        headers = {"Content-Type": media_type}
        return self._told(self._tried(method, path, headers, request_id, content=body), request_id)

    def decoded(self, told: Told, decode: Callable[[Json], V]) -> V:
        """What was answered, as a value. Raises: SourceUnavailable that says what is wrong with it."""
        try:
            return decode(told.body)
        except SourceUnavailable as fault:
            why = f"gave an answer that cannot be used: {fault.message.rstrip('.')}"
            raise self.unavailable(why, told.request_id) from None

    def _tried(
        self, method: str, path: str, headers: Mapping[str, str], request_id: str, **sent: Any
    ) -> _Reply | _Failure:
        if not _TOKEN.fullmatch(self._bearer):
            refusal = Unauthenticated("The token is not one that can be sent.")
            refusal.request_id = request_id
            raise refusal
        ends = self._monotonic() + self._bounds.seconds
        headers = {**headers, "Authorization": f"Bearer {self._bearer}", "Request-Id": request_id}
        outcome = self._attempt(path, headers, ends, method, **sent)
        for _ in range(1, TRIES):
            pause = _pause(outcome, self._bounds.wait_seconds)
            if pause is None or self._monotonic() + pause >= ends:
                break
            self._sleep(pause)
            outcome = self._attempt(path, headers, ends, method, **sent)
        return outcome

    def post(self, path: str, document: Json, headers: Mapping[str, str]) -> Json:
        """The same for a document that is sent, once; the answer may be a stream with one event."""
        ends, request_id = self._monotonic() + self._bounds.seconds, new_request_id()
        sent = {**headers, "Authorization": f"Bearer {self._bearer}", "Request-Id": request_id}
        outcome = self._attempt(path, sent, ends, "POST", json=document)
        if isinstance(outcome, _Reply) and outcome.headers.get("content-type", "").startswith("text/event-stream"):
            outcome = outcome._replace(body=_last_event(outcome.body))
        return self._told(outcome, request_id).body

    def use(self, bearer: str) -> None:
        """Asks with that token from now on."""
        self._bearer = bearer

    def answer(self, form: Mapping[str, str] | None = None, document: Json | None = None) -> AnyAnswer:
        """Asks at the address itself, without the token and only once; with a form or a document it is a POST."""
        ends, request_id = self._monotonic() + self._bounds.seconds, new_request_id()
        if form is None and document is None:
            outcome = self._attempt("", {"Request-Id": request_id}, ends)
        else:
            outcome = self._attempt("", {"Request-Id": request_id}, ends, "POST", data=form, json=document)
        status, _, body = self._replied(outcome, request_id)
        if not isinstance(body, dict):
            raise self.unavailable(f"answered {status} with something else than a JSON object", request_id)
        return AnyAnswer(status, cast("Json", body))

    def unavailable(self, why: str, request_id: str, remedy: str | None = None) -> SourceUnavailable:
        """Trouble that is the server's, in a sentence that names it; never the token, never what was asked."""
        refusal = SourceUnavailable(f"The server {self._server} {why}.", remedy=remedy)
        refusal.request_id = request_id
        return refusal

    def _attempt(
        self, path: str, headers: Mapping[str, str], ends: float, method: str = "GET", **sent: Any
    ) -> _Reply | _Failure:
        left = max(0.001, ends - self._monotonic())
        timeout = httpx2.Timeout(left, connect=min(left, self._bounds.connect_seconds))
        url = self._address + path
        try:
            with self._client.stream(method, url, headers=headers, timeout=timeout, **sent) as response:
                body = self._body(response, ends)
                return body if isinstance(body, _Failure) else _Reply(response.status_code, response.headers, body)
        except httpx2.ConnectTimeout:
            return _Failure("cannot be reached", again=True)
        except httpx2.TimeoutException:
            return _Failure("did not answer in time")
        except httpx2.NetworkError as trouble:
            if _is_tls(trouble):
                return _Failure("cannot prove who it is: its TLS certificate or protocol is not accepted")
            return _Failure("cannot be reached, or broke off", again=True)
        except httpx2.RemoteProtocolError:
            return _Failure("broke off, or does not speak HTTP", again=True)
        except (httpx2.HTTPError, httpx2.InvalidURL):
            return _Failure("cannot be asked")

    def _body(self, response: httpx2.Response, ends: float) -> bytes | _Failure:
        most = self._bounds.body_bytes
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            return _Failure("sent a packed answer, which was not asked for")
        body = bytearray()
        for piece in response.iter_raw():
            body += piece
            if len(body) > most:
                return _Failure(f"sent an answer of more than {most:,} bytes")
            if self._monotonic() >= ends:
                return _Failure("did not answer in time")
        return bytes(body)

    def _replied(self, outcome: _Reply | _Failure, request_id: str) -> tuple[int, Mapping[str, str], Any]:
        if isinstance(outcome, _Failure):
            raise self.unavailable(outcome.why, request_id)
        status, headers, raw = outcome
        if 300 <= status < 400:
            why = "points to another address, and a token is not carried there"
            theirs = _request_id_of(headers) or request_id
            raise self.unavailable(why, theirs, "Give the address where the server itself answers.")
        return status, headers, _json(raw)

    def _told(self, outcome: _Reply | _Failure, request_id: str) -> Told:
        status, headers, body = self._replied(outcome, request_id)
        theirs = _request_id_of(headers) or request_id
        if status >= 400:
            raise self._refusal(status, body, headers, theirs)
        if status != 200 or not isinstance(body, dict):
            raise self.unavailable(f"answered {status} with something else than a JSON object", theirs, _NO_PDPP)
        return Told(cast("Json", body), theirs)

    def _refusal(self, status: int, body: object, headers: Mapping[str, str], request_id: str) -> PdppError:
        refusal = errors.decode(status, body, server=f"The server {self._server}")
        refusal.request_id = _request_id(refusal.request_id) or request_id
        refusal.answered = status
        if isinstance(refusal, RateLimited) and (wait := _retry_after(headers)) is not None:
            refusal.remedy = f"Try again after {wait} seconds."  # who asked through us sees no header
        return refusal


def new_request_id() -> str:
    return f"req_{secrets.token_hex(8)}"


def _trusts_nobody() -> ssl.SSLContext:
    """For an address without TLS: the system's trust is dear to load, and would be of no use."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _pause(outcome: _Reply | _Failure, wait_seconds: float) -> float | None:
    """How long to wait before the same question; None where asking again is of no use or no kindness."""
    some = uniform(0.5, 1.5) * PAUSE_SECONDS
    if isinstance(outcome, _Failure):
        return some if outcome.again else None
    if outcome.status != BUSY and outcome.status not in GATEWAYS:
        return None
    asked = _retry_after(outcome.headers)
    if asked is not None:
        return asked + some if asked <= wait_seconds else None
    # A gateway's own page is nobody's decision; a server that said why has decided.
    return some if outcome.status in GATEWAYS and _json(outcome.body) is None else None


def _retry_after(headers: Mapping[str, str]) -> int | None:
    value = headers.get("retry-after", "")
    return int(value) if _SECONDS.fullmatch(value) else None


def _request_id_of(headers: Mapping[str, str]) -> str | None:
    return _request_id(headers.get("request-id") or headers.get("x-request-id"))


def _request_id(text: str | None) -> str | None:
    """A stranger's id is repeated only if it looks like one."""
    return text if text and _REQUEST_ID.fullmatch(text) else None


def _json(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None


def _last_event(raw: bytes) -> bytes:
    """The data of the last event of a stream."""
    lines = [line.removeprefix(b"data:").strip() for line in raw.splitlines() if line.startswith(b"data:")]
    return lines[-1] if lines else b""


def _is_tls(trouble: BaseException) -> bool:
    cause: BaseException | None = trouble
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False
