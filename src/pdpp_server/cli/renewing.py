"""Credentials of this home, renewed by this home itself: no server has to run."""

from functools import partial

from pdpp_server.authorization_server.errors import OAuthError
from pdpp_server.authorization_server.tokens import give
from pdpp_server.cli.home import now
from pdpp_server.errors import Unauthenticated
from pdpp_server.port.credentials import Credential
from pdpp_server.port.local import LocalReader
from pdpp_server.port.renewal import Purse, RenewingReader
from pdpp_server.reads.services import Services
from pdpp_server.settings import Settings
from pdpp_server.wire.connect import Given, decode_given, encode_refresh
from pdpp_server.wire.credentials import Renewal
from pdpp_server.wire.oauth_requests import decode_token_request
from pdpp_server.wire.oauth_tokens import encode_issued


def renewed_here(settings: Settings, services: Services, credential: Credential, reader: LocalReader) -> RenewingReader:
    purse = Purse(str(settings.home), credential, partial(_given, services), now)
    return RenewingReader(reader, purse, use=reader.use)


def _given(services: Services, renewal: Renewal) -> Given:
    """As the token endpoint would. Raises Unauthenticated: there is nothing more to be had."""
    asked = encode_refresh(renewal.refresh_token, renewal.saved.client_id, None)
    try:
        issued = give(services, "", decode_token_request(asked))
    except OAuthError as refusal:
        raise Unauthenticated(refusal.says) from refusal
    return decode_given(encode_issued(issued))
