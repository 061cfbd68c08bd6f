"""CalDAV and CardDAV as far as we speak them: questions in XML over HTTP, bounded in pace and bytes, never writing.

Everything that can go wrong with a server becomes a SourceTrouble here, with what to do about it.
"""

import ssl
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_address
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape

import httpx2

from pdpp_server.importers.formats.xml_items import UnreadableXml, xml_items
from pdpp_server.importers.identity import NAME_CHARS
from pdpp_server.importers.live.certificates import context_for, shown_at, unfitting
from pdpp_server.importers.live.pace import Pace, trickling
from pdpp_server.importers.live.trouble import AGAIN, SourceTrouble

ANSWER_SECONDS = 60.0  # a server that says nothing for so long hangs
ANSWER_BYTES_MAX = 64 * 1024 * 1024
REDIRECTS_MAX = 5
HTTPS_PORT = 443
PIECES_MAX = 1000  # in which a server may tell what changed
COLLECTIONS_MAX = 500
TOKEN_CHARS_MAX = 10_000

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
GONE, MULTI_STATUS, CUT_SHORT = 404, 207, 507
PAUSES = (429, 503)


class Collection(NamedTuple):
    url: str
    name: str
    ctag: str
    can_sync: bool  # says itself what changed since a token


class Changes(NamedTuple):
    changed: list[str]  # hrefs
    gone: list[str]
    token: str


class DavListing(NamedTuple):
    """What a calendar or address book holds, where the server does not say itself what changed."""

    hrefs: set[str]
    tags: dict[str, str]  # the mark of each that has one, which is another one when it changes


class _Answer(NamedTuple):
    href: str
    status: int
    values: tuple[Any, ...]


_Read = Callable[[Element], tuple[Any, ...]]  # what is wanted of one part of an answer; the rest of it is let go


