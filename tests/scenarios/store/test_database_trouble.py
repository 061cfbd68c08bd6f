"""A database in trouble: every door says so and when to come back, and goes on by itself afterwards."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

import psycopg
import pytest
from httpx2 import Response

from pdpp_server.app import create_app
from pdpp_server.errors import (
    DatabaseUnavailable,
    DisclosureLogUnavailable,
    IngestStorageError,
    QueryTimeout,
    ServerTrouble,
)
from pdpp_server.reads.services import open_services
from pdpp_server.settings import Settings
from pdpp_server.store.engines.postgres import connecting, pool
from pdpp_server.store.opened import FIRST_NAME, database_of
from tests.requirements import requirement
from tests.scenarios.cli.command import Command
from tests.scenarios.owners.town import client_of
from tests.scenarios.resource_server.chats import NOW, Api, Chats
from tests.scenarios.resource_server.writes import OwnersTools, envelope
from tests.worlds.postgres import Cluster

M1 = "/v1/streams/messages/records/m1"
CALL = {"name": "schema", "arguments": {}}
SCHEMA = {"jsonrpc": "2.0", "id": "it", "method": "tools/call", "params": CALL}
MODERN = "2026-07-28"
IN_NO_SESSION = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
ERAS = {
    "2025-11-25": {},
    MODERN: {"Mcp-Method": "tools/call", "Mcp-Name": "schema"},
}
READY = {"object": "ready", "database": True, "schema": True, "log": True}


END_ALL_OTHERS = "select pg_terminate_backend(pid) from pg_stat_activity where datname = '{database}'"
FULL = """
create function is_full() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$;
create trigger filled before insert on {table} for each row execute function is_full()
"""
SAYS = """
create function says_it() returns trigger language plpgsql as $$
    begin raise exception 'secret detail' using errcode = '{state}'; end $$;
create trigger saying before insert on {table} for each row execute function says_it()
"""
# What each SQLSTATE is told as, and whether it is worth while to come back.
SAID = {
    "53100": ("The disk of the database is full.", True),
    "53200": ("The database has too little memory for that.", True),
    "53400": ("The database was told to take no more than that.", False),
    "25006": ("The database takes no writes: it is read-only, or a standby.", True),
    "42501": ("The role of PDPP_DATABASE_URL has no right to that in the database.", True),
    "42P01": ("The tables of the database are not those that this version of pdpp-server knows.", True),
    "40001": ("Another transaction was in the way.", True),
    "40P01": ("Another transaction was in the way.", True),
    "55P03": ("Something in the database stays locked by others.", True),
    "54000": ("That is larger than what PostgreSQL has room for in one place.", False),
    "57014": ("The database ended the statement: it took too long, or somebody there ended it.", True),
    "57P01": ("The database is shutting down, or starting.", True),
    "58030": ("The database cannot read or write its own files.", False),
    "XX001": ("The database cannot read or write its own files.", False),
    "08006": ("The connection to the database was lost.", True),
}
BUGS = ("42601", "42703", "42883", "23505", "22003", "XX000", "P0001")


class Trouble:
    """A server, its database, and whoever can make trouble there."""

    def __init__(self, api: Api, folder: Path, name: str) -> None:
        self.api, self._folder, self._name = api, folder, name

    def make(self, *statements: str) -> None:
        """In the database, by whoever owns all of it; every connection of the server ends with it."""
        self.as_operator(*statements)
        self._as_operator("postgres", END_ALL_OTHERS.format(database=self._name))

    def as_operator(self, *statements: str) -> None:
        """The same, while the server's connections stay."""
        self._as_operator(self._name, *statements)

    def let_in(self, who: str) -> None:
        self._as_operator("postgres", f"alter database {self._name} allow_connections {who == 'anybody'}")
        self._as_operator("postgres", END_ALL_OTHERS.format(database=self._name))

    def _as_operator(self, database: str, *statements: str) -> None:
        with psycopg.connect(f"host={self._folder} dbname={database} user=postgres", autocommit=True) as operator:
            operator.execute("set lock_timeout = 5000")
            for statement in statements:
                operator.execute(statement.encode())

    def ask_as_agent(self, era: str, message: object = SCHEMA) -> Response:
        """At the hosted door; in the later era what a request is stands in its headers too."""
        bearer = {"Authorization": f"Bearer {self.api.chats.token}", "MCP-Protocol-Version": era}
        return self.api.client.post("/mcp", json=message, headers={**bearer, **ERAS.get(era, {})})

    def ask_everywhere(self) -> dict[str, Response]:
        """One request at every door: a point read, a search, a write, clients, pages."""
        api, tools = self.api, OwnersTools(self.api)
        return {
            "fetch": api.get(M1),
            "search": api.get("/v1/search?q=pizza"),
            "ingest": tools.post("messages", envelope("n1", "words")),
            "revoke": api.client.post("/oauth/revoke", data={"token": "x"}),
            "page": api.client.get("/sources", headers={"Accept": "text/html"}, follow_redirects=False),
        }


