"""Follow a source from a page: its address, a user and a password, tried once before they are kept."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pdpp_server.console.desks import Desks
from pdpp_server.console.page import Page, SeeOther
from pdpp_server.console.visit import Visit, unreadable_form
from pdpp_server.errors import Conflict, InvalidRequest, NotFound, PdppError
from pdpp_server.evidence.refusals import message_and_remedy
from pdpp_server.evidence.said import say
from pdpp_server.importers.live.adding import mailbox_settings, tried
from pdpp_server.importers.live.dav import dav_settings
from pdpp_server.model.live import LiveSource

FIELDS = ("kind", "address", "user", "port", "security", "certificate")
KINDS = ("imap", "caldav", "carddav")
SECURITIES = ("tls", "starttls", "none")
PORT_MAX = 65_535


class FollowedShown(NamedTuple):
    name: str
    kind: str
    where: str
    succeeded_at: str | None
    next_at: str | None
    trouble: str
    said: str
    withheld: int


def follows(desks: Desks) -> bool:
    """Not where several owners share a server: whoever could name an address would reach what only it can reach, and
    a mailbox would be asked by every process."""
    return not desks.asks_name()


def show(desks: Desks, visit: Visit) -> Page:
    _require_following(desks)
    return _page(dict.fromkeys(FIELDS, "") | {"kind": "imap", "security": "tls"}, "")


def take(desks: Desks, visit: Visit) -> Page | SeeOther:
    """What cannot be opened even once is not followed. Sent twice, it is followed once, with the password sent last."""
    _require_following(desks)
    asked = {name: visit.value(name).strip() for name in FIELDS}
    password = visit.value("password")
    try:
        name, settings = _settings(asked, password)
        tried(asked["kind"], settings, password)
        if _is_followed(desks, name, settings):
            desks.owner.live.keep_secret(name, password)
            desks.owner.live.ask_now(name)
        else:
            desks.owner.live.add(name, asked["kind"], settings, password)
    except PdppError as refusal:
        return _page(asked, message_and_remedy(refusal), refusal.status)
    return SeeOther("/sources")


def stop(desks: Desks, visit: Visit) -> SeeOther:
    """Sent twice, it is not followed all the same."""
    with suppress(NotFound):
        desks.owner.live.stop(visit.value("name"))
    return SeeOther("/sources")


def again(desks: Desks, visit: Visit) -> SeeOther:
    """Asked at once, and not only when it is due."""
    desks.owner.live.ask_now(visit.value("name"))
    return SeeOther("/sources")


def let_go(desks: Desks, visit: Visit) -> SeeOther:
    """So much is gone there that only the owner can mean it: they do."""
    desks.owner.live.let_go(visit.value("name"))
    return SeeOther("/sources")


def followed(desks: Desks) -> list[FollowedShown]:
    return [
        FollowedShown(
            one.name, one.kind, _where(one), one.succeeded_at, one.next_at, one.trouble, one.said, one.withheld
        )
        for one in desks.owner.live.all()
    ]


def _require_following(desks: Desks) -> None:
    if not follows(desks):
        raise Conflict(
            say("This server has several owners, and follows nobody's accounts."),
            remedy=say("Bring in a file, or send it from your own computer: pdpp import FILE --to this address."),
        )


def _where(source: LiveSource) -> str:
    """The server, or the folder."""
    url = str(source.settings.get("url", ""))
    known = (source.settings.get("host"), urlsplit(url).hostname, source.settings.get("path"))
    return next((str(address) for address in known if address), "")


def _page(asked: Mapping[str, str], said: str, status: int = 200) -> Page:
    """A password that was typed is never sent back."""
    is_unusual = bool(asked["port"] or asked["certificate"]) or asked["security"] != "tls"
    return Page("follow.html", {"asked": asked, "said": said, "is_unusual": is_unusual}, status)


def _settings(asked: Mapping[str, str], password: str) -> tuple[str, dict[str, Any]]:
    kind, address, user = asked["kind"], asked["address"], asked["user"]
    if kind not in KINDS or asked["security"] not in SECURITIES:
        raise unreadable_form()
    if not (address and user and password):
        raise InvalidRequest(say("An address, a user and a password are needed."), param="address")
    if kind != "imap":
        url = address if "://" in address else f"https://{address}"
        return f"{kind} {user}", dav_settings(kind, url, user, asked["certificate"])
    settings = mailbox_settings(
        address, user, port=_port(asked["port"]), security=asked["security"], certificate=asked["certificate"]
    )
    return settings["account"], settings


def _port(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text[:6]) <= PORT_MAX):
        raise InvalidRequest(say("A port is a number from 1 to 65535."), param="port")
    return int(text)


def _is_followed(desks: Desks, name: str, settings: Mapping[str, Any]) -> bool:
    return any(one.name == name and dict(one.settings) == settings for one in desks.owner.live.all())
