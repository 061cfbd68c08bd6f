"""One request to a page: who sends it, and whether a form of ours did."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from pdpp_server.errors import InvalidRequest, PermissionDenied
from pdpp_server.evidence.said import say

COOKIE, SECURE_COOKIE = "pdpp", "__Host-pdpp"


@dataclass(frozen=True, slots=True)
class Visit:
    """`cookie` is the secret of a session, or, of a visitor who has not signed in, a random text that binds forms."""

    method: str
    path: str  # as it was sent
    named: Mapping[str, str]  # the parts of the path that a route names
    query: Mapping[str, str]
    form: tuple[tuple[str, str], ...]
    cookie: str
    has_cookie: bool
    is_secure: bool
    address: str  # of the visitor
    origin: str  # ours, as the visitor knows it
    hosts: frozenset[str]  # ours, as an Origin header may name them
    sent_from: str | None  # the Origin header
    site: str | None  # the Sec-Fetch-Site header
    request_id: str

    @property
    def form_token(self) -> str:
        """In every form, and bound to this visitor's cookie."""
        return hmac.new(self.cookie.encode(), b"form", "sha256").hexdigest()

    def value(self, name: str) -> str:
        """What a form says once; empty where it does not."""
        return next((value for key, value in self.form if key == name), "")

    def values(self, name: str) -> tuple[str, ...]:
        return tuple(value for key, value in self.form if key == name)

    def asked(self, *names: str) -> dict[str, str]:
        """What the address asks for, by these names; empty where it does not say."""
        return {name: self.query.get(name, "").strip() for name in names}

    def require_own_form(self) -> None:
        """Raises `PermissionDenied` unless a page of ours, shown to this visitor, sent the form."""
        came_from_us = self.site in {None, "same-origin"} and (
            self.sent_from is None or urlsplit(self.sent_from).netloc.lower() in self.hosts
        )
        token = self.value("form_token").encode()
        if not (came_from_us and self.has_cookie and hmac.compare_digest(token, self.form_token.encode())):
            raise PermissionDenied(
                say("This form did not come from a page of yours, or that page is too old."),
                remedy=say("Open the page again and repeat what you did."),
            )


def whole_number(text: str, digits: int) -> int | None:
    """None where it is no number, or has more digits."""
    is_number = text.isascii() and text.isdigit() and len(text) <= digits
    return int(text) if is_number else None


def unreadable_form() -> InvalidRequest:
    return InvalidRequest(say("The form cannot be read."), remedy=say("Open the page again and repeat what you did."))


def own_path(wanted: str | None) -> str:
    """Where to go on after signing in: a path of ours, or home. Never another site."""
    if not wanted or not wanted.startswith("/") or wanted.startswith(("//", "/\\")) or not wanted.isprintable():
        return "/"
    return "/" if "\\" in wanted else wanted