def breaks_reads(state: str) -> str:
    """Whoever asks whose rows these are is told that: no row can be read then."""
    return f"""
create or replace function named_owner() returns bigint language plpgsql as $$
    begin raise exception 'secret detail' using errcode = '{state}'; end $$
"""


@contextmanager
def served(settings: Settings, postgres: Cluster) -> Generator[Trouble, None, None]:
    chats = Chats(settings.home, database_of(settings))
    name = urlsplit(str(settings.database_url)).path.removeprefix("/")
    with chats.serving() as api:
        yield Trouble(api, postgres.folder, name)
    chats.services.close()


@pytest.fixture
def settings(postgres: Cluster, tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", database_url=postgres.fresh())


@pytest.fixture
def trouble(settings: Settings, postgres: Cluster) -> Iterator[Trouble]:
    with served(settings, postgres) as trouble:
        yield trouble


@requirement("store.engines.setting")
def test_every_door_says_when_to_come_back_and_answers_when_the_database_is_back(trouble: Trouble) -> None:
    before = {door: answer.status_code for door, answer in trouble.ask_everywhere().items()}
    trouble.let_in("nobody")
    refused = trouble.ask_everywhere()
    ready, live = trouble.api.get("/readyz", token=None), trouble.api.get("/livez", token=None)
    trouble.let_in("anybody")
    after = {door: answer.status_code for door, answer in trouble.ask_everywhere().items()}

    assert {door: answer.status_code for door, answer in refused.items()} == dict.fromkeys(refused, 503)
    assert all(int(answer.headers["Retry-After"]) > 0 for answer in refused.values())
    assert (ready.status_code, live.status_code) == (503, 200)
    assert ready.json() == {"object": "ready", "database": False, "schema": False, "log": False}
    assert int(ready.headers["Retry-After"]) > 0
    assert after == before
    assert trouble.api.get("/readyz", token=None).json() == READY


@requirement("mcp.hosted.trouble", "store.engines.setting")
@pytest.mark.parametrize("era", ERAS)
def test_an_agent_is_told_when_to_come_back_in_either_era(trouble: Trouble, era: str) -> None:
    message = {**SCHEMA, "params": {**CALL, "_meta": IN_NO_SESSION}} if era == MODERN else SCHEMA
    before = trouble.ask_as_agent(era, message)
    trouble.let_in("nobody")
    refused = [trouble.ask_as_agent(era, message) for _ in range(2)]
    trouble.let_in("anybody")
    after = trouble.ask_as_agent(era, message)

    assert (before.status_code, after.status_code) == (200, 200)
    assert "result" in after.json()
    for answer in refused:
        told = answer.json()
        assert answer.status_code == (503 if era == MODERN else 200)
        assert int(answer.headers["Retry-After"]) > 0
        assert (told["id"], told["error"]["code"]) == ("it", -32603)
        assert "database_unavailable: The database cannot be reached" in told["error"]["message"]
        assert told["error"]["data"]["error"]["request_id"] == answer.headers["Request-Id"]


@requirement("mcp.hosted.trouble")
def test_what_cannot_be_logged_is_refused_to_an_agent_with_when_to_come_back(trouble: Trouble) -> None:
    answer = trouble.ask_as_agent("2025-11-25")
    assert answer.status_code == 200
    trouble.make(FULL.replace("{table}", "disclosures"))
    refused, batch = trouble.ask_as_agent("2025-11-25"), trouble.ask_as_agent("2025-03-26", [SCHEMA, SCHEMA])
    trouble.make("drop trigger filled on disclosures")

    assert (refused.status_code, refused.headers["Retry-After"]) == (200, "5")
    assert refused.json()["error"]["data"]["error"]["code"] == "disclosure_log_unavailable"
    assert batch.status_code == 200
    assert ["disclosure_log_unavailable" in str(part["error"]) for part in batch.json()] == [True, True]
    assert trouble.ask_as_agent("2025-11-25").json()["id"] == "it"


@requirement("store.engines.refused")
def test_a_full_disk_of_the_database_is_said_with_what_to_do(trouble: Trouble) -> None:
    trouble.make(FULL.replace("{table}", "disclosures"), FULL.replace("{table}", "records").partition("$$;")[2])
    read, written = trouble.api.get(M1), OwnersTools(trouble.api).post("messages", envelope("n99", "words"))
    trouble.make("drop trigger filled on disclosures", "drop trigger filled on records")

    for refused, code in ((read, "disclosure_log_unavailable"), (written, "ingest_batch_storage_error")):
        error = refused.json()["error"]
        assert (refused.status_code, error["code"]) == (503, code)
        assert "The disk of the database is full." in error["message"]
        assert "give it room" in str(error)
        assert int(refused.headers["Retry-After"]) > 0
    assert trouble.api.get(M1).status_code == 200


@requirement("store.engines.refused")
@pytest.mark.parametrize("state", SAID)
def test_what_the_database_refuses_is_told_as_what_it_is(trouble: Trouble, state: str) -> None:
    message, is_worth_while = SAID[state]
    second = SAYS.partition("$$;")[2].format(table="records")
    trouble.make(SAYS.format(state=state, table="disclosures"), second)
    read, written = trouble.api.get(M1), OwnersTools(trouble.api).post("messages", envelope("n99", "words"))
    trouble.make("drop trigger saying on disclosures", "drop trigger saying on records", breaks_reads(state))
    unread = trouble.api.get(M1)

    codes = ("disclosure_log_unavailable", "ingest_batch_storage_error", "database_unavailable")
    for refused, code in zip((read, written, unread), codes, strict=True):
        error = refused.json()["error"]
        assert (refused.status_code, error["code"]) == (503, code)
        assert error["message"].endswith(message)
        assert "secret detail" not in refused.text
        assert ("Retry-After" in refused.headers) is is_worth_while


@requirement("store.engines.refused")
@pytest.mark.parametrize("state", BUGS)
def test_a_wrong_statement_is_a_bug_and_logged_as_one(
    trouble: Trouble, state: str, caplog: pytest.LogCaptureFixture
) -> None:
    trouble.make(breaks_reads(state))
    answer = trouble.api.get(M1)

    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "api_error")
    assert "Retry-After" not in answer.headers
    assert "secret detail" not in answer.text
    assert caplog.records, "nobody could find out why"


