"""OAuth messages: bodies as parameters, redirects back to a client, errors (RFC 6749)."""

import re
from collections.abc import Mapping
from typing import Any

from pdpp_server.wire.envelope import Json, present

CONSENT_PAGE, DEVICE_PAGE = "/consent", "/device"
_OTHERS = re.compile(r"[^\x20-\x21\x23-\x5b\x5d-\x7e]")
REQUEST_URI = "urn:ietf:params:oauth:request_uri:"
READ_SCOPE, OFFLINE_SCOPE = "pdpp:read", "offline_access"


def consent_address(origin: str, ask_id: str) -> str:
    """Where the owner decides; the pages answer there."""
    return f"{origin}{CONSENT_PAGE}?ask={ask_id}"


def device_address(origin: str, user_code: str | None = None) -> str:
    return f"{origin}{DEVICE_PAGE}" + (f"?user_code={user_code}" if user_code else "")


def encode_permission(code: str, state: str | None, issuer: str) -> dict[str, str]:
    """RFC 6749 section 4.1.2, and the issuer (RFC 9207) so that two servers cannot be mixed up."""
    return present(code=code, state=state, iss=issuer)


def encode_denial(error: str, says: str | None, state: str | None, issuer: str) -> dict[str, str]:
    return present(error=error, error_description=says and _described(says), state=state, iss=issuer)


def encode_error(error: str, says: str, extra: Mapping[str, Any]) -> Json:
    return {"error": error, "error_description": _described(says), **extra}


def _described(says: str) -> str:
    """In the characters that a description may have (RFC 6749 section 5.2)."""
    return _OTHERS.sub("'", says)
