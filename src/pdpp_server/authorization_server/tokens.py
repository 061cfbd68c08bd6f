"""The token endpoint: codes, refresh families, single use."""

import hashlib
import secrets
from base64 import urlsafe_b64encode
from datetime import timedelta
from hmac import compare_digest

from pdpp_server.authorization_server.clients import known_client
from pdpp_server.authorization_server.errors import (
    InvalidDetails,
    InvalidGrant,
    InvalidOAuthRequest,
    InvalidScope,
    InvalidTarget,
    OAuthError,
    UnsupportedGrantType,
)
from pdpp_server.authorization_server.polling import poll
from pdpp_server.authorization_server.resources import audience_of
from pdpp_server.errors import InvalidAuthorizationDetails
from pdpp_server.grants.lifecycle import NEVER
from pdpp_server.model.authorization import IssuedTokens
from pdpp_server.model.grants import Grant
from pdpp_server.model.times import instant, iso
from pdpp_server.reads.services import Services
from pdpp_server.store.consent.codes import Code, find_code, note_redeemed
from pdpp_server.store.consent.families import (
    FAMILY_CHARS,
    Family,
    end_family,
    family_of,
    find_family,
    keep_family,
    rotate,
)
from pdpp_server.store.consent.forget import forget
from pdpp_server.store.consent.grants import consume, is_continuous
from pdpp_server.store.consent.resource_servers import addresses_elsewhere
from pdpp_server.store.consent.tokens import grant_states, keep_token
from pdpp_server.store.digests import token_digest
from pdpp_server.store.engine import Write
from pdpp_server.wire.oauth import OFFLINE_SCOPE, READ_SCOPE
from pdpp_server.wire.oauth_clients import CODE, DEVICE, REFRESH
from pdpp_server.wire.oauth_requests import TokenRequest, are_granted

ACCESS_SECONDS = 3600
REFRESH_DAYS = 180  # of rest: every use begins them anew


def give(services: Services, origin: str, asked: TokenRequest) -> IssuedTokens:
    """Tokens for a code, for a refresh token, or for a device that the owner let in.

    Raises:
        OAuthError: none are given. What a replay ends is ended all the same.
    """
    client_id = known_client(services, asked.client_id).client_id
    with services.database.write(iso(services.now())) as write:
        forget(write, services.now())
        outcome = _Giving(services, origin, write, client_id, asked).outcome()
    if isinstance(outcome, OAuthError):  # only now, so that the transaction is kept
        raise outcome
    return outcome


