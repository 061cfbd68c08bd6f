"""CalDAV and CardDAV as far as we speak them: questions in XML over HTTP, bounded in time and bytes, never writing.

Everything that can go wrong with a server becomes a SourceTrouble here, with what to do about it.
"""

import io
import ssl
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import unquote, urljoin, urlsplit
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape

import httpx2

from pdpp_server.importers.formats.xml_items import UnreadableXml, xml_items
from pdpp_server.importers.live.trouble import AGAIN, SourceTrouble

ANSWER_SECONDS = 60.0
ANSWER_BYTES_MAX = 64 * 1024 * 1024
REDIRECTS_MAX = 5

_SPACES = (
    'xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:A="urn:ietf:params:xml:ns:carddav" '
    'xmlns:S="http://calendarserver.org/ns/"'
)
_PARTS = {"response": frozenset({"multistatus"}), "sync-token": frozenset({"multistatus"})}


class DavKind(NamedTuple):
    """What differs between calendars and address books."""

    name: str
    home: str  # the property that says where they are
    resource: str  # what such a collection is called
    data: str  # the property that holds one
    multiget: str
    well_known: str


CALDAV = DavKind(
    "caldav",
    home="C:calendar-home-set",
    resource="calendar",
    data="C:calendar-data",
    multiget="C:calendar-multiget",
    well_known="/.well-known/caldav",
)
CARDDAV = DavKind(
    "carddav",
    home="A:addressbook-home-set",
    resource="addressbook",
    data="A:address-data",
    multiget="A:addressbook-multiget",
    well_known="/.well-known/carddav",
)
GONE, MULTI_STATUS = 404, 207


class Collection(NamedTuple):
    url: str
    name: str
    ctag: str
    can_sync: bool  # says itself what changed since a token


class Changes(NamedTuple):
    changed: list[str]  # hrefs
    gone: list[str]
    token: str


class _Answer(NamedTuple):
    href: str
    status: int
    element: Element


class Dav:
    """One conversation."""

    def __init__(self, client: httpx2.Client, url: str, kind: DavKind) -> None:
        self._client, self._url, self._kind = client, url, kind

    def collections(self) -> list[Collection]:
        """The calendars or address books of whoever signed in. Raises: SourceTrouble."""
        wanted = "<resourcetype/><displayname/><S:getctag/><supported-report-set/>"
        for start in (self._url, urljoin(self._url, self._kind.well_known)):
            here = [one for one in self._found(start, wanted, depth=0) if one.url]
            if here:
                return here
            principal = self._href(start, "<current-user-principal/>", "current-user-principal")
            home = principal and self._href(principal, f"<{self._kind.home}/>", self._kind.home.partition(":")[2])
            if home:
                return self._found(home, wanted, depth=1)
        raise SourceTrouble(
            f"{self._where} shows no {self._kind.resource} of this user.",
            remedy="Give the address that the service names for other programs.",
        )

    def changes(self, collection: Collection, token: str) -> Changes | None:
        """What changed since then (everything, without a token); None where the server has forgotten that."""
        asked = f"<sync-token>{escape(token)}</sync-token><sync-level>1</sync-level><prop><getetag/></prop>"
        answers, told = self._ask("REPORT", collection.url, f"<sync-collection {_SPACES}>{asked}</sync-collection>", 1)
        if answers is None:
            return None
        found = [one for one in answers if one.href != collection.url]
        changed = [one.href for one in found if one.status != GONE]
        return Changes(changed, [one.href for one in found if one.status == GONE], told)

    def tags(self, collection: Collection) -> dict[str, str]:
        """The mark of each, which is another one when it changes."""
        answers, _ = self._ask("PROPFIND", collection.url, _propfind("<getetag/>"), 1)
        told = {one.href: _text(one.element, "getetag") for one in answers or () if one.href != collection.url}
        return {href: tag for href, tag in told.items() if tag}

    def resources(self, collection: Collection, hrefs: Sequence[str]) -> dict[str, str]:
        """Each as it is written; one that is gone meanwhile is missing."""
        listed = "".join(f"<href>{escape(urlsplit(href).path)}</href>" for href in hrefs)
        verb = self._kind.multiget
        body = f"<{verb} {_SPACES}><prop><getetag/><{self._kind.data}/></prop>{listed}</{verb}>"
        answers, _ = self._ask("REPORT", collection.url, body, 1)
        name = self._kind.data.partition(":")[2]
        found = {one.href: data for one in answers or () if (data := _text(one.element, name))}
        missing = [href for href in hrefs if href not in found]
        if missing and not self.tags(collection).keys().isdisjoint(missing):  # else they went in this very moment
            raise SourceTrouble(f"{self._where} does not give what it shows.", remedy=AGAIN)
        return {href: found[href] for href in hrefs if href in found}

    # The wire -------------------------------------------------------------------------------------------------------

    def _found(self, url: str, wanted: str, *, depth: int) -> list[Collection]:
        answers, _ = self._ask("PROPFIND", url, _propfind(wanted), depth)
        found: list[Collection] = []
        for one in answers or ():
            kinds = [kind.tag for told in one.element.iter("resourcetype") for kind in told]
            if self._kind.resource in kinds:
                can_sync = any(True for _ in one.element.iter("sync-collection"))
                name = _text(one.element, "displayname") or unquote(one.href.rstrip("/").rpartition("/")[2])
                found.append(Collection(one.href, name, _text(one.element, "getctag"), can_sync))
        return found

    def _href(self, url: str, wanted: str, name: str) -> str:
        answers, _ = self._ask("PROPFIND", url, _propfind(wanted), 0)
        for one in answers or ():
            for told in one.element.iter(name):
                href = (told.findtext("href") or "").strip()
                if href:
                    return urljoin(one.href, href)
        return ""

    @property
    def _where(self) -> str:
        return urlsplit(self._url).netloc

    def _ask(self, method: str, url: str, body: str, depth: int) -> tuple[list[_Answer] | None, str]:
        """The parts of a multistatus and its token; None where the server refuses the question itself."""
        status, location, raw = self._sent(method, url, body, depth)
        for _ in range(REDIRECTS_MAX):
            if status not in (301, 302, 307, 308):
                break
            url = self._followed(url, location)
            status, location, raw = self._sent(method, url, body, depth)
        if status in (401, 403) and method == "PROPFIND":
            raise SourceTrouble(
                f"{self._where} refuses this user and password.",
                remedy="Many services want an app password. If it is followed already, follow it again on the page, or "
                "stop it and add it again.",
            )
        if status in (403, 404, 405, 409, 410, 412, 501, 507):
            return None, ""
        if status != MULTI_STATUS:
            raise SourceTrouble(f"{self._where} answered {status}.", remedy=AGAIN)
        return self._read(raw, url)

    def _sent(self, method: str, url: str, body: str, depth: int) -> tuple[int, str, bytes]:
        headers = {"Depth": str(depth), "Content-Type": 'application/xml; charset="utf-8"'}
        content = f'<?xml version="1.0" encoding="utf-8"?>{body}'.encode()
        with _troubles(self._where), self._client.stream(method, url, headers=headers, content=content) as response:
            raw = bytearray()
            for chunk in response.iter_bytes():
                raw += chunk
                if len(raw) > ANSWER_BYTES_MAX:
                    raise SourceTrouble(f"{self._where} sends more than was asked for.", remedy=AGAIN)
            return response.status_code, response.headers.get("location", ""), bytes(raw)

    def _followed(self, url: str, location: str) -> str:
        """Another path or host by TLS; the password goes nowhere without it."""
        there = urljoin(url, location)
        if urlsplit(there).scheme != "https" and urlsplit(there).netloc != urlsplit(url).netloc:
            raise SourceTrouble(f"{self._where} leads elsewhere without TLS.", remedy="Use an address with https.")
        if urlsplit(there).hostname != urlsplit(self._url).hostname:
            raise SourceTrouble(
                f"{self._where} leads to {urlsplit(there).netloc}.",
                remedy="If that is right, add the source by that address.",
            )
        return there

    def _read(self, raw: bytes, url: str) -> tuple[list[_Answer], str]:
        answers: list[_Answer] = []
        token = ""
        try:
            for item in xml_items(io.BytesIO(raw), _PARTS):
                if item.name == "sync-token":
                    token = (item.element.text or "").strip()
                else:
                    href = urljoin(url, (item.element.findtext("href") or "").strip())
                    answers.append(_Answer(href, _status(item.element), item.element))
        except (UnreadableXml, ValueError) as error:
            raise SourceTrouble(f"{self._where} sends what is no answer.", remedy="Check the address.") from error
        return answers, token


