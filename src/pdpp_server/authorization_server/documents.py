"""A document that a stranger named: fetched without being led anywhere that strangers have no business."""

import re
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from ipaddress import IPv6Address, ip_address, ip_network
from threading import BoundedSemaphore, Timer
from typing import Any
from urllib.parse import urlsplit

import httpx2

from pdpp_server.errors import SourceUnavailable
from pdpp_server.model.authorization import ClientDocument

SECONDS, BODY_BYTES = 5.0, 5 * 1024
AT_ONCE = 2  # fewer than there are threads for flows: hosts that take their time do not keep the owner waiting

_MAX_AGE = re.compile(r"(?:^|,)\s*max-age\s*=\s*\"?([0-9]{1,9})", re.IGNORECASE)
_NO_STORE = re.compile(r"(?:^|,)\s*no-(?:store|cache)\b", re.IGNORECASE)
# The whole of IPv6 that anybody routes; what lies outside is local, translated, or of no use yet.
_ROUTED = ip_network("2000::/3")
# Of special use, and yet global by the word of the standard library of one Python or another.
_SPECIAL = (
    ip_network("192.0.0.0/24"),  # protocol assignments
    ip_network("192.88.99.0/24"),  # relays of 6to4
    ip_network("2001::/23"),  # protocol assignments, Teredo among them
    ip_network("2002::/16"),  # 6to4: an IPv4 address that a relay would be asked for
    ip_network("3fff::/20"),  # documentation
)

# Names that only a network of somebody's own knows. Where a proxy resolves, they are all that can be told from outside.
_PRIVATE = (".local", ".localhost", ".internal", ".intranet", ".lan", ".home.arpa", ".corp", ".private")

Resolve = Callable[[str, int], list[str]]
Allows = Callable[[str], bool]


def resolve(host: str, port: int) -> list[str]:
    """Every address of the host."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [str(address[0]) for *_, address in found]


def is_public(address: str) -> bool:
    """An address that anybody in the world may ask: not of this machine, of its network, or of a special use."""
    parsed = ip_address(address)
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return is_public(str(parsed.ipv4_mapped))
        if parsed not in _ROUTED or parsed.scope_id:
            return False
    if parsed.is_multicast or parsed.is_reserved or any(parsed in network for network in _SPECIAL):
        return False
    return parsed.is_global


class Away(SourceUnavailable):
    """It cannot be had now, which says nothing of what it says."""


class NoWayOut(Away):
    """Nobody was reached at all: the host is not there, or there is no way to it from here."""


class _Limit:
    """Cuts a connection off when its time is over: a host that sends a byte now and then outlasts every other limit."""

    def __init__(self, left: Callable[[], float]) -> None:
        self.left = left
        self._timer: Timer | None = None

    def note(self, event: str, told: Mapping[str, Any]) -> None:
        if event.endswith(".start_tls.complete"):  # through a proxy it is another part that says so
            self.lift()
            self._timer = Timer(self.left(), _cut, (told["return_value"].get_extra_info("socket"),))
            self._timer.daemon = True
            self._timer.start()

    def lift(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def _cut(connection: socket.socket) -> None:
    with suppress(OSError):  # it is over already
        socket.socket.shutdown(connection, socket.SHUT_RDWR)  # below TLS, which another thread is using


class Documents:
    """https only, no redirect, no compression; asked at the very address that was checked.

    Through a proxy, the proxy resolves names: then an address must be public, and a name one of the public kind.
    """

    def __init__(
        self,
        *,
        resolve: Resolve = resolve,
        allows: Allows = is_public,
        proxy: str | None = None,
        transport: httpx2.BaseTransport | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._resolve, self._allows, self._monotonic = resolve, allows, monotonic
        self._client: httpx2.Client | None = None
        self._proxy, self._transport = proxy, transport
        self._places = BoundedSemaphore(AT_ONCE)

    def fetch(self, url: str) -> ClientDocument:
        """Raises SourceUnavailable: it cannot be had, or must not be."""
        ends = self._monotonic() + SECONDS
        parts = urlsplit(url)
        if parts.scheme != "https" or not parts.hostname:
            raise SourceUnavailable("A document is read over https only.")
        if not self._places.acquire(blocking=False):
            raise Away("Others are being read; try again in a while.")
        try:
            look = self._checked if self._proxy is None else self._plausible
            address = look(parts.hostname, parts.port or 443)
            return self._read(httpx2.URL(url), address, ends)
        finally:
            self._places.release()

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    def _checked(self, host: str, port: int) -> str:
        """One bad address spoils them all: whoever mixes them wants us to pick the wrong one."""
        try:
            addresses = self._resolve(host, port)
        except OSError:
            raise NoWayOut("Its host is not known.") from None
        if not addresses or not all(self._allows(address) for address in addresses):
            raise SourceUnavailable("Its host is not a public one.")
        return addresses[0]

    def _plausible(self, host: str, _port: int) -> str:
        """The host itself, which the proxy will resolve: what its name alone can tell is checked."""
        try:
            allowed = self._allows(host)
        except ValueError:  # it is a name
            allowed = "." in host.strip(".") and not host.rstrip(".").lower().endswith(_PRIVATE)
        if not allowed:
            raise SourceUnavailable("Its host is not a public one.")
        return host

    def _read(self, url: httpx2.URL, address: str, ends: float) -> ClientDocument:
        limit = _Limit(lambda: max(0.001, ends - self._monotonic()))
        request = self._opened().build_request(
            "GET",
            url.copy_with(host=address),
            headers={"Host": url.netloc.decode("ascii")},
            extensions={
                "sni_hostname": url.host,
                "timeout": httpx2.Timeout(limit.left()).as_dict(),
                "trace": limit.note,
            },
        )
        try:
            response = self._opened().send(request, stream=True)
            try:
                return self._document(response, ends)
            finally:
                response.close()
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError):
            raise NoWayOut("Its host cannot be reached.") from None
        except (httpx2.HTTPError, httpx2.InvalidURL):
            raise Away("Its host broke off.") from None
        finally:
            limit.lift()

    def _document(self, response: httpx2.Response, ends: float) -> ClientDocument:
        if response.status_code >= 500:
            raise Away(f"Its host answered {response.status_code}.")
        if response.status_code != 200:
            raise SourceUnavailable(f"Its host answered {response.status_code}.")
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise SourceUnavailable("It is packed, which was not asked for.")
        body = bytearray()
        for piece in response.iter_raw():
            body += piece
            if len(body) > BODY_BYTES:
                raise SourceUnavailable(f"It has more than {BODY_BYTES:,} bytes.")
            if self._monotonic() >= ends:
                raise Away("Its host did not answer in time.")
        return ClientDocument(bytes(body), fresh_seconds(response.headers))

    def _opened(self) -> httpx2.Client:
        """Made when the first document is asked for: the system's trust is dear to load."""
        if self._client is None:
            self._client = httpx2.Client(
                headers={"Accept": "application/json", "Accept-Encoding": "identity"},
                trust_env=False,
                follow_redirects=False,
                limits=httpx2.Limits(max_keepalive_connections=0),  # a kept one would be to an address checked before
                proxy=None if self._transport else self._proxy,
                transport=self._transport,
            )
        return self._client


def fresh_seconds(headers: Mapping[str, str]) -> int | None:
    """For how long the document may be kept, by its own word; None where it says nothing."""
    said = headers.get("cache-control", "")
    if _NO_STORE.search(said):
        return 0
    found = _MAX_AGE.search(said)
    return int(found[1]) if found else None