class Dav:
    """One conversation."""

    def __init__(self, client: httpx2.Client, url: str, kind: DavKind, clock: Callable[[], float]) -> None:
        self._client, self._url, self._kind = client, url, kind
        self._line = _Line(self._where, Pace(clock))

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
        """What changed since then (everything, without a token); None where the server has forgotten that.

        A server may tell it in pieces (RFC 6578 section 3.6): what is not named is there until the last one came.
        """
        found: dict[str, int] = {}
        for _ in range(PIECES_MAX):
            asked = f"<sync-token>{escape(token)}</sync-token><sync-level>1</sync-level><prop><getetag/></prop>"
            body = f"<sync-collection {_SPACES}>{asked}</sync-collection>"
            answers, after = self._ask("REPORT", collection.url, body, 1, _nothing)
            if answers is None:
                return None
            is_cut = any(one.href == collection.url and one.status == CUT_SHORT for one in answers)
            found |= {one.href: one.status for one in answers if one.href != collection.url}
            if not is_cut:
                changed = [href for href, status in found.items() if status != GONE]
                gone = [href for href, status in found.items() if status == GONE]
                return Changes(changed, gone, after)
            if after in ("", token):
                break
            token = after
        raise SourceTrouble(f"{self._where} does not come to an end with what changed.", remedy=AGAIN)

    def shown(self, collection: Collection) -> DavListing:
        """Raises: SourceTrouble, also where the server shows nothing at all: then nobody knows what is gone."""
        answers, _ = self._ask("PROPFIND", collection.url, _propfind("<getetag/>"), 1, _texts("getetag"))
        if answers is None:
            raise SourceTrouble(f"{self._where} does not show what is in {collection.name!r}.", remedy=AGAIN)
        found = [one for one in answers if one.href != collection.url and one.status != GONE]
        tags = {one.href: one.values[0] for one in found if one.values[0]}
        return DavListing({one.href for one in found}, tags)

    def resources(self, collection: Collection, hrefs: Sequence[str]) -> dict[str, str]:
        """Each as it is written; one that is gone meanwhile is missing."""
        paths = [urlsplit(href).path for href in hrefs]
        listed = "".join(f"<href>{escape(path)}</href>" for path in paths)
        verb, data = self._kind.multiget, self._kind.data
        body = f"<{verb} {_SPACES}><prop><getetag/><{data}/></prop>{listed}</{verb}>"
        _, _, plain_name = data.partition(":")
        answers, _ = self._ask("REPORT", collection.url, body, 1, _texts(plain_name))
        found = {one.href: one.values[0] for one in answers or ()}
        return {href: found[href] for href in hrefs if found.get(href)}

    def require_gone(self, collection: Collection, hrefs: Iterable[str]) -> None:
        """What it named and did not give went in this very moment. Raises: SourceTrouble, where it is still there."""
        missing = set(hrefs)
        if missing and missing & self.shown(collection).hrefs:
            raise SourceTrouble(f"{self._where} does not give what it shows.", remedy=AGAIN)

    # The wire -------------------------------------------------------------------------------------------------------

    def _found(self, url: str, wanted: str, *, depth: int) -> list[Collection]:
        answers, _ = self._ask("PROPFIND", url, _propfind(wanted), depth, _described)
        found: list[Collection] = []
        for href, _, (kinds, name, ctag, can_sync) in answers or ():
            if self._kind.resource in kinds:
                name = name or unquote(href.rstrip("/").rpartition("/")[2])
                found.append(Collection(href, name[:NAME_CHARS], ctag, can_sync))
        if len(found) > COLLECTIONS_MAX:
            raise SourceTrouble(
                f"{self._where} shows more than {COLLECTIONS_MAX} at once.", remedy="Give the address of one of them."
            )
        return found

    def _href(self, url: str, wanted: str, name: str) -> str:
        """Where it leads; that may be another server, as with some services, but only by TLS."""
        answers, _ = self._ask("PROPFIND", url, _propfind(wanted), 0, lambda part: (_href_in(part, name),))
        told = next((one for one in answers or () if one.values[0]), None)
        return self._by_tls(url, urljoin(told.href, told.values[0])) if told else ""

    @property
    def _where(self) -> str:
        return urlsplit(self._url).netloc

    def _ask(self, method: str, url: str, body: str, depth: int, read: _Read) -> tuple[list[_Answer] | None, str]:
        """The parts of a multistatus and its token; None where the server refuses the question itself."""
        for _ in range(REDIRECTS_MAX + 1):
            with self._sent(method, url, body, depth) as response:
                status, location = response.status_code, response.headers.get("location", "")
                if status == MULTI_STATUS:
                    return self._read(response, url, read)
                if status not in (301, 302, 307, 308):
                    self._require_bearable(method, status, response.headers.get("retry-after", ""))
                    return None, ""
            url = self._followed(url, location)
        raise SourceTrouble(f"{self._where} leads in a circle.", remedy="Check the address.")

    def _require_bearable(self, method: str, status: int, retry_after: str) -> None:
        """Raises: SourceTrouble, unless only the question is refused."""
        if status == 401 or (status == 403 and method == "PROPFIND"):
            raise SourceTrouble(
                f"{self._where} refuses this user and password.",
                remedy="Many services want an app password. If it is followed already, follow it again on the page, or "
                "stop it and add it again.",
            )
        if status in PAUSES:
            raise SourceTrouble(f"{self._where} wants a pause ({status}).", remedy=AGAIN, pause=_seconds(retry_after))
        if status not in (403, 404, 405, 409, 410, 412, 501, 507):
            raise SourceTrouble(f"{self._where} answered {status}.", remedy=AGAIN)

    @contextmanager
    def _sent(self, method: str, url: str, body: str, depth: int) -> Generator[httpx2.Response, None, None]:
        headers = {"Depth": str(depth), "Content-Type": 'application/xml; charset="utf-8"'}
        content = f'<?xml version="1.0" encoding="utf-8"?>{body}'.encode()
        request = self._client.build_request(
            method, url, headers=headers, content=content, extensions={"trace": self._line.note}
        )
        self._line.begin()
        with _troubles(url, self._where, self._line):
            response = self._client.send(request, stream=True)
            try:
                yield response
            finally:
                response.close()

    def _followed(self, url: str, location: str) -> str:
        """Another path; another host is for the owner to name."""
        try:
            there = self._by_tls(url, urljoin(url, location))
            host = urlsplit(there).hostname
        except ValueError as error:
            raise SourceTrouble(f"{self._where} leads to what is no address.", remedy="Check the address.") from error
        if host != urlsplit(self._url).hostname:
            raise SourceTrouble(
                f"{self._where} leads to {urlsplit(there).netloc}.",
                remedy="If that is right, add the source by that address.",
            )
        return there

    def _by_tls(self, url: str, there: str) -> str:
        """The password goes nowhere without it, but to a server on this machine that was asked so. One behind a proxy
        often calls itself http: it is asked as before."""
        if urlsplit(there).netloc == urlsplit(url).netloc:
            return _here(url, there)
        if urlsplit(there).scheme != "https":
            raise SourceTrouble(f"{self._where} leads elsewhere without TLS.", remedy="Use an address with https.")
        return there

    def _read(self, response: httpx2.Response, url: str, read: _Read) -> tuple[list[_Answer], str]:
        """While it comes, so that of a long answer only what is wanted is held."""
        answers: list[_Answer] = []
        token = ""
        try:
            for item in xml_items(_Body(response, self._where), _PARTS):
                if item.name == "sync-token":
                    token = (item.element.text or "").strip()
                else:
                    href = _here(url, (item.element.findtext("href") or "").strip())
                    answers.append(_Answer(href, _status(item.element), read(item.element)))
        except (UnreadableXml, ValueError) as error:
            raise _no_answer(self._where) from error
        if len(token) > TOKEN_CHARS_MAX:
            raise _too_much(self._where)
        return answers, token


