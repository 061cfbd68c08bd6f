"""Another server, opened for one command or one agent."""

from pdpp_server.cli.home import now
from pdpp_server.port.connect import renew
from pdpp_server.port.credentials import Credential, refuse_kind
from pdpp_server.port.exchange import Bounds, Exchange
from pdpp_server.port.network import NetworkReader
from pdpp_server.port.renewal import Purse, RenewingReader
from pdpp_server.settings import Settings


def open_provider(settings: Settings, address: str, credential: Credential) -> NetworkReader | RenewingReader:
    """A reader of that server, which has said by now that the token is a client's. Raises: CredentialError."""
    bounds = Bounds(seconds=settings.provider_timeout_ms / 1000)
    reader = NetworkReader(Exchange(address, credential.token, bounds, plain_http=settings.provider_plain_http))
    try:
        return _met(settings, credential, reader)
    except BaseException:
        reader.close()
        raise


def _met(settings: Settings, credential: Credential, reader: NetworkReader) -> NetworkReader | RenewingReader:
    if credential.client is None:
        refuse_kind(reader.token_kind())
        return reader
    purse = Purse(str(settings.home), credential, renew, now)
    renewing = RenewingReader(reader, purse, use=reader.use, close=reader.close)
    refuse_kind(renewing.asked(reader.token_kind))
    return renewing
