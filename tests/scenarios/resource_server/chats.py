"""A small life in chats: two connections of one source, and a client that may read part of it over HTTP."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from copy import copy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
from httpx2 import Response
from starlette.testclient import TestClient

from pdpp_server.app import create_app
from pdpp_server.grants.issue import issue
from pdpp_server.model.grants import TokenKind
from pdpp_server.model.ingest import Incoming
from pdpp_server.model.times import iso
from pdpp_server.reads.services import Services, open_services
from pdpp_server.settings import Settings
from pdpp_server.store.consent.grants import keep_grant, revoke
from pdpp_server.store.consent.tokens import keep_token
from pdpp_server.store.engine import Database
from pdpp_server.store.records.ingest import deliver, desks
from pdpp_server.store.records.sources import connect
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import decode_selection

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
SOURCE = {"kind": "connector", "id": "https://registry.pdpp.dev/connectors/chats"}
LONG = "🦊" * 6000 + " The overdraft <b>fee</b> & more. " + "x" * 3000
GRANTED = ["id", "subject", "text", "sent_at", "words", "size"]

DECLARATION: dict[str, Any] = {
    "protocol_version": "0.1.0",
    "source": SOURCE,
    "declaration_version": "1",
    "publisher": {"id": "https://registry.pdpp.dev/"},
    "display": {"name": "Chats"},
    "streams": [
        {
            "name": "messages",
            "semantics": "mutable_state",
            "schema": {
                "type": "object",
                "required": ["id"],
                "properties": {
                    "id": {"type": "string"},
                    "subject": {"type": "string", "x_pdpp_type": "text", "x_pdpp_role": "primary-title"},
                    "text": {"type": "string", "x_pdpp_role": "primary-body"},
                    "sent_at": {"type": "string", "format": "date-time"},
                    "words": {"type": "array"},
                    "size": {"type": "integer"},
                    "secret": {"type": "string"},
                },
            },
            "primary_key": ["id"],
            "cursor_field": "sent_at",
            "consent_time_field": "sent_at",
            "selection": {"fields": True, "resources": True},
            "views": [{"id": "heads", "label": "Heads", "fields": ["id", "subject"]}],
            "query": {
                "range_filters": {"sent_at": ["gte", "lt"]},
                "search": {"lexical_fields": ["subject", "text", "secret"]},
            },
        },
        {
            "name": "photos",
            "semantics": "append_only",
            "schema": {"type": "object", "properties": {"day": {"type": "string"}, "number": {"type": "integer"}}},
            "primary_key": ["day", "number"],
            "selection": {"fields": False, "resources": False},
        },
        {
            "name": "diary",
            "semantics": "append_only",
            "schema": {"type": "object", "properties": {"id": {"type": "string"}}},
            "primary_key": ["id"],
            "selection": {"fields": False, "resources": False},
        },
    ],
}


def message(
    key: str, subject: str, text: str = "hello", sent_at: str = "2026-11-09T11:59:00Z", **more: Any
) -> Incoming:
    data = {"id": key, "subject": subject, "text": text, "sent_at": sent_at, "secret": "zebra", **more}
    return Incoming("here", "messages", key, data, "2026-11-09T12:01:00.000Z")


WORK = [
    message("m1", "Overdraft", LONG, words=["b", {"a": 1}], size=7),
    message("a/b c?+%", "Slashed"),
    message("same", "Here twice"),
    message("old", "Overdraft of old times", sent_at="2025-01-01T00:00:00Z"),
    *(message(f"n{n}", f"Lunch {n}", "pizza or pasta") for n in range(30)),
]
HOME = [message("same", "Here twice"), message("h1", "At home", "pizza")]
PHOTO = Incoming("here", "photos", ("2026-11-01", "2"), {"day": "2026-11-01", "number": 2}, None)


class Chats:
    """One home, its server, and the tokens of those who ask."""

    def __init__(self, home: Path, database: Database | None = None) -> None:
        self.home = home
        self.now = NOW
        self.services: Services = open_services(home, now=lambda: self.now, database=database)
        self.declaration = decode_declaration(DECLARATION)
        self.work, self.mine = self._connection("Work chat", WORK), self._connection("chats", HOME)
        self.token = self.grant("grt_1", "tok_client")
        self.owner_token = self.keep_token("tok_owner", kind="owner")

    def copied(self, home: Path) -> "Chats":
        """The same in another folder, once this one is closed: much faster than to make it anew."""
        shutil.copytree(self.home, home)
        chats = copy(self)
        chats.home = home
        chats.services = open_services(home, now=lambda: chats.now)
        return chats

    @contextmanager
    def serving(self, **settings: Any) -> Generator["Api", None, None]:
        app = create_app(Settings(home=self.home, **settings), self.services)
        with TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 50_000)) as client:
            yield Api(client, self)

    def grant(
        self,
        grant_id: str,
        token: str,
        *,
        hours: int = 24,
        fields: list[str] = GRANTED,
        mode: str = "continuous",
    ) -> str:
        both = [self.work, self.mine]
        streams = [
            {
                "name": "messages",
                "instance_ids": both,
                "fields": fields,
                "time_range": {"since": "2026-01-01T00:00:00Z"},
            },
            {"name": "photos", "instance_ids": [self.work]},
        ]
        detail = {
            "type": "https://pdpp.dev/data-access",
            "source": SOURCE,
            "purpose_code": "https://pdpp.dev/purpose/x",
            "access_mode": mode,
            "streams": streams,
        }
        (selection,) = decode_selection([detail])
        held = {name: tuple(both) for name in self.declaration.streams}
        grant = issue(
            selection,
            self.declaration,
            eligible=held,
            grant_id=grant_id,
            issued_at=iso(NOW),
            subject="owner",
            client_id="cli_1",
            client_name="Agent",
            expires_at=iso(NOW + timedelta(hours=hours)),
        )
        with self.services.database.writing() as writer:
            keep_grant(writer, grant)
        return self.keep_token(token, kind="client", grant_id=grant_id, client_id="cli_1")

    def keep_token(self, token: str, *, kind: TokenKind, hours: int | None = None, **of: Any) -> str:
        expires_at = None if hours is None else iso(NOW + timedelta(hours=hours))
        with self.services.database.writing() as writer:
            keep_token(writer, token, kind=kind, now=iso(NOW), expires_at=expires_at, **of)
        return token

    def revoke(self, grant_id: str) -> None:
        with self.services.database.writing() as writer:
            revoke(writer, grant_id, iso(NOW))

    def log_lines(self) -> list[dict[str, Any]]:
        """What was disclosed, oldest first, as lists of names rather than tuples."""
        told = self.services.database.activity.recent(limit=1_000)
        return [orjson.loads(orjson.dumps(disclosure._asdict())) for disclosure in reversed(told)]

    def _connection(self, name: str, records: list[Incoming]) -> str:
        with self.services.database.writing() as writer:
            connection_id, *_ = connect(writer, self.declaration, name, subject="owner", now=iso(NOW))
        with self.services.database.reading() as reading:
            desk = desks(self.declaration, reading.layout.connections[connection_id])
        with self.services.database.writing() as writer:
            receipt = deliver(writer, desk["messages"], records, iso(NOW)) + deliver(
                writer, desk["photos"], [PHOTO], iso(NOW)
            )
        assert receipt.rejected == ()
        return connection_id


class Api:
    """Requests as a client sends them."""

    def __init__(self, client: TestClient, chats: Chats) -> None:
        self.client, self.chats = client, chats

    def send(self, method: str, path: str, *, token: str | None = "tok_client", **headers: str) -> Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            named["Authorization"] = f"Bearer {token}"
        return self.client.request(method, path, headers=named)

    def get(self, path: str, *, token: str | None = "tok_client", **headers: str) -> Response:
        return self.send("GET", path, token=token, **headers)

    def body(self, path: str, *, token: str | None = "tok_client") -> dict[str, Any]:
        response = self.get(path, token=token)
        assert response.status_code == 200, response.text
        return response.json()

    def refusal(self, path: str, *, token: str | None = "tok_client") -> tuple[int, str, str | None]:
        response = self.get(path, token=token)
        error = response.json()["error"]
        return response.status_code, error["code"], error.get("param")
