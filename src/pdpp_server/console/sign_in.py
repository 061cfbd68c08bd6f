"""Signing in, signing out, and the first password."""

from pdpp_server.console.desks import Desks
from pdpp_server.console.page import Page, SeeOther
from pdpp_server.console.visit import Visit, own_path
from pdpp_server.errors import InvalidRequest, PdppError, PermissionDenied, RateLimited, Unauthenticated
from pdpp_server.evidence.refusals import message_and_remedy
from pdpp_server.evidence.said import say
from pdpp_server.owner.sign_in import PASSWORD_CHARS_MIN, not_invited


def show(desks: Desks, visit: Visit) -> Page | SeeOther:
    to = own_path(visit.query.get("next"))
    if not desks.sign_in.has_password:
        return SeeOther("/welcome")
    return _form("sign_in.html", to, asks_name=desks.asks_name(), name="")


def take(desks: Desks, visit: Visit) -> Page | SeeOther:
    """A new secret for the cookie, whatever was in it before."""
    to = own_path(visit.value("next"))
    try:
        return SeeOther(to, desks.sign_in.sign_in(visit.value("password"), visit.address))
    except (Unauthenticated, RateLimited) as refusal:
        return _form("sign_in.html", to, refusal, asks_name=desks.asks_name(), name=visit.value("name"))


def sign_out(desks: Desks, visit: Visit) -> SeeOther:
    desks.sign_in.sign_out(visit.cookie)
    return SeeOther("/sign-in", session="")


def show_welcome(desks: Desks, visit: Visit) -> Page | SeeOther:
    to = own_path(visit.query.get("next"))
    return SeeOther("/sign-in") if desks.sign_in.has_password else _form("welcome.html", to)


def take_welcome(desks: Desks, visit: Visit) -> Page | SeeOther:
    to, password = own_path(visit.value("next")), visit.value("password")
    try:
        if password != visit.value("again"):
            raise InvalidRequest(say("The two passwords are not the same."), param="again")
        return SeeOther(to, desks.sign_in.set_first_password(visit.value("code"), password, visit.address))
    except (InvalidRequest, PermissionDenied, RateLimited) as refusal:
        return _form("welcome.html", to, refusal)


def show_invited(desks: Desks, visit: Visit) -> Page:
    link = visit.query.get("link", "")
    if not desks.sign_in.is_invited(link):
        raise not_invited()
    return _form("invited.html", "/", link=link)


def take_invited(desks: Desks, visit: Visit) -> Page | SeeOther:
    link, password = visit.value("link"), visit.value("password")
    try:
        if password != visit.value("again"):
            raise InvalidRequest(say("The two passwords are not the same."), param="again")
        return SeeOther("/", desks.sign_in.set_invited_password(link, password))
    except InvalidRequest as refusal:
        return _form("invited.html", "/", refusal, link=link)


def _form(template: str, to: str, refusal: PdppError | None = None, **more: object) -> Page:
    said = message_and_remedy(refusal) if refusal else ""
    waits = {"Retry-After": str(refusal.retry_after_seconds)} if isinstance(refusal, RateLimited) else {}
    values = {"to": to, "said": said, "least": PASSWORD_CHARS_MIN, **more}
    return Page(template, values, refusal.status if refusal else 200, headers=waits)