class _Line:
    """Every byte that comes over a connection, head and body alike: not too many for one answer, and not too slowly."""

    def __init__(self, where: str, pace: Pace) -> None:
        self._where, self._pace = where, pace
        self.begin()

    def begin(self) -> None:
        """With the next answer."""
        self._left, self.is_closed = ANSWER_BYTES_MAX, False
        self._pace.begin()

    def note(self, event: str, told: Mapping[str, Any]) -> None:
        """Hears what the HTTP client does. Each stream that it opens is read through `_came`: it has a limit for a
        single read, and shows nothing of an answer until its head is whole."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            stream = told["return_value"]
            stream.read = partial(self._came, stream.read)

    def _came(self, read: Callable[..., bytes], *asked: Any, **how: Any) -> bytes:
        """Raises: SourceTrouble."""
        data = read(*asked, **how)
        self.is_closed = not data
        self._left -= len(data)
        if self._left < 0:
            raise _too_much(self._where)
        if not self._pace.is_kept(len(data)):
            raise trickling(self._where)
        return data


class _Body:
    """The bytes of an answer as they come, unpacked: no more than may be."""

    def __init__(self, response: httpx2.Response, where: str) -> None:
        self._chunks, self._where, self._left = response.iter_bytes(), where, ANSWER_BYTES_MAX

    def read(self, _size: int, /) -> bytes:
        """Raises: SourceTrouble."""
        chunk = next(self._chunks, b"")
        self._left -= len(chunk)
        if self._left < 0:
            raise _too_much(self._where)
        return chunk


def _no_answer(where: str) -> SourceTrouble:
    return SourceTrouble(f"{where} sends what is no answer.", remedy="Check the address.")


def _too_much(where: str) -> SourceTrouble:
    return SourceTrouble(f"{where} sends more than was asked for.", remedy=AGAIN)


@contextmanager
def opened(url: str, user: str, password: str, kind: DavKind, certificate: str) -> Generator[Dav, None, None]:
    """Raises: SourceTrouble."""
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise SourceTrouble("The address must begin with https://.", remedy="The service names it for other programs.")
    if "@" in parts.netloc:  # it would be kept as addresses are, and stand in what is said of the server
        raise SourceTrouble("The address holds a user or a password.", remedy="Give them beside it.")
    if parts.scheme == "http" and not _is_here(parts.hostname):
        raise SourceTrouble("Without TLS a password can be read on its way.", remedy="Use an address with https.")
    with httpx2.Client(
        auth=(user, password),
        timeout=ANSWER_SECONDS,
        follow_redirects=False,
        trust_env=False,
        verify=context_for(certificate) if certificate else True,
    ) as client:
        yield Dav(client, url, kind, monotonic)


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@contextmanager
def _troubles(url: str, where: str, line: _Line) -> Generator[None, None, None]:
    try:
        yield
    except httpx2.TimeoutException as error:
        raise SourceTrouble(f"{where} did not answer for {ANSWER_SECONDS:.0f} seconds.", remedy=AGAIN) from error
    except httpx2.ConnectError as error:
        _require_tls(url, error)
        raise SourceTrouble(f"{where} cannot be reached.", remedy="Check the address, and the network.") from error
    except (httpx2.RemoteProtocolError, httpx2.DecodingError) as error:
        if not line.is_closed:
            raise _no_answer(where) from error
        raise SourceTrouble(f"{where} closed the connection in the middle.", remedy=AGAIN) from error
    except httpx2.HTTPError as error:
        raise SourceTrouble(f"{where} closed the connection in the middle.", remedy=AGAIN) from error
    except httpx2.InvalidURL as error:
        raise SourceTrouble(f"{where} is no address.", remedy="It begins with https://.") from error


def _require_tls(url: str, error: BaseException) -> None:
    """Raises: SourceTrouble, where it was TLS that failed."""
    parts, cause = urlsplit(url), error
    while cause.__cause__ or cause.__context__:
        cause = cause.__cause__ or cause.__context__ or cause
        if isinstance(cause, ssl.SSLCertVerificationError):
            shown = shown_at(parts.hostname or "", parts.port or HTTPS_PORT, ANSWER_SECONDS)
            raise unfitting(parts.netloc, cause.verify_message, shown) from error
        if isinstance(cause, ssl.SSLError):
            raise SourceTrouble(f"{parts.netloc} does not speak TLS there.", remedy="Check the port.") from error


def _propfind(wanted: str) -> str:
    return f"<propfind {_SPACES}><prop>{wanted}</prop></propfind>"


def _nothing(_: Element) -> tuple[Any, ...]:
    return ()


def _texts(name: str) -> _Read:
    return lambda element: (_text(element, name),)


def _described(element: Element) -> tuple[Any, ...]:
    """Of a calendar or address book: what it is, its name and mark, and whether it says itself what changed."""
    kinds = [kind.tag for told in element.iter("resourcetype") for kind in told]
    can_sync = any(True for _ in element.iter("sync-collection"))
    return kinds, _text(element, "displayname"), _text(element, "getctag"), can_sync


def _href_in(element: Element, name: str) -> str:
    told = ((one.findtext("href") or "").strip() for one in element.iter(name))
    return next(filter(None, told), "")


def _here(url: str, href: str) -> str:
    """On the server that was asked, also where it is called otherwise behind a proxy."""
    told = urlsplit(urljoin(url, href))
    asked = urlsplit(url)
    return told._replace(scheme=asked.scheme, netloc=asked.netloc).geturl()


def _seconds(retry_after: str) -> int:
    """What a server says in numbers; a date is passed over."""
    return int(retry_after) if retry_after.isascii() and retry_after.isdigit() and len(retry_after) < 10 else 0


def _text(element: Element, name: str) -> str:
    return next((told.text.strip() for told in element.iter(name) if told.text and told.text.strip()), "")


def _status(element: Element) -> int:
    """Of the whole answer, where it has one; else it is there."""
    told = (element.findtext("status") or "").split()
    return int(told[1]) if len(told) > 1 and told[1].isdigit() else 200
