"""Every address of the pages, and what each request passes: the sign-in, the check of forms, the page of a refusal."""

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import BinaryIO
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from pdpp_server.console import (
    activity,
    attachments,
    bringing,
    changing,
    clients,
    connect,
    consent,
    following,
    home,
    records,
    search,
    sign_in,
    sources,
    streams,
    timeline,
)
from pdpp_server.console.desks import Desks, PageHandler, Shaped
from pdpp_server.console.page import FILES, Handed, Page, SeeOther, Wall, file_of_pages, redirected, rendered
from pdpp_server.console.receiving import received
from pdpp_server.console.visit import COOKIE, SECURE_COOKIE, Visit, unreadable_form
from pdpp_server.errors import InvalidRequest, Misdirected, PdppError, Unauthenticated
from pdpp_server.evidence.refusals import message_text, remedy_text
from pdpp_server.evidence.said import say
from pdpp_server.http.bodies import body_of
from pdpp_server.http.file_body import FileBody
from pdpp_server.http.heard import HEADERS, HeardRequest
from pdpp_server.http.kernel import Kernel
from pdpp_server.http.people import Trouble, wants_page
from pdpp_server.model.activity import NOTHING
from pdpp_server.model.pending import Leaving, Pending

FORM_BYTES, FORM_FIELDS = 256 * 1024, 5000
# What programs are told in words of their own: code to what a person makes of it.
FOR_PEOPLE = {
    Unauthenticated.code: (
        say("This address is for programs. They show a token here, which a browser does not have."),
        say(
            "An agent is given the address that ends in /mcp, and then sends you to your own page to say yes. "
            "What is kept here is on your pages."
        ),
    ),
    Misdirected.code: (
        say("This server does not answer under the name by which you called it."),
        say(
            "Use the address that `pdpp serve` printed; "
            "or let it know this name: PDPP_TRUSTED_HOSTS or PDPP_PUBLIC_URL."
        ),
    ),
}
FORM_TYPE = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Address:
    """`is_open` ones are answered without a sign-in; one that `takes_files` gets them as they arrive."""

    path: str
    show: PageHandler
    take: PageHandler | None = None  # a form
    is_open: bool = False
    is_of_clients: bool = False  # about who may read what
    takes_files: bool = False


ADDRESSES = (
    Address("/sign-in", sign_in.show, sign_in.take, is_open=True),
    Address("/welcome", sign_in.show_welcome, sign_in.take_welcome, is_open=True),
    Address("/invited", sign_in.show_invited, sign_in.take_invited, is_open=True),
    Address("/sign-out", home.show, sign_in.sign_out),
    Address("/consent", consent.show, consent.take, is_of_clients=True),
    Address("/device", consent.show_device, consent.take_device, is_of_clients=True),
    Address("/clients", clients.show_all, is_of_clients=True),
    Address("/clients/{grant_id}", clients.show, clients.end, is_of_clients=True),
    Address("/clients/{grant_id}/why", clients.why, is_of_clients=True),
    Address("/clients/{grant_id}/change", changing.show, changing.take, is_of_clients=True),
    Address("/clients/{grant_id}/note", clients.show, changing.note, is_of_clients=True),
    Address("/clients/{grant_id}/preview", changing.preview, is_of_clients=True),
    Address("/activity", activity.show, activity.keep),
    Address("/records/{handle:path}", records.show),
    Address("/attachments/{blob_id}", attachments.hand_over),
    Address("/search", search.show),
    Address("/sources", sources.show_all),
    Address("/sources/{connection_id}", sources.show),
    Address("/sources/{connection_id}/{stream}", streams.show),
    Address("/timeline", timeline.show),
    Address("/import", bringing.show, bringing.show, takes_files=True),
    Address("/import/{upload_id}", bringing.show_one, bringing.take),
    Address("/follow", following.show, following.take),
    Address("/follow/stop", following.show, following.stop),
    Address("/follow/again", following.show, following.again),
    Address("/follow/let-go", following.show, following.let_go),
    Address("/remove/{connection_id}", sources.show_removing, sources.remove),
    Address("/connect", connect.show, is_of_clients=True),
)
HOME = Address("/", home.show)  # for browsers; programs find the index of the API there


