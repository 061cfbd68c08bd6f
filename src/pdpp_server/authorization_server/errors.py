"""OAuth refusals: one tree, rendered as RFC 6749 JSON or as a redirect."""

from typing import Any


class OAuthError(Exception):
    """Base of every OAuth refusal; `extra` are further members of its JSON."""

    error, status = "invalid_request", 400
    remedy = "Close this page and connect the app again from its beginning. If it ends here again, tell its makers."
    hint = ""  # for a program, beside what is said

    def __init__(self, says: str, *, remedy: str | None = None, **extra: Any) -> None:
        super().__init__(says)
        self.says, self.extra = says, extra
        if remedy is not None:
            self.remedy = remedy  # for a person, on a page

    @property
    def told(self) -> str:
        """What a program is told."""
        return f"{self.says} {self.hint}".strip()


class InvalidOAuthRequest(OAuthError):
    """A parameter is missing, malformed or repeated."""


class WrongMethod(OAuthError):
    """The address is asked in another way."""

    status = 405

    def __init__(self, taken: str) -> None:
        super().__init__(f"This address takes {taken} only.")
        self.taken = taken


class InvalidClient(OAuthError):
    """Nobody of that id is known here; registering again helps."""

    error, status = "invalid_client", 401
    hint = "Register, or give the address of your own document as client_id, and start again."
    remedy = (
        "Remove this server from the app and add it again: then the app makes itself known anew. What you agreed to "
        "before is listed on your pages."
    )


class UnknownClient(InvalidClient):
    """The same, where no token is asked for."""

    status = 400


class UnauthorizedClient(OAuthError):
    """The client registered for other flows."""

    error = "unauthorized_client"


class InvalidGrant(OAuthError):
    """The code or refresh token is wrong, used, expired, or another client's."""

    error = "invalid_grant"
    hint = "Ask the owner again, by a new authorization."


class UnsupportedGrantType(OAuthError):
    """Tokens are not given for that."""

    error = "unsupported_grant_type"


class UnsupportedResponseType(OAuthError):
    """Only codes leave by redirect."""

    error = "unsupported_response_type"


class InvalidTarget(OAuthError):
    """The resource is no address of this server (RFC 8707)."""

    error = "invalid_target"
    hint = "Name this server's own address as resource, or leave it out."
    remedy = "Give the app the address that your page Connect shows, exactly as it stands there."


class InvalidScope(OAuthError):
    """More than was granted, or nothing that a token could be for."""

    error = "invalid_scope"


class InvalidDetails(OAuthError):
    """The selection cannot be granted here (RFC 9396)."""

    error = "invalid_authorization_details"


class InvalidRequestUri(OAuthError):
    """No pushed request of this client waits under that address (RFC 9126)."""

    error = "invalid_request_uri"
    hint = "Push the request again."
    remedy = "Go back to the app and connect again: the address that brought you here is good once."


class InvalidClientMetadata(OAuthError):
    """A registration has a member that is unknown or wrong (RFC 7591)."""

    error = "invalid_client_metadata"


class InvalidRedirectUri(OAuthError):
    """An address that nobody may be sent to."""

    error = "invalid_redirect_uri"


class UnregisteredRedirectUri(InvalidRedirectUri):
    """An address that this client did not register."""

    hint = "Send exactly an address that was registered; on loopback its port may differ."
    remedy = "Nothing was sent anywhere. Remove this server from the app and add it again."


class AccessDenied(OAuthError):
    """The owner said no."""

    error = "access_denied"


class AuthorizationPending(OAuthError):
    """The owner has not decided yet (RFC 8628)."""

    error = "authorization_pending"


class SlowDown(OAuthError):
    """The device polls too fast (RFC 8628)."""

    error = "slow_down"


class TooManyTries(SlowDown):
    """One address asks too often, or all strangers together do."""

    status = 429

    def __init__(self, seconds: int) -> None:
        wait = "Wait that long, then connect the app again."
        super().__init__(f"Too many requests. The next one is heard in {seconds} s.", remedy=wait)
        self.seconds = seconds


class ExpiredToken(OAuthError):
    """The device code has expired (RFC 8628)."""

    error = "expired_token"


class TemporarilyUnavailable(OAuthError):
    """Too much waits for the owner already, or the disk is full."""

    error, status = "temporarily_unavailable", 503
    hint = "Try again in ten minutes: requests that nobody answered have expired by then."
    remedy = "Try again in ten minutes; `pdpp doctor` on the server's machine says what is wrong."


class NotAResourceServer(OAuthError):
    """Introspection is for resource servers that the owner named."""

    error, status = "context.authentication_failed", 401
