"""Where a browser may be sent: which addresses a client may register, and when one that it names is among them."""

import re
from urllib.parse import SplitResult, urlsplit

from pdpp_server.model.authorization import Client

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
# An application's own scheme has its maker's domain in it (RFC 8252 section 7.1), as no scheme of an operating system
# has: those open help pages, shells and searches with whatever stands behind the colon.
_OWN_SCHEME = re.compile(r"[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+")
APPS = frozenset({"cursor", "vscode", "vscode-insiders", "windsurf"})  # widely used, and without a domain
_IPV6 = re.compile(r"\[[0-9A-Fa-f:.]+\](?::[0-9]*)?")  # nothing stands before the brackets, and only a port behind them
_PLAIN = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:[\x21-\x7e]+")


def is_acceptable(address: str) -> bool:
    """https, http on loopback, or a scheme of an application's own; without user and fragment."""
    parts = _split(address)
    if parts is None or parts.fragment or "#" in address or "@" in parts.netloc or "\\" in address:
        return False
    if parts.scheme == "https":
        return bool(parts.hostname)
    return _is_loopback(parts) or parts.scheme in APPS or _OWN_SCHEME.fullmatch(parts.scheme) is not None


def is_registered(client: Client, address: str) -> bool:
    """The same text; on loopback the port may be another, since it is chosen when the client starts. What could not be
    registered today is not good either because it once was."""
    if not is_acceptable(address):
        return False
    return address in client.redirect_uris or any(_differ_in_port(known, address) for known in client.redirect_uris)


def _differ_in_port(known: str, asked: str) -> bool:
    first, second = _split(known), _split(asked)
    if first is None or second is None or not (_is_loopback(first) and _is_loopback(second)):
        return False
    if "@" in second.netloc or "#" in asked:
        return False
    return first._replace(netloc=first.hostname or "") == second._replace(netloc=second.hostname or "")


def _is_loopback(parts: SplitResult) -> bool:
    return parts.scheme == "http" and parts.hostname in LOOPBACK


def _split(address: str) -> SplitResult | None:
    """None where it is no address at all."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # refuses one that is no number
    except ValueError:
        return None
    is_host = "[" not in parts.netloc or _IPV6.fullmatch(parts.netloc)
    return parts if is_host and _PLAIN.fullmatch(address) else None
