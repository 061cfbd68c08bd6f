"""A resource server of its own: whoever reads here holds a token of an authorization server elsewhere."""

from collections.abc import Callable
from datetime import datetime

from pdpp_server.reads.bearers import resource_of
from pdpp_server.resource_server.introspection import Introspection
from pdpp_server.settings import Introspecting, InvalidSetting
from pdpp_server.wire.address import server_address
from pdpp_server.wire.introspection import Rights


class Separate:
    """Its tokens are good for the address of this server, door by door."""

    def __init__(self, asked: Introspecting, now: Callable[[], datetime]) -> None:
        """Raises InvalidSetting: the address is none that a secret may be sent to."""
        try:
            address = server_address(asked.url)
        except ValueError:
            raise InvalidSetting(
                "PDPP_INTROSPECTION_URL must begin with https://, unless that server is on this machine."
            ) from None
        self._resource, self._introspection = asked.resource, Introspection(asked._replace(url=address), now=now)

    def rights(self, token: str, door: str) -> Rights:
        return self._introspection.rights(token, resource_of(self._resource, door))

    def close(self) -> None:
        self._introspection.close()
