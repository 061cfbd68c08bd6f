"""Which door a token is for: the address that a client names, as one of ours or of a server we know (RFC 8707)."""

from collections.abc import Mapping

from pdpp_server.reads.bearers import MCP_AUDIENCE, REST_AUDIENCE, resource_of
from pdpp_server.store.consent.resource_servers import KnownResourceServer
from pdpp_server.wire.discovery import MCP, QUERY_BASE


def audience_of(origin: str, elsewhere: Mapping[str, str], resource: str | None) -> str | None:
    """None where no address was named: then any door of ours will do. `elsewhere` is what `addresses_elsewhere` gives.

    Raises KeyError: it is nobody's that we know.
    """
    if resource is None:
        return None
    doors: dict[str, str] = {}
    for name, address in elsewhere.items():
        doors |= {named: _at(name, door) for named, door in _doors(address).items()}
    doors |= _doors(origin)
    return doors[resource.rstrip("/")]


def reads_one_source(audience: str | None) -> bool:
    """Packages are heard at our own MCP endpoint only."""
    return audience not in {None, MCP_AUDIENCE}


def addresses_of(audience: str | None, origin: str, server: KnownResourceServer) -> tuple[str, ...]:
    """Where that server may hear the token: nowhere, if it is for somebody else. A server without an address of its
    own stands at ours; and a token that nobody named an address for is for ours."""
    is_here = server.address in {None, origin}
    heard: list[str] = []
    for door in (REST_AUDIENCE, MCP_AUDIENCE):
        named = door if is_here else _at(server.name, door)
        if named == audience or (is_here and not audience):
            heard.append(resource_of(server.address or origin, door))
    return tuple(heard)


def _doors(origin: str) -> dict[str, str]:
    return {origin: REST_AUDIENCE, f"{origin}{QUERY_BASE}": REST_AUDIENCE, f"{origin}{MCP}": MCP_AUDIENCE}


def _at(name: str, door: str) -> str:
    """By its name, so that a server that moves keeps its clients. No name has a slash in it, and no door of ours."""
    return f"{name}/{door}"
