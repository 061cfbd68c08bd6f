"""The owner's decision: what it would grant, that it lies within what was asked, and what follows from it."""

import hashlib
import secrets
from dataclasses import replace
from datetime import datetime, timedelta
from hmac import compare_digest
from urllib.parse import urlencode

import orjson

from pdpp_server.authorization_server.resources import audience_of, reads_one_source
from pdpp_server.errors import ApprovalConflict, InvalidAuthorizationDetails, InvalidRequest, NotFound
from pdpp_server.grants.issue import ceiling, issue
from pdpp_server.grants.narrow import excess
from pdpp_server.model.authorization import Ask, Decision, Review
from pdpp_server.model.grants import SUBJECT, Grant
from pdpp_server.model.selections import Selection
from pdpp_server.model.times import instant, iso, iso_micros
from pdpp_server.reads.services import Services
from pdpp_server.store.consent.approvals import keep_approval
from pdpp_server.store.consent.asks import decide, device_code_of, find_ask
from pdpp_server.store.consent.codes import Code, keep_code
from pdpp_server.store.consent.grants import keep_grant
from pdpp_server.store.consent.offers import declaration_of, eligible
from pdpp_server.store.consent.resource_servers import addresses_elsewhere
from pdpp_server.store.digests import token_digest
from pdpp_server.store.engine import Reading
from pdpp_server.wire.grants import DETAILS, encode_grant, encode_selection
from pdpp_server.wire.oauth import encode_denial, encode_permission

CODE_SECONDS = 300
SINGLE_USE_HOURS = 24
AI_TRAINING = "https://pdpp.dev/purpose/ai_training"


def waiting(services: Services, ask_id: str) -> Ask:
    """Raises NotFound where there is none any more, ApprovalConflict where it was decided."""
    with services.database.reading() as reading:
        stored = find_ask(reading, ask_id, iso(services.now()))
    if stored is None:
        raise NotFound("This request is not known here, or has expired.", remedy="Ask the client to connect again.")
    if stored.decided is not None:
        raise ApprovalConflict("This request was decided already.")
    return stored.ask


def review(services: Services, ask: Ask, decision: Decision) -> Review:
    """Raises InvalidRequest, also as InvalidAuthorizationDetails: it is more than was asked, or cannot be granted."""
    _require_affirmed(decision)
    if not 0 < len(decision.selections) <= DETAILS:
        raise InvalidRequest(f"Choose at least one source, and at most {DETAILS}.", param="selections")
    with services.database.reading() as reading:
        if len(decision.selections) > 1 and reads_one_source(_audience(ask, addresses_elsewhere(reading))):
            raise InvalidAuthorizationDetails("This client reads one source at a time: choose one.", param="selections")
        granted = tuple(
            _issued(reading, ask, each, decision.ends.get(place, decision.expires_at), services.now())
            for place, each in enumerate(decision.selections)
        )
        for grant in granted:
            require_within(reading, ask, grant)
    return Review(ask, granted, _revision(ask, decision, granted))


def require_within(reading: Reading, ask: Ask, grant: Grant) -> None:
    """What nobody selected beforehand the owner may select freely."""
    if not ask.selections:
        return
    beyond = "another source"
    for asked in ask.selections:
        if asked.source_id == grant.source.id:
            declaration = declaration_of(reading, asked.source_id)
            found = excess(grant, asked, ceiling(asked, declaration, eligible(reading, declaration)))
            if found is None:
                return
            beyond = found
    raise InvalidAuthorizationDetails(f"This is more than was asked: {beyond}.", param="selections")