@contextmanager
def opened(url: str, user: str, password: str, kind: DavKind) -> Generator[Dav, None, None]:
    """Raises: SourceTrouble."""
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise SourceTrouble("The address must begin with https://.", remedy="The service names it for other programs.")
    if parts.scheme == "http" and not _is_here(parts.hostname):
        raise SourceTrouble("Without TLS a password can be read on its way.", remedy="Use an address with https.")
    with httpx2.Client(
        auth=(user, password), timeout=ANSWER_SECONDS, follow_redirects=False, trust_env=False
    ) as client:
        yield Dav(client, url, kind)


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@contextmanager
def _troubles(where: str) -> Generator[None, None, None]:
    try:
        yield
    except httpx2.TimeoutException as error:
        raise SourceTrouble(f"{where} did not answer for {ANSWER_SECONDS:.0f} seconds.", remedy=AGAIN) from error
    except httpx2.ConnectError as error:
        cause = error.__cause__ or error.__context__
        if isinstance(cause, ssl.SSLError) or "certificate" in str(error).lower():
            raise SourceTrouble(
                f"The certificate of {where} does not fit.",
                remedy="Check the name; one that signs itself must be added to the certificates of this machine.",
            ) from error
        raise SourceTrouble(f"{where} cannot be reached.", remedy="Check the address, and the network.") from error
    except httpx2.HTTPError as error:
        raise SourceTrouble(f"{where} closed the connection in the middle.", remedy=AGAIN) from error
    except httpx2.InvalidURL as error:
        raise SourceTrouble(f"{where} is no address.", remedy="It begins with https://.") from error


def _propfind(wanted: str) -> str:
    return f"<propfind {_SPACES}><prop>{wanted}</prop></propfind>"


def _text(element: Element, name: str) -> str:
    return next((told.text.strip() for told in element.iter(name) if told.text and told.text.strip()), "")


def _status(element: Element) -> int:
    """Of the whole answer, where it has one; else it is there."""
    told = (element.findtext("status") or "").split()
    return int(told[1]) if len(told) > 1 and told[1].isdigit() else 200