class Console:
    """A look at a password or at a long log takes its time; reads of agents do not wait for it."""

    def __init__(self, desks: Desks, kernel: Kernel) -> None:
        self._desks, self._kernel = desks, kernel

    def routes(self) -> list[Route]:
        """Where tokens are given elsewhere, who may read is decided there: then there are no pages of clients."""
        is_elsewhere = self._desks.decided_at is not None
        served = [address for address in ADDRESSES if not (is_elsewhere and address.is_of_clients)]
        pages = [self._kernel.route(each.path, "page", partial(self._answer, each)) for each in served]
        home = self._kernel.route(HOME.path, "page", partial(self._answer, HOME))
        files = [self._kernel.route(path, "page", partial(_file, path)) for path in FILES]
        return [ForBrowsers(HOME.path, home.endpoint), *pages, *files]

    async def _answer(self, address: Address, request: HeardRequest) -> Response:
        posted = request.method == "POST" and address.take is not None
        if not posted and request.method not in {"GET", "HEAD"}:
            raise HTTPException(405, headers={"Allow": "GET, POST" if address.take else "GET"})
        if posted and address.takes_files:
            return await self._receive(request)
        visit = visit_of(self._desks, request, await self._form(request) if posted else ())
        return await self._kernel.threads.flow(partial(self._respond, address, request, visit))

    async def _receive(self, request: HeardRequest) -> Response:
        """Whose form it is gets known before its first file is kept."""
        visit = visit_of(self._desks, request)
        if not await self._kernel.threads.flow(partial(is_signed_in, self._desks, visit)):
            return redirected(self._way_in(visit), visit)
        threads = self._kernel.threads
        id = await received(request, visit, self._desks.uploads, self._desks.upload_bytes, threads)
        return redirected(SeeOther(f"/import/{id}"), visit)

    def _respond(self, address: Address, request: HeardRequest, visit: Visit) -> Response:
        signed_in = is_signed_in(self._desks, visit)
        render = partial(
            rendered, visit=visit, signed_in=signed_in, decided_at=self._desks.decided_at, wall=wall_of(self._desks)
        )
        try:
            answer = self._admitted(address, visit, signed_in=signed_in)
            if isinstance(answer, Pending):
                return answer.leave(partial(_sent, visit, render))
        except PdppError as refusal:
            refusal.request_id = visit.request_id
            request.course.code = refusal.code
            answer = refusal_page(refusal)
        return redirected(answer, visit) if isinstance(answer, SeeOther) else render(answer)

    def _admitted(self, address: Address, visit: Visit, *, signed_in: bool) -> Shaped:
        if not (address.is_open or signed_in):
            return self._way_in(visit)
        if visit.method != "POST" or address.take is None:
            return address.show(self._desks, visit)
        visit.require_own_form()
        return address.take(self._desks, visit)

    def _way_in(self, visit: Visit) -> SeeOther:
        """To the sign-in and back; a form whose session ended is opened anew."""
        door = "/sign-in" if self._desks.sign_in.has_password else "/welcome"
        query = f"?{'&'.join(f'{quote(k)}={quote(v)}' for k, v in visit.query.items())}" if visit.query else ""
        return SeeOther(f"{door}?next={quote(visit.path + query, safe='')}")

    async def _form(self, request: HeardRequest) -> tuple[tuple[str, str], ...]:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM_TYPE:
            raise InvalidRequest(say("A form is sent as {type}.", type=FORM_TYPE), param="Content-Type")
        body = await body_of(request, FORM_BYTES)
        try:
            return tuple(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=FORM_FIELDS))
        except ValueError:
            raise unreadable_form() from None