def approve(services: Services, ask: Ask, decision: Decision, revision: str) -> str | None:
    """Where to send the browser; None where a device polls for the answer."""
    reviewed = review(services, ask, decision)
    if not compare_digest(reviewed.revision.encode(), revision.encode("utf-8", "replace")):
        raise InvalidRequest("This is not what was reviewed.", param="revision", remedy="Review it once more.")
    now = services.now()
    code = secrets.token_urlsafe(32)
    granted = reviewed.grants
    package_id = f"gpkg_{secrets.token_hex(8)}" if len(granted) > 1 else None
    with services.database.writing() as writer:
        if not decide(writer, ask.ask_id, "approved", iso(now)):
            raise ApprovalConflict("This request was decided already.")
        for grant in granted:
            keep_grant(writer, grant, package_id)
        given = Code(
            ask.client.client_id,
            ask.redirect_uri,
            ask.code_challenge,
            _audience(ask, addresses_elsewhere(writer)),
            None if package_id else next(iter(granted)).grant_id,
            package_id,
            iso(now + timedelta(seconds=CODE_SECONDS)),
        )
        digest = device_code_of(writer, ask.ask_id) or token_digest(code)
        keep_code(writer, digest, given)
        keep_approval(writer, ask, decision, iso(now))
    return _back(ask, encode_permission(code, ask.state, ask.issuer))


def deny(services: Services, ask: Ask) -> str | None:
    with services.database.writing() as writer:
        if not decide(writer, ask.ask_id, "denied", iso(services.now())):
            raise ApprovalConflict("This request was decided already.")
    return _back(ask, encode_denial("access_denied", None, ask.state, ask.issuer))


def _audience(ask: Ask, elsewhere: dict[str, str]) -> str | None:
    try:
        return audience_of(ask.issuer, elsewhere, ask.resource)
    except KeyError:  # it was known when the client asked
        raise InvalidRequest(
            "The server that this is for has moved meanwhile.", remedy="Ask the client to connect again."
        ) from None


def _require_affirmed(decision: Decision) -> None:
    if not decision.ai_training and any(each.purpose_code == AI_TRAINING for each in decision.selections):
        raise InvalidRequest("Training of models must be affirmed by itself.", param="ai_training")


def _issued(reading: Reading, ask: Ask, selection: Selection, expires_at: str | None, now: datetime) -> Grant:
    declaration = declaration_of(reading, selection.source_id)
    return issue(
        selection,
        declaration,
        eligible=eligible(reading, declaration),
        grant_id=f"grt_{secrets.token_hex(8)}",
        issued_at=iso(now),
        subject=SUBJECT,
        client_id=ask.client.client_id,
        client_name=ask.client.name,
        expires_at=_end(expires_at, selection.access_mode, now),
    )


def _end(expires_at: str | None, access_mode: str, now: datetime) -> str | None:
    """A single use ends after a day at the latest."""
    end = instant(expires_at)
    if expires_at is not None and (end is None or iso_micros(end) <= iso(now)):
        raise InvalidRequest("An end is a time that is still to come.", param="expires_at")
    chosen = None if end is None else iso_micros(end)
    if access_mode != "single_use":
        return chosen
    return min(chosen or "~", iso(now + timedelta(hours=SINGLE_USE_HOURS)))


def _revision(ask: Ask, decision: Decision, granted: tuple[Grant, ...]) -> str:
    """Whatever was shown, without the ids and times that each review makes anew."""
    client = ask.client
    lasting = [replace(grant, grant_id="", issued_at="", expires_at=None) for grant in granted]
    shown = [
        [ask.ask_id, client.client_id, client.name, [*client.uris.items()], ask.redirect_uri, ask.resource],
        [encode_selection(ask.selections), encode_selection(decision.selections)],
        [decision.expires_at, sorted(decision.ends.items())],
        [encode_grant(grant) for grant in lasting],
    ]
    return hashlib.sha256(orjson.dumps(shown, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _back(ask: Ask, members: dict[str, str]) -> str | None:
    return None if ask.redirect_uri is None else with_query(ask.redirect_uri, members)


def with_query(address: str, members: dict[str, str]) -> str:
    return f"{address}{'&' if '?' in address else '?'}{urlencode(members)}"
