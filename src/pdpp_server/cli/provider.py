"""Another server, opened for one command or one agent."""

from pdpp_server.port.credentials import refuse_kind
from pdpp_server.port.exchange import Bounds, Exchange
from pdpp_server.port.network import NetworkReader
from pdpp_server.settings import Settings


def open_provider(settings: Settings, address: str, token: str) -> NetworkReader:
    """A reader of that server, which has said by now that the token is a client's. Raises: CredentialError."""
    bounds = Bounds(seconds=settings.provider_timeout_ms / 1000)
    reader = NetworkReader(Exchange(address, token, bounds, plain_http=settings.provider_plain_http))
    refuse_kind(reader.token_kind())
    return reader
