"""Where a browser may be sent: which addresses a client may register, and when one that it names is among them."""

import re
from urllib.parse import SplitResult, urlsplit

from pdpp_server.model.authorization import Client

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
# Schemes that a browser runs, shows or fetches by itself; any other belongs to an application of the owner's machine.
_REFUSED = frozenset(
    "http javascript vbscript data file filesystem blob about view-source chrome resource jar "
    "ftp ws wss mailto tel sms urn intent".split()
)
_IPV6 = re.compile(r"\[[0-9A-Fa-f:.]+\](?::[0-9]*)?")  # nothing stands before the brackets, and only a port behind them
_PLAIN = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:[\x21-\x7e]+")


def is_acceptable(address: str) -> bool:
    """https, loopback, or a scheme of an application's own; without user and fragment."""
    parts = _split(address)
    if parts is None or parts.fragment or "#" in address or "@" in parts.netloc or "\\" in address:
        return False
    if parts.scheme == "https":
        return bool(parts.hostname)
    return _is_loopback(parts) or parts.scheme not in _REFUSED


def is_registered(client: Client, address: str) -> bool:
    """The same text; on loopback the port may be another, since it is chosen when the client starts."""
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
