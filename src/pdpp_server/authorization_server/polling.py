"""A device that asks whether the owner has decided (RFC 8628 section 3.5)."""

from datetime import datetime, timedelta

from pdpp_server.authorization_server.errors import (
    AccessDenied,
    AuthorizationPending,
    ExpiredToken,
    InvalidGrant,
    OAuthError,
    SlowDown,
)
from pdpp_server.model.times import iso
from pdpp_server.store.consent.asks import note_poll, polled
from pdpp_server.store.engine import Write

SLOWER_SECONDS = 5


def poll(write: Write, device_code: str, client_id: str, now: datetime) -> OAuthError | None:
    """Why there are no tokens yet, or none at all; None where the owner said yes."""
    found = polled(write, device_code)
    if found is None or found.client_id != client_id:
        return InvalidGrant("The device code is not known here.")
    if found.decided == "approved":
        return None
    if found.decided == "denied":
        return AccessDenied("The owner said no.")
    if found.expires_at <= write.now:
        return ExpiredToken("The device code has expired.")
    too_soon = found.polled_at is not None and found.polled_at > iso(now - timedelta(seconds=found.pause_seconds))
    pause_seconds = found.pause_seconds + (SLOWER_SECONDS if too_soon else 0)
    note_poll(write, found.ask_id, write.now, pause_seconds)
    if too_soon:
        return SlowDown(f"Ask every {pause_seconds} seconds.", interval=pause_seconds)
    return AuthorizationPending("The owner has not decided yet.")