@requirement("store.deadlines.query", "store.engines.refused")
def test_a_read_that_somebody_else_ends_did_not_take_too_long(settings: Settings, postgres: Cluster) -> None:
    database = database_of(settings)
    with pytest.raises(DatabaseUnavailable, match="somebody there ended it"), database.reading() as reading:
        reading.one("select pg_cancel_backend(pg_backend_pid()), pg_sleep(30)")
    with database.reading() as reading:
        assert reading.one("select 1") == 1
    database.close()


@requirement("store.deadlines.query")
def test_a_read_that_takes_too_long_at_its_beginning_is_asked_once(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = database_of(settings, read_seconds=0.3)
    with database.reading():
        pass  # so that a connection is idle
    monkeypatch.setattr(pool, "connect", lambda _: pytest.fail("It was asked again on another connection."))
    with pytest.raises(QueryTimeout, match=r"longer than 0\.3 s"), database.reading(("select pg_sleep(?)", (30,))):
        pass
    database.close()


@requirement("store.engines.refused")
def test_a_database_that_takes_no_writes_is_refused_at_the_start_with_why(
    settings: Settings, postgres: Cluster
) -> None:
    name = urlsplit(str(settings.database_url)).path.removeprefix("/")
    with psycopg.connect(postgres.operator_url, autocommit=True) as operator:
        operator.execute(f"alter database {name} set default_transaction_read_only = on".encode())
    with pytest.raises(ServerTrouble, match="takes no writes: it is read-only, or a standby") as told:
        database_of(settings)
    assert "primary" in told.value.remedy


@requirement("store.engines.refused")
def test_missing_rights_are_said_with_what_to_do(trouble: Trouble) -> None:
    assert trouble.api.get(M1).status_code == 200
    trouble.make("revoke insert on disclosures from pdpp")
    unlogged = trouble.api.get(M1)
    trouble.make("grant insert on disclosures to pdpp", "revoke select on records from pdpp")
    unread = trouble.api.get(M1)
    trouble.make("grant select on records to pdpp")

    assert (unlogged.status_code, unlogged.json()["error"]["code"]) == (503, "disclosure_log_unavailable")
    assert (unread.status_code, unread.json()["error"]["code"]) == (503, "database_unavailable")
    for refused in (unlogged, unread):
        assert "has no right" in refused.json()["error"]["message"]
        assert int(refused.headers["Retry-After"]) > 0
    assert trouble.api.get(M1).status_code == 200


@requirement("store.engines.refused")
def test_a_schema_of_another_version_is_told_to_the_balancer(trouble: Trouble) -> None:
    trouble.make("update schema_version set version = version + 2")
    told = trouble.api.get("/readyz", token=None)

    assert (told.status_code, told.json()) == (503, {**READY, "schema": False})


@requirement("store.engines.refused")
@pytest.mark.parametrize("steps", [2, -1])
def test_a_schema_that_became_another_under_a_server_is_refused(trouble: Trouble, steps: int) -> None:
    writing = trouble.api.chats.services.database.writing
    assert trouble.api.get(M1).status_code == 200
    trouble.as_operator(f"update schema_version set version = version + {steps}")
    refused = trouble.api.get(M1)
    with pytest.raises(IngestStorageError, match="The database has schema"), writing():
        pass
    trouble.as_operator(f"update schema_version set version = version - {steps} + 1")  # the next works beside this one

    error = refused.json()["error"]
    assert (refused.status_code, error["code"], refused.headers["Retry-After"]) == (503, "database_unavailable", "5")
    assert "The database has schema" in error["message"]
    assert trouble.api.get(M1).status_code == 200
    with writing():
        pass


@requirement("store.engines.refused")
@pytest.mark.parametrize("was_read", [True, False])
@pytest.mark.parametrize(
    ("breaks", "mends"),
    [
        ("revoke insert on disclosures from pdpp", "grant insert on disclosures to pdpp"),
        (FULL.format(table="disclosures"), "drop trigger filled on disclosures"),
    ],
)
def test_the_balancer_is_told_that_no_line_can_be_kept(
    trouble: Trouble, breaks: str, mends: str, was_read: bool
) -> None:
    statuses = [trouble.api.get(M1).status_code] if was_read else []
    trouble.make(breaks)
    statuses += [trouble.api.get(M1).status_code] if was_read else []
    told = trouble.api.get("/readyz", token=None)
    trouble.make(mends)
    ready = trouble.api.get("/readyz", token=None)

    assert statuses == ([200, 503] if was_read else [])
    assert (told.status_code, told.json()) == (503, {**READY, "log": False})
    assert (ready.status_code, ready.json()) == (200, READY)
    assert len(trouble.api.chats.log_lines()) == (1 if was_read else 0)  # what was tried is not among them


@requirement("store.engines.keys")
@pytest.mark.parametrize(("key", "why"), [(bytes(64), "by another key"), (b"short", "holds none"), (b"", "holds none")])
def test_another_wrapping_key_is_told_before_anybody_asks(settings: Settings, key: bytes, why: str) -> None:
    folder = settings.home.parent
    chats = Chats(settings.home, database_of(settings))
    with chats.serving() as api:
        assert api.get(M1).status_code == 200
    folder.joinpath("other.key").write_bytes(key)
    other = replace(settings, key_file=folder / "other.key", owner=FIRST_NAME)
    strangers = open_services(other.home, now=lambda: NOW, database=database_of(other))
    with client_of(create_app(other, strangers)) as client:
        told = client.get("/readyz")
        refused = client.get(M1, headers={"Authorization": f"Bearer {chats.token}"})
    looked = Command(settings.home, folder)(
        "doctor", "--json", PDPP_DATABASE_URL=str(other.database_url), PDPP_KEY_FILE=str(other.key_file)
    )
    with pytest.raises(DisclosureLogUnavailable, match=why):  # of everybody's
        create_app(replace(other, owner=None))
    for services in (strangers, chats.services):
        services.close()

    assert (told.status_code, told.json()) == (503, {**READY, "log": False})
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "disclosure_log_unavailable")
    assert why in refused.json()["error"]["message"]
    assert "keys" in [part["part"] for part in looked.json["parts"] if not part["well"]]