def visit_of(desks: Desks, request: HeardRequest, form: tuple[tuple[str, str], ...] = ()) -> Visit:
    public = urlsplit(desks.public_url or "")
    host = request.headers.get("host", "").lower()
    is_secure = request.url.scheme == "https" or (public.scheme == "https" and public.netloc.lower() == host)
    given = request.cookies.get(SECURE_COOKIE if is_secure else COOKIE)
    return Visit(
        method=request.method,
        path=request.scope["path"],
        named={name: unquote(value) for name, value in request.path_params.items()},
        query=dict(parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)),
        form=form,
        cookie=given or secrets.token_urlsafe(32),
        has_cookie=bool(given),
        is_secure=is_secure,
        address=request.client.host if request.client else "",
        origin=desks.public_url or str(request.base_url).rstrip("/"),
        hosts=frozenset({host, public.netloc.lower()} - {""}),
        sent_from=request.headers.get("origin"),
        site=request.headers.get("sec-fetch-site"),
        request_id=request.course.request_id,
    )


def is_signed_in(desks: Desks, visit: Visit) -> bool:
    return visit.has_cookie and desks.sign_in.is_signed_in(visit.cookie)


def is_owner(desks: Desks, request: HeardRequest) -> bool:
    """Whether it comes from a browser in which the owner is signed in."""
    return is_signed_in(desks, visit_of(desks, request))


def trouble_page(desks: Desks, request: HeardRequest, trouble: Trouble) -> Response:
    """What went wrong outside of the pages, as one of them. It begins no session: nothing here is worth a cookie."""
    visit = replace(visit_of(desks, request), has_cookie=True)
    message, remedy = FOR_PEOPLE.get(trouble.code, (trouble.message, trouble.remedy))
    values = {"message": message, "remedy": remedy, "code": trouble.code, "is_missing": trouble.status == 404}
    page = Page("refusal.html", values, trouble.status, headers=trouble.headers)
    with suppress(PdppError):
        signed_in = desks.sign_in.is_signed_in(visit.cookie)
        return rendered(page, visit, signed_in=signed_in, decided_at=desks.decided_at, wall=wall_of(desks))
    return rendered(page, visit, signed_in=False, decided_at=desks.decided_at, wall=wall_of(desks))


def wall_of(desks: Desks) -> Wall:
    return Wall(desks.zone, desks.now(), desks.language)


class ForBrowsers(Route):
    """Found only by whoever asks for a page; for others, something else may stand at the same address."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return super().matches(scope) if wants_page(scope[HEADERS]) else (Match.NONE, {})


def _sent(visit: Visit, render: Callable[[Page], Response], page: Page | Handed) -> Leaving[Response]:
    if isinstance(page, Handed):
        body = Response(headers=dict(page.headers)) if page.file is None else _file_body(page.file, page)
        return Leaving(body, page.shown, page.size if page.file else 0)
    response = render(page)
    if visit.method == "HEAD":
        return Leaving(response, NOTHING, 0)
    return Leaving(response, page.shown, len(response.body))


def _file_body(file: BinaryIO, handed: Handed) -> Response:
    return FileBody(file, range(handed.size), 200, handed.headers)


async def _file(path: str, request: HeardRequest) -> Response:
    if request.method not in {"GET", "HEAD"}:
        raise HTTPException(405, headers={"Allow": "GET"})
    return file_of_pages(path)


def refusal_page(refusal: PdppError) -> Page:
    """One page, and the same words as everywhere."""
    values = {
        "message": message_text(refusal),
        "remedy": remedy_text(refusal),
        "code": refusal.code,
        "is_missing": refusal.status == 404,
    }
    waits = {"Retry-After": str(refusal.retry_after_seconds)} if refusal.retry_after_seconds else {}
    return Page("refusal.html", values, refusal.status, headers=waits)