class _Giving:
    """One request, in one transaction. A refusal that leaves something behind is returned; others are raised."""

    def __init__(self, services: Services, origin: str, write: Write, client_id: str, asked: TokenRequest) -> None:
        self._services, self._origin, self._write = services, origin, write
        self._client_id, self._asked = client_id, asked

    def outcome(self) -> IssuedTokens | OAuthError:
        match self._asked.grant_type:
            case str(kind) if kind == CODE:
                return self._for_code(_needed(self._asked.code, "code"))
            case str(kind) if kind == REFRESH:
                return self._for_refresh(_needed(self._asked.refresh_token, "refresh_token"))
            case str(kind) if kind == DEVICE:
                return self._for_device(_needed(self._asked.device_code, "device_code"))
            case None:
                raise InvalidOAuthRequest("grant_type is missing.")
            case _:
                raise UnsupportedGrantType("Tokens are given for codes, refresh tokens and device codes.")

    def _for_code(self, code: str) -> IssuedTokens | OAuthError:
        digest = token_digest(code)
        found = self._of_client(find_code(self._write, digest))
        if found.code_challenge is None:
            raise InvalidGrant("The code is not known here.")
        if self._asked.redirect_uri not in {None, found.redirect_uri}:
            raise InvalidGrant("The code was given for another redirect_uri.")
        verifier = _needed(self._asked.code_verifier, "code_verifier")
        if not compare_digest(_challenge(verifier), found.code_challenge.encode()):
            raise InvalidGrant("The code_verifier does not fit.")
        return self._redeemed(digest, found)

    def _for_device(self, device_code: str) -> IssuedTokens | OAuthError:
        refusal = poll(self._write, device_code, self._client_id, self._services.now())
        if refusal is not None:
            return refusal
        digest = token_digest(device_code)
        return self._redeemed(digest, self._of_client(find_code(self._write, digest)))

    def _of_client(self, code: Code | None) -> Code:
        if code is None or code.client_id != self._client_id:
            raise InvalidGrant("The code is not known here.")
        return code

    def _redeemed(self, digest: bytes, code: Code) -> IssuedTokens | OAuthError:
        """Once. Whoever comes a second time may have stolen it, or was stolen from: what it gave ends."""
        writer, now = self._write, self._write.now
        if code.family is not None:
            end_family(writer, code.family, now)
            return InvalidGrant("The code was used before; what it gave is revoked.")
        if code.expires_at <= now:
            raise InvalidGrant("The code has expired.")
        refresh_token = f"rt_{secrets.token_urlsafe(32)}"
        lasts = is_continuous(writer, code.grant_id, code.package_id)
        family = Family(
            code.client_id,
            code.audience,
            code.grant_id,
            code.package_id,
            token_digest(refresh_token) if lasts else None,
            self._in(timedelta(days=REFRESH_DAYS)),
        )
        number = family_of(refresh_token)
        keep_family(writer, number, family)
        note_redeemed(writer, digest, number)
        consume(writer, code.grant_id, code.package_id, now)
        return self._issued(number, family, refresh_token if lasts else None)

    def _for_refresh(self, refresh_token: str) -> IssuedTokens | OAuthError:
        """The newest token of its family, once. An older one means that two hold it: then nobody does."""
        writer, number = self._write, family_of(refresh_token)
        family = find_family(writer, number)
        if family is None or family.client_id != self._client_id:
            raise InvalidGrant("The refresh token is not known here.", fresh_authorization_required=True)
        if family.ended_at is not None or family.expires_at <= self._write.now:
            raise InvalidGrant("The refresh token has ended.", fresh_authorization_required=True)
        if not compare_digest(family.refresh or b"", token_digest(refresh_token)):
            end_family(writer, number, self._write.now)
            return InvalidGrant(
                "The refresh token was used before; all tokens of its family are revoked.",
                fresh_authorization_required=True,
            )
        scope = self._narrowed_scope()
        fresh = secrets.token_urlsafe(32)
        renewed = refresh_token[:FAMILY_CHARS] + fresh[FAMILY_CHARS - len("rt_") :]
        rotate(writer, number, renewed, self._in(timedelta(days=REFRESH_DAYS)))
        return self._issued(number, family, renewed)._replace(scope=scope)

    def _narrowed_scope(self) -> str | None:
        """What was asked for, where it is no more than was given (RFC 6749 section 6); None where nothing was said."""
        asked = (self._asked.scope or "").split()
        if not asked:
            return None
        if READ_SCOPE not in asked or not {*asked} <= {READ_SCOPE, OFFLINE_SCOPE}:
            raise InvalidScope(
                f"A token is renewed for {READ_SCOPE}, with or without {OFFLINE_SCOPE}; or leave scope out."
            )
        return " ".join(dict.fromkeys(asked))

    def _issued(self, number: bytes, family: Family, refresh_token: str | None) -> IssuedTokens:
        self._require_target(family.audience)
        write, token = self._write, secrets.token_hex(32)
        states = grant_states(write, family.grant_id, family.package_id)
        alive = [state for state in states if state.word(write.now) == "active"]
        if not alive:
            raise InvalidGrant("The owner's grant has ended.", fresh_authorization_required=True)
        granted = tuple(self._services.shelf.get(write, state.grant_id) for state in alive)
        self._require_details(granted)
        ends = max(state.expires_at or NEVER for state in alive)
        expires_at = min(ends, self._in(timedelta(seconds=ACCESS_SECONDS)))
        keep_token(
            write,
            token,
            kind="mcp_package" if family.package_id else "client",
            now=write.now,
            expires_at=expires_at,
            client_id=family.client_id,
            grant_id=family.grant_id,
            package_id=family.package_id,
            audience=family.audience,
            family=number,
        )
        return IssuedTokens(token, _seconds_between(write.now, expires_at), refresh_token, granted, family.package_id)

    def _require_target(self, audience: str | None) -> None:
        """RFC 8707: a token can be had for what was asked before, and for nothing else."""
        resource = self._asked.resource
        try:
            elsewhere = addresses_elsewhere(self._write)
            if resource is None or audience_of(self._origin, elsewhere, resource) == audience:
                return
        except KeyError:
            pass
        raise InvalidTarget("The owner was asked for another resource.")

    def _require_details(self, granted: tuple[Grant, ...]) -> None:
        """RFC 9396 section 6: a token has the rights of its grant, no more and no fewer."""
        details = self._asked.details
        try:
            if details is None or are_granted(details, granted):
                return
        except InvalidAuthorizationDetails as refusal:
            raise InvalidDetails(refusal.message) from refusal
        raise InvalidDetails(
            "A token is given for what was granted, as authorization_details told it; leave them out, or ask the owner "
            "for other rights."
        )

    def _in(self, time: timedelta) -> str:
        return iso(self._services.now() + time)


def _needed(value: str | None, name: str) -> str:
    if not value:
        raise InvalidOAuthRequest(f"{name} is missing.")
    return value


def _challenge(verifier: str) -> bytes:
    """RFC 7636, S256."""
    return urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=")


def _seconds_between(since: str, until: str) -> int:
    return ((instant(until) or 0) - (instant(since) or 0)) // 1_000_000
