"""The credential that is saved for a client of this home: kept, and what it reads by."""

from pdpp_server.cli.home import Home, now, own_address
from pdpp_server.errors import NotFound
from pdpp_server.model.times import iso
from pdpp_server.owner.desk import IssuedGrant
from pdpp_server.port.credentials import CredentialError, find_credential, read_document, save
from pdpp_server.wire.connect import Given
from pdpp_server.wire.credentials import Saved, encode_credential, granted_id


def save_credential(home: Home, client: str, issued: IssuedGrant) -> str:
    """Keep the token where `pdpp mcp --client` looks for it; the path it lies at."""
    settings = home.settings
    address = own_address(settings)
    saved = Saved(address, address, issued.grants[0].client_id, client)
    given = Given(issued.token, None, None, issued.grant_id)
    document = encode_credential(saved, given, expires_at=issued.expires_at, now=iso(now()))
    return save(str(settings.home), client, document)


def live_grant(home: Home, saved_as: str) -> str | None:
    """The grant by which that client can read already."""
    folder = str(home.settings.home)
    try:
        find_credential(folder, {}, saved_as, now=iso(now()))
        grant_id = granted_id(read_document(folder, saved_as))
        rows = home.owner.grant(grant_id) if grant_id else []
    except (CredentialError, NotFound):
        return None
    return grant_id if any(row.state.word(iso(now())) == "active" for row in rows) else None
