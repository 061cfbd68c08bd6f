"""Which owner a request belongs to: whose secret it shows, or who it says is coming. What it may do, others decide."""

from collections import OrderedDict
from collections.abc import Iterator
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import orjson
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope

from pdpp_server.model.owners import HOUSE, typed_name
from pdpp_server.store.owners import Owners
from pdpp_server.wire import discovery
from pdpp_server.wire.oauth_requests import Introduced, decode_introduced

BODY_BYTES = 64 * 1024  # of a form that can name an owner; what is longer names none
KNOWN_MAX = 10_000
DEVICE_PAGE, SIGN_IN_PAGE, INVITED_PAGE = "/device", "/sign-in", "/invited"
_WITH_FORM = frozenset(
    {discovery.TOKEN, discovery.REVOKE, discovery.INTROSPECT, DEVICE_PAGE, SIGN_IN_PAGE, INVITED_PAGE}
)
_COOKIES = ("__Host-pdpp", "pdpp")


class Arrival(NamedTuple):
    """A request that is nobody's yet: what it says of itself, and its body to be read again."""

    secrets: tuple[str, ...]
    said: Introduced
    receive: Receive


async def arrival(scope: Scope, receive: Receive) -> Arrival:
    headers, path = Headers(scope=scope), scope["path"]
    values = dict(parse_qsl(scope["query_string"].decode("latin-1")))
    if scope["method"] == "POST" and path in _WITH_FORM:
        body, receive = await _body(receive)
        values |= _form(body, headers.get("content-type", ""))
    said = decode_introduced(values)
    return Arrival((*_bearer(headers), *said.secrets, *_sessions(headers)), said, receive)


def _bearer(headers: Headers) -> Iterator[str]:
    kind, _, bearer = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and bearer.strip():
        yield bearer.strip()


def _sessions(headers: Headers) -> Iterator[str]:
    """Last of all: a browser in which somebody is signed in may still open a link that is meant for another."""
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return
    for name in _COOKIES:
        if name in cookies:
            yield cookies[name].value


async def _body(receive: Receive) -> tuple[bytes, Receive]:
    """As much of it as can be a form, and a way to read all of it again."""
    messages: list[Message] = []
    size = 0
    while size <= BODY_BYTES:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body"):
            break
    replayed = iter(list(messages))

    async def again() -> Message:
        return next(replayed, None) or await receive()

    whole = b"".join(message.get("body", b"") for message in messages)
    return (whole if size <= BODY_BYTES else b""), again


def _form(body: bytes, kind: str) -> dict[str, str]:
    """Nothing where it is none: whoever answers will say so."""
    try:
        if kind.partition(";")[0].strip().lower() == "application/json":
            found: Any = orjson.loads(body)
            pairs: list[tuple[Any, Any]] = [*found.items()] if isinstance(found, dict) else []
        else:
            pairs = [*parse_qsl(body.decode(), max_num_fields=100)]
    except ValueError:
        return {}
    return {name: value for name, value in pairs if isinstance(name, str) and isinstance(value, str)}


class ByOwner:
    """Finds the owner of a request. A secret that was found belongs to its owner for as long as it is one."""

    def __init__(self, owners: Owners) -> None:
        self._owners = owners
        self._known: OrderedDict[bytes, int] = OrderedDict()

    def number_of(self, path: str, arrived: Arrival) -> int:
        """The house, where there are several owners and the request is of none that we know."""
        said, number = arrived.said, self._by_secret(arrived.secrets)
        if number is None and path == SIGN_IN_PAGE and said.name:
            named = self._owners.named(typed_name(said.name))
            number = named.number if named else None
        if number is None:
            sole = self._owners.sole()
            number = sole.number if sole else HOUSE
        elif number != HOUSE and path in {discovery.AUTHORIZE, DEVICE_PAGE}:
            self._adopt(number, said)
        return number

    def forget(self, number: int) -> None:
        """There is no such owner any more."""
        for digest, known in list(self._known.items()):  # other threads find owners meanwhile
            if known == number:
                self._known.pop(digest, None)

    def _by_secret(self, secrets: tuple[str, ...]) -> int | None:
        for secret in secrets:
            digest = sha256(secret.encode("utf-8", "surrogatepass")).digest()
            found = self._known.get(digest)
            if found is None:
                found = self._owners.whose([secret])
                if found is not None and found != HOUSE:
                    self._remember(digest, found)
            if found is not None:
                return found
        return None

    def _remember(self, digest: bytes, number: int) -> None:
        self._known[digest] = number
        if len(self._known) > KNOWN_MAX:
            self._known.popitem(last=False)

    def _adopt(self, number: int, said: Introduced) -> None:
        if said.client_id or said.request_uri or said.user_code:
            self._owners.adopt(number, client_id=said.client_id, request_uri=said.request_uri, user_code=said.user_code)
