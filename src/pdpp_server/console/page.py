"""What a page is: a template and its values; and the headers without which none leaves."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import cache, partial
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import quote, urlencode, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, RedirectResponse, Response

from pdpp_server.console.language import Spoken, catalogue
from pdpp_server.console.visit import COOKIE, SECURE_COOKIE, Visit
from pdpp_server.evidence.said import Said, Sentences, all_ours, ours, say
from pdpp_server.evidence.text import visible_lines
from pdpp_server.evidence.words import date_words, local_moment, many
from pdpp_server.model.activity import NOTHING, Shown

_FOLDER = Path(__file__).parent
# What pages load: address to type and content.
FILES = {
    "/pages.css": ("text/css; charset=utf-8", (_FOLDER / "pages.css").read_bytes()),
    "/pages.js": ("text/javascript; charset=utf-8", (_FOLDER / "pages.js").read_bytes()),
}
_VERSION = hashlib.sha256(b"".join(content for _, content in FILES.values())).hexdigest()[:12]
_HOST = re.compile(r"[A-Za-z0-9._-]+(?::[0-9]+)?")  # no [::1]: the policy does not know such addresses
_KEPT = "public, max-age=86400"  # their addresses change with their content


@dataclass(frozen=True, slots=True)
class Page:
    template: str
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    status: int = 200
    leads_to: str | None = None  # where its form may lead in the end, beside ourselves
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    shown: Shown = NOTHING  # of records that were read for it
    has_script: bool = False  # of our own, which nothing depends on


@dataclass(frozen=True, slots=True)
class Handed:
    """An open file that is handed over as it is; whoever answers closes it. None: nothing but headers."""

    file: BinaryIO | None
    size: int
    headers: Mapping[str, str]
    shown: Shown


@dataclass(frozen=True, slots=True)
class SeeOther:
    """The way to another page. `session` is the secret of a session that begins; an empty one ends it."""

    location: str
    session: str | None = None


def _visible(value: object, known: Sentences) -> object:
    """Every text on a page passes here: a character that cannot be seen is shown as what it is."""
    if isinstance(value, Said):
        return visible_lines(value.in_words_of(known))
    return visible_lines(value) if type(value) is str else value


def _told(text: str, known: Sentences) -> Markup:
    """A sentence of ours; what stands between backticks in it is for a terminal."""
    pieces = str(_visible(ours(text), known)).split("`")
    if len(pieces) % 2 == 0:
        return escape("`".join(pieces))
    shown = [
        escape(piece) if at % 2 == 0 else Markup("<code>{}</code>").format(piece) for at, piece in enumerate(pieces)
    ]
    return Markup("").join(shown)


def _again(asked: Mapping[str, str], **changed: str) -> str:
    """The address of what was asked, but for what is changed."""
    return urlencode({name: value for name, value in {**asked, **changed}.items() if value})


def _counted(number: int, noun: str) -> Said:
    return many(number, f"{noun}s")


def _breakable(text: str) -> Markup:
    """A name that is a mail address may break behind its sign, so that no word of it has to."""
    return escape(visible_lines(text)).replace("@", Markup("@<wbr>"))


def _record_link(handle: str, text: str, known: Sentences) -> Markup:
    """No macro of a template, which takes twice as long: a list has one of these in each line."""
    said = escape(str(_visible(text, known)))
    return Markup(f'<a href="/records/{quote(handle)}">{said}</a>')


@cache
def environment(language: str) -> Environment:
    """The templates in that language, and what is said in them."""
    known = catalogue(language)
    made = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=partial(_visible, known=known),
        extensions=[Spoken],
    )
    made.extensions[Spoken.identifier].known = known  # type: ignore[attr-defined]
    cast("dict[str, object]", made.globals)["record_link"] = partial(_record_link, known=known)
    made.filters |= {"ours": ours, "all_ours": all_ours, "told": partial(_told, known=known), "breakable": _breakable}
    return made


@dataclass(frozen=True, slots=True)
class Wall:
    """The clock on the owner's wall."""

    zone: tzinfo
    now: datetime
    language: str = "en"  # the owner's

    def at(self, time: str) -> Markup:
        """The same, where the day is known."""
        local = datetime.fromisoformat(time).astimezone(self.zone)
        return self._told(time, say("at {clock}", clock=f"{local:%H:%M %Z}"))

    def clock(self, time: str) -> Markup:
        """The same in a cell of a month, which has no room for more."""
        return _pointed(time, f"{datetime.fromisoformat(time).astimezone(self.zone):%H:%M}")

    def when(self, time: str | None) -> Markup:
        """A stored time by that clock; the exact instant is under the pointer."""
        if not time:
            return Markup(say("never").in_words_of(catalogue(self.language)))
        return self._told(time, local_moment(time, self.zone, self.now))

    def dated(self, at: str | None, day: str) -> Markup | str:
        """A time where one is known, else the day."""
        return self.when(at) if at else date_words(day)

    def _told(self, time: str, words: Said) -> Markup:
        return _pointed(time, words.in_words_of(catalogue(self.language)))


