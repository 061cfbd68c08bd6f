"""A browser without a screen: it keeps cookies, and sends forms as they stand on the page."""

import re
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from html.parser import HTMLParser
from typing import Any
from unittest.mock import patch
from urllib.parse import urlencode

from httpx2 import Client, Response
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from pdpp_server.app import create_app
from pdpp_server.owner import sign_in
from pdpp_server.owner.sign_in import SignIn
from pdpp_server.settings import Settings
from tests.worlds.served import served
from tests.worlds.world import World

PASSWORD = "a quiet harbour at night"
ORIGIN = "http://127.0.0.1"

Pairs = list[tuple[str, str]]


class Forms(HTMLParser):
    """The fields of each form by its action, as a browser would send them untouched."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, Pairs] = {}
        self._action, self._select = "", ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._action = found.get("action", "")
            self.fields[self._action] = []
        elif tag == "select":
            self._select = found["name"]
        elif tag == "option" and "selected" in found:
            self.fields[self._action].append((self._select, found["value"]))
        elif tag == "input" and "name" in found and _is_sent(found):
            self.fields[self._action].append((found["name"], found.get("value", "")))


def _is_sent(field: dict[str, str]) -> bool:
    return "disabled" not in field and (field.get("type") not in {"checkbox", "radio"} or "checked" in field)


def fields_of(html: str, action: str) -> Pairs:
    parsed = Forms()
    parsed.feed(html)
    return parsed.fields[action]


class Visitor:
    def __init__(self, http: Client, door: SignIn) -> None:
        self.http, self.door = http, door

    @property
    def origin(self) -> str:
        return str(self.http.base_url).rstrip("/")

    def get(self, path: str) -> Response:
        return self.http.get(path, headers={"Accept": "text/html"}, follow_redirects=False)

    def page(self, path: str) -> str:
        response = self.get(path)
        assert response.status_code == 200, (response.status_code, response.headers.get("location"), response.text)
        return response.text

    def post(self, path: str, fields: Pairs, **headers: str) -> Response:
        sent = {"Origin": self.origin, "Content-Type": "application/x-www-form-urlencoded", **headers}
        return self.http.post(path, content=urlencode(fields), headers=sent, follow_redirects=False)

    def send(self, page: str, action: str, /, **filled: Any) -> Response:
        """The form as it stands on that page, with some fields filled in or, with None, taken out."""
        standing = [(name, value) for name, value in fields_of(page, action) if name not in filled]
        return self.post(action, standing + [(name, str(value)) for name, value in filled.items() if value is not None])

    def wear(self, secret: str) -> None:
        """That cookie and no other."""
        self.http.cookies.clear()
        self.http.cookies.set("pdpp", secret)

    def sign_in(self, password: str = PASSWORD, to: str = "/") -> Response:
        return self.send(self.page(f"/sign-in?next={to}"), "/sign-in", password=password)

    def allow(self, consent: str, **chosen: str) -> Response:
        """What is asked on that page, with what the owner chooses, reviewed and approved."""
        reviewed = self.send(self.page(consent), "/consent", action="review", **chosen)
        return self.send(reviewed.text, "/consent", action="approve")

    def end(self, client: str) -> Response:
        """One click at the newest card of that client, and one more at the question."""
        page = self.page("/clients")
        card = next(card for card in page.split("<article")[1:] if client in card)
        (action,) = re.findall(r'action="(/clients/[^"]+)"', card)
        return self.send(self.send(page, action).text, action)


def cheap_passwords() -> AbstractContextManager[object]:
    """What makes guessing slow would make tests slow."""
    return patch.multiple(sign_in, MEMORY_KIB=64, ITERATIONS=1)


@contextmanager
def visiting(world: World, *, password: str | None = PASSWORD, **settings: Any) -> Generator[Visitor]:
    """Somebody at the door of that world's pages."""
    if password:
        SignIn(world.services).set_password(password)
    app = create_app(Settings(home=world.home, **settings), world.services)
    with TestClient(app, base_url=ORIGIN) as http:
        yield Visitor(http, app.state.sign_in)


@contextmanager
def at_home(world: World, app: ASGIApp) -> Generator[Visitor]:
    """The owner, signed in at the pages of that server, which listens on a loopback socket."""
    door = SignIn(world.services)
    with cheap_passwords(), served(app) as address, Client(base_url=address) as http:
        door.set_password(PASSWORD)
        owner = Visitor(http, door)
        assert owner.sign_in().status_code == 303
        yield owner


def shown(html: str) -> str:
    """The text of a page, on one line."""
    inside = re.sub(r"(?s)<head>.*?</head>", "", html)
    return " ".join(re.sub(r"<[^>]+>", " ", inside).split())
