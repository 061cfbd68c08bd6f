"""Who asks: the address of whoever sent a request, through the proxies that the owner named and no others."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

Network = IPv4Network | IPv6Network
NETWORK_BITS = 64


class Visitors:
    """Behind a proxy that is trusted, the client of a request is the one that the proxy saw.

    Each proxy writes at the end of `X-Forwarded-For` who asked it, so the list is read from there: the first that is no
    proxy of ours is the visitor, and whatever stands before it is only what the visitor said.
    """

    def __init__(self, app: ASGIApp, proxies: Sequence[Network]) -> None:
        self.app, self._proxies = app, proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope.get("client"):
            peer, port = scope["client"]
            asking = self._asking(peer, Headers(scope=scope))
            scope = {**scope, "client": (asking, port if asking == peer else 0)}
        await self.app(scope, receive, send)

    def _asking(self, peer: str, headers: Headers) -> str:
        told = [each.strip() for line in headers.getlist("x-forwarded-for") for each in line.split(",")]
        asking = peer
        while told and self._is_proxy(asking):
            named = _address(told.pop())
            if named is None:
                return asking  # a proxy that does not say who asked it
            asking = str(named)
        return asking

    def _is_proxy(self, address: str) -> bool:
        parsed = _address(address)
        return parsed is not None and any(parsed in network for network in self._proxies)


def visitor(address: str) -> str:
    """By whom tries are counted: whoever has one IPv6 address has a whole network of them, which counts as one."""
    parsed = _address(address)
    if not isinstance(parsed, IPv6Address):
        return address if parsed is None else str(parsed)
    return str(IPv6Network((int(parsed), NETWORK_BITS), strict=False))


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """Without brackets, port and zone, which some proxies write; None where it is none."""
    host = text.strip()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        parsed = ip_address(host.partition("%")[0])
    except ValueError:
        return None
    return parsed.ipv4_mapped or parsed if isinstance(parsed, IPv6Address) else parsed