def _pointed(time: str, words: str) -> Markup:
    """With the exact instant under the pointer."""
    instant, said = escape(time), escape(words)
    # `Markup.format` would escape them as well, and take many times as long: a list has one of these in each line.
    return Markup(f'<time datetime="{instant}" title="{instant}">{said}</time>')


def rendered(page: Page, visit: Visit, *, signed_in: bool, decided_at: str | None, wall: Wall) -> Response:
    common = {
        "again": _again,
        "counted": _counted,
        "when": wall.when,
        "at": wall.at,
        "clock": wall.clock,
        "dated": wall.dated,
        "in_words": date_words,
        "signed_in": signed_in,
        "decided_at": decided_at,
        "form_token": visit.form_token,
        "here": visit.path,
        "style_version": _VERSION,
        "has_script": page.has_script,
        "language": wall.language,
        "request_id": visit.request_id,
    }
    hidden = common.keys() & page.values.keys()
    assert not hidden, f"{page.template} names {sorted(hidden)}, which every page has already"
    values = {**page.values, **common}
    html = environment(wall.language).get_template(page.template).render(values)
    headers = security_headers(page.leads_to, has_script=page.has_script)
    response = HTMLResponse(html, page.status, {**headers, **page.headers})
    if not visit.has_cookie:
        _set_cookie(response, visit, visit.cookie)
    return response


def redirected(to: SeeOther, visit: Visit) -> Response:
    response = RedirectResponse(to.location, 303, security_headers(None))
    if to.session:
        _set_cookie(response, visit, to.session)
    elif to.session is not None:
        response.delete_cookie(_cookie_name(visit), secure=visit.is_secure, httponly=True, samesite="lax")
    return response


def file_of_pages(path: str) -> Response:
    kind, content = FILES[path]
    return Response(content, headers={"Content-Type": kind, "Cache-Control": _KEPT, **security_headers(None)})


def security_headers(leads_to: str | None, *, has_script: bool = False) -> dict[str, str]:
    """Browsers hold the whole way that a form leads against `form-action`, redirects included."""
    targets = " ".join(["'self'", *([_target(leads_to)] if leads_to else [])])
    scripts = "script-src 'self'; connect-src 'self'; " if has_script else ""
    policy = f"default-src 'none'; {scripts}style-src 'self'; img-src 'self'; form-action {targets}"
    return {
        "Content-Security-Policy": f"{policy}; frame-ancestors 'none'; base-uri 'none'",
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
    }


def _target(address: str) -> str:
    """An origin; or a scheme alone, where an app opens such addresses, or where the policy has no word for the host."""
    parts = urlsplit(address)
    named = parts.scheme in {"http", "https"} and _HOST.fullmatch(parts.netloc)
    return f"{parts.scheme}://{parts.netloc}" if named else f"{parts.scheme}:"


def _cookie_name(visit: Visit) -> str:
    return SECURE_COOKIE if visit.is_secure else COOKIE


def _set_cookie(response: Response, visit: Visit, secret: str) -> None:
    """Until the browser is closed; how long the session lives is for the server to say."""
    response.set_cookie(_cookie_name(visit), secret, secure=visit.is_secure, httponly=True, samesite="lax", path="/")
