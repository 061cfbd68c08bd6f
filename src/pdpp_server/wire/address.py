"""The address of another server: what is accepted as one, and when two are the same."""

# `pdpp mcp` reads this before anything is served, so nothing dear may be imported here.
from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # who listens everywhere is reached here
USUAL_PORTS = {"http": 80, "https": 443}
RULE = "The address of a server begins with https:// and has no name, password, query or fragment in it"


def server_address(url: str, *, plain_http: bool = False) -> str:
    """The address in one spelling, its path kept as a prefix. Without TLS a token would be read on its way.

    Raises: ValueError, in a sentence that does not repeat the address: it may hold a password.
    """
    parts, host, port = _split(url)
    if "@" in parts.netloc or "?" in url or "#" in url or not url.isprintable() or " " in url or "\\" in url:
        raise ValueError(f"{RULE}.")
    if parts.scheme == "http" and not plain_http and not is_loopback(host):
        raise ValueError(
            f"{RULE}. Only a server on this machine may be asked without TLS; see PDPP_PROVIDER_PLAIN_HTTP."
        )
    named = f"[{host}]" if ":" in host else host
    at = "" if port in (None, USUAL_PORTS[parts.scheme]) else f":{port}"
    return f"{parts.scheme}://{named}{at}{parts.path.rstrip('/')}"


def local_address(host: str, port: int) -> str:
    """Where a program of this machine reaches who listens there."""
    reached = ANYWHERE.get(host, host)
    return f"http://{f'[{reached}]' if ':' in reached else reached}:{port}"


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_same(address: str, url: str) -> bool:
    """Whether what somebody wrote down names the server at that address."""
    try:
        return server_address(url, plain_http=True) == address
    except ValueError:
        return False


def _split(url: str) -> tuple[SplitResult, str, int | None]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError(f"{RULE}.") from None
    if parts.scheme not in USUAL_PORTS or not host:
        raise ValueError(f"{RULE}.")
    return parts, host, port
