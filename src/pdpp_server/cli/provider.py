"""Another server, opened for one command or one agent."""

from functools import partial

from pdpp_server.cli.home import now
from pdpp_server.errors import NotFound, PdppError, PermissionDenied, Unauthenticated
from pdpp_server.port.bridge import Bridge
from pdpp_server.port.connect import renew
from pdpp_server.port.credentials import Credential, refuse_kind
from pdpp_server.port.exchange import Bounds, Exchange
from pdpp_server.port.network import NetworkReader
from pdpp_server.port.renewal import Purse, RenewingReader
from pdpp_server.settings import Settings
from pdpp_server.wire.discovery import MCP
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.far_tools import HEADERS

OpenedReader = NetworkReader | RenewingReader | Bridge


def open_provider(settings: Settings, address: str, credential: Credential) -> OpenedReader:
    """A reader of that server, which has said by now that the token is a client's. Raises: CredentialError.

    A token that is good for its tools alone, as that of a package is, reads through them.
    """
    bounds = Bounds(seconds=settings.provider_timeout_ms / 1000)
    exchange = Exchange(address, credential.token, bounds, plain_http=settings.provider_plain_http)
    try:
        return _met(settings, credential, exchange)
    except BaseException:
        exchange.close()
        raise


def _met(settings: Settings, credential: Credential, exchange: Exchange) -> OpenedReader:
    reader = NetworkReader(exchange)
    purse = Purse(str(settings.home), credential, renew, now) if credential.client is not None else None
    renewing = RenewingReader(reader, purse, use=reader.use, close=reader.close) if purse else None
    if purse:
        exchange.use(purse.token())
    try:
        kind = reader.token_kind()
    except (Unauthenticated, PermissionDenied, NotFound):
        if bridge := _bridge(exchange, renewing):
            return bridge
        if renewing is None:
            raise
        kind = renewing.asked(reader.token_kind)
    refuse_kind(kind)
    return renewing or reader


def _bridge(exchange: Exchange, renewing: RenewingReader | None) -> Bridge | None:
    """The tools at that server's own `/mcp`; None where the token is not heard there either."""

    def send(document: Json) -> Json:
        post = partial(exchange.post, MCP, document, HEADERS)
        return renewing.asked(post) if renewing else post()

    try:
        Bridge(partial(exchange.post, MCP, headers=HEADERS), exchange.close).meet()  # once, with the token as it is
    except PdppError:
        return None
    return Bridge(send, exchange.close)
