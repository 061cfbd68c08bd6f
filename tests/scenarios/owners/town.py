"""A server for several owners on one database: each with the same chats, and words of their own in them."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from starlette.applications import Starlette
from starlette.testclient import TestClient

from pdpp_server.many_owners import OwnersApp
from pdpp_server.one_owner import services_on
from pdpp_server.owner.desk import Owner
from pdpp_server.owner.owners import OwnersDesk
from pdpp_server.reads.services import Services
from pdpp_server.settings import Settings
from pdpp_server.store.opened import open_owners
from pdpp_server.store.owners import Owners
from pdpp_server.wire.grants import decode_selection
from tests.worlds import chat

NAMES = ("ada", "bob")
PASSWORD = "a long password of {name}"
_FORM_TOKEN = re.compile(r'name="form_token" value="([^"]*)"')


class Resident:
    """One owner's share, filled; what a client and the owner hold of it."""

    def __init__(self, town: "Town", name: str) -> None:
        self.name, self.invitation = name, town.desk.add(name)
        self.number = self.invitation.owner.number
        self.services: Services = services_on(town.owners.database(self.number), town.settings)
        self.desk = Owner(self.services, town.settings.home)
        self.password = PASSWORD.format(name=name)
        writer = self.desk.writer(chat.DECLARATION, chat.WORK)
        writer.deliver([chat.message("m1", text=f"The lease of {name}.", sent_at="2026-03-05T09:00:00Z")])
        writer.deliver([chat.message("m2", text=f"Lunch with {name}.", sent_at="2026-03-06T09:00:00Z")])
        self.connection_id = writer.connection_id
        selection = decode_selection([chat.detail({"name": "messages", "instance_ids": [self.connection_id]})])
        issued = self.desk.create_grant(selection, "Agent", None)
        self.token, self.grant_id = issued.token, issued.grant_id
        self.owner_token, _ = self.desk.owner_token(days=1)


class Town:
    def __init__(self, url: str, home: Path, **settings: Any) -> None:
        self.settings = Settings(home=home, database_url=url, **settings)
        self.owners: Owners = open_owners(self.settings)
        self.desk = OwnersDesk(self.owners, lambda: datetime.now(UTC))
        self.home = home
        self.residents = {name: Resident(self, name) for name in NAMES}

    def __getitem__(self, name: str) -> Resident:
        return self.residents[name]

    @contextmanager
    def serving(self) -> Generator["Door", None, None]:
        with client_of(OwnersApp(self.settings)) as client:
            yield Door(client, self["ada"].connection_id)

    def close(self) -> None:
        self.owners.close()


def client_of(app: Starlette) -> TestClient:
    return TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 50_000), follow_redirects=False)


class Door:
    """The one address of all of them."""

    def __init__(self, client: TestClient, connection_id: str) -> None:
        self.client, self.connection_id = client, connection_id

    def get(self, path: str, token: str | None = None, cookie: str | None = None) -> httpx2.Response:
        self.client.cookies.clear()
        headers = {"Accept": "text/html" if token is None else "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if cookie is not None:
            headers["Cookie"] = f"pdpp={cookie}"
        return self.client.get(path, headers=headers)

    def post(self, path: str, **sent: Any) -> httpx2.Response:
        """As a program does, which has no cookies."""
        self.client.cookies.clear()
        return self.client.post(path, **sent)

    def post_form(self, page: str, cookie: str | None = None, **form: str) -> httpx2.Response:
        """As somebody would who opened the page before."""
        shown = self.get(page, cookie=cookie)
        found = _FORM_TOKEN.search(shown.text)
        assert found, shown.text
        held = cookie or shown.cookies["pdpp"]
        headers = {"Cookie": f"pdpp={held}", "Accept": "text/html"}
        self.client.cookies.clear()
        return self.client.post(urlsplit(page).path, data={"form_token": found[1], **form}, headers=headers)

    def take_invitation(self, link: str, password: str) -> httpx2.Response:
        return self.post_form(f"/invited?link={link}", link=link, password=password, again=password)

    def sign_in(self, name: str, password: str) -> httpx2.Response:
        return self.post_form("/sign-in", name=name, password=password)

    def signed_in(self, name: str, password: str) -> str:
        """The cookie of a new session."""
        answered = self.sign_in(name, password)
        assert answered.status_code == 303, answered.text
        return answered.cookies["pdpp"]


def query_of(address: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