@requirement("store.engines.refused")
def test_a_database_that_is_too_old_is_refused(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psycopg.ConnectionInfo, "server_version", 140_012)
    with pytest.raises(ServerTrouble, match="PostgreSQL 14") as told:
        database_of(settings)
    assert "15 or newer" in told.value.remedy


@requirement("store.engines.pool")
def test_a_process_opens_no_more_connections_than_it_may(
    settings: Settings, postgres: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "WAIT_SECONDS", 0.05)
    database = database_of(replace(settings, database_connections=1))
    is_busy, may_go = Event(), Event()

    def keep_busy() -> None:
        with database.reading():
            is_busy.set()
            may_go.wait(10)

    busy = Thread(target=keep_busy)
    busy.start()
    is_busy.wait(10)
    with pytest.raises(DatabaseUnavailable, match="All 1 connections") as told, database.reading():
        pass
    may_go.set()
    busy.join()
    with database.reading() as reading:
        assert reading.one("select count(*) from pg_stat_activity where datname = current_database()") == 1
    assert "PDPP_DATABASE_CONNECTIONS" in told.value.remedy
    database.close()


@requirement("store.engines.pool")
def test_of_several_hosts_the_one_that_takes_writes_is_used(settings: Settings, postgres: Cluster) -> None:
    address = str(settings.database_url).replace("host=", "target_session_attrs=read-write&host=/nowhere,")
    given = Settings.from_environ({"PDPP_DATABASE_URL": address, "PDPP_HOME": str(settings.home)})
    several = Settings.from_environ({"PDPP_DATABASE_URL": "postgresql://me@one:5432,two:5433/pdpp"})
    database = database_of(given)
    database.close()
    assert several.database_url == "postgresql://me@one:5432,two:5433/pdpp"


@requirement("store.engines.pool")
def test_what_the_address_says_of_tls_is_for_libpq(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def connect(conninfo: str, **_: object) -> None:
        said.append(conninfo)
        raise psycopg.OperationalError("certificate verify failed for me:sesame@there")

    monkeypatch.setattr(connecting.PostgresConnection, "connect", connect)
    address = "postgresql://me:sesame@there/pdpp?sslmode=verify-full&sslrootcert=/etc/ca.pem&connect_timeout=2"
    with pytest.raises(DatabaseUnavailable, match="certificate verify failed") as told:
        connecting.connect(address)

    assert {"sslmode=verify-full", "sslrootcert=/etc/ca.pem", "connect_timeout=2"} < set(said[0].split())
    assert "sesame" not in told.value.message
