"""Revocation: of a token by whoever holds it (RFC 7009), and of a grant by the owner or its client."""

from pdpp_server.authorization_server.errors import InvalidGrant, InvalidOAuthRequest
from pdpp_server.errors import NotFound
from pdpp_server.grants.lifecycle import require_live_token
from pdpp_server.model.times import iso
from pdpp_server.reads.bearers import row_of
from pdpp_server.reads.services import Services
from pdpp_server.store.consent.families import end_family, family_of, find_family
from pdpp_server.store.consent.grants import revoke
from pdpp_server.store.consent.tokens import grant_states, revoke_token, states_of, token_row
from pdpp_server.store.digests import token_digest
from pdpp_server.wire.oauth_requests import AboutToken


def revoke_known(services: Services, asked: AboutToken) -> None:
    """With a refresh token ends its whole family. Whatever is not known here is revoked already."""
    if not asked.token:
        raise InvalidOAuthRequest("token is missing.")
    now, digest, number = iso(services.now()), token_digest(asked.token), family_of(asked.token)
    with services.database.writing() as writer:
        if family := find_family(writer, number):
            _require_own(asked, family.client_id)
            end_family(writer, number, now)
        elif row := token_row(writer, digest):
            _require_own(asked, states_of(writer, row)[0].client_id)
            revoke_token(writer, digest, now)


def revoke_grant(services: Services, bearer: str | None, grant_id: str) -> None:
    """Of a grant, or of every grant of a package; revoking again changes nothing.

    Raises:
        NotFound: there is none of that id, or none that this client may know of.
    """
    now = iso(services.now())
    with services.database.reading() as reading:
        _, row = row_of(reading, bearer)
        token, held = states_of(reading, row)
        require_live_token(token, now)
        named = grant_states(reading, grant_id, None) or grant_states(reading, None, grant_id)
    if not named or not (token.kind == "owner" or {*named} <= {*held}):
        raise NotFound("There is no such grant.")
    with services.database.writing() as writer:
        for grant in named:
            revoke(writer, grant.grant_id, now)


def _require_own(asked: AboutToken, client_id: str | None) -> None:
    if asked.client_id not in {None, client_id}:
        raise InvalidGrant("The token is another client's.")
