"""One setting leads to PostgreSQL, and trouble with it is told without its password."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import orjson
import psycopg
import pytest
from starlette.testclient import TestClient

from pdpp_server.app import create_app
from pdpp_server.errors import DatabaseUnavailable, ServerTrouble
from pdpp_server.reads.services import open_services
from pdpp_server.settings import InvalidSetting, Settings
from pdpp_server.store.opened import database_of
from tests.requirements import requirement
from tests.scenarios.resource_server.chats import NOW, Chats
from tests.worlds.postgres import Cluster

NOTES = [{"id": "n1", "text": "the lease of the walrus"}, {"id": "n2", "text": "bread"}]


def pdpp(home: Path, url: str, *words: str) -> str:
    """What the command prints, in a process of its own."""
    environ = {**os.environ, "PDPP_HOME": str(home), "PDPP_DATABASE_URL": url}
    environ["PDPP_KEY_FILE"] = str(home.parent / "wrapping.key")
    command = [sys.executable, "-m", "pdpp_server.cli.main", *words]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@requirement("store.engines.setting")
def test_every_process_that_has_the_setting_sees_the_same(postgres: Cluster, tmp_path: Path) -> None:
    url = postgres.fresh()
    notes = tmp_path / "notes.ndjson"
    notes.write_bytes(b"".join(orjson.dumps(note) + b"\n" for note in NOTES))
    told = orjson.loads(pdpp(tmp_path / "one", url, "import", str(notes), "--name", "Notes", "--yes", "--json"))
    assert told["accepted"] == 2

    listed = orjson.loads(pdpp(tmp_path / "two", url, "sources", "--json"))
    assert [source["connection_id"] for source in listed["connections"]] == [told["connection_id"]]
    assert not [path for path in tmp_path.rglob("*") if path.suffix == ".sqlite" or path.name == "activity"]


@requirement("store.engines.setting")
def test_a_database_that_goes_away_is_a_refusal_until_it_is_back(postgres: Cluster, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", database_url=postgres.fresh())
    chats = Chats(settings.home, database_of(settings))
    app = create_app(settings, chats.services)
    name = urlsplit(str(settings.database_url)).path.removeprefix("/")
    with (
        TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 50_000)) as client,
        psycopg.connect(postgres.operator_url, autocommit=True) as operator,
    ):
        asking = {"Authorization": f"Bearer {chats.token}"}
        before = client.get("/v1/search?q=pizza", headers=asking)
        operator.execute(f"alter database {name} allow_connections false".encode())
        operator.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [name])
        refused, unwell = client.get("/v1/search?q=pizza", headers=asking), client.get("/healthz")
        operator.execute(f"alter database {name} allow_connections true".encode())
        after, well = client.get("/v1/search?q=pizza", headers=asking), client.get("/healthz")
    chats.services.close()
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "database_unavailable")
    assert int(refused.headers["Retry-After"]) > 0
    assert (unwell.status_code, well.status_code) == (503, 200)
    assert (after.status_code, after.json()["data"]) == (200, before.json()["data"])


@requirement("store.engines.setting")
def test_what_one_server_revokes_the_next_call_to_another_refuses(postgres: Cluster, tmp_path: Path) -> None:
    url = postgres.fresh()
    here = Settings(home=tmp_path / "here", database_url=url, key_file=tmp_path / "wrapping.key")
    there = Settings(home=tmp_path / "there", database_url=url, key_file=tmp_path / "wrapping.key")
    chats = Chats(here.home, database_of(here))
    other = open_services(there.home, now=lambda: NOW, database=database_of(there))
    asking = {"Authorization": f"Bearer {chats.token}"}
    with TestClient(create_app(there, other), base_url="http://127.0.0.1", client=("127.0.0.1", 50_000)) as client:
        found = client.get("/v1/search?q=pizza", headers=asking)
        chats.revoke("grt_1")
        refused = client.get("/v1/search?q=pizza", headers=asking)
    lines = chats.log_lines()
    for services in (other, chats.services):
        services.close()

    assert (found.status_code, refused.status_code, refused.json()["error"]["code"]) == (200, 403, "grant_revoked")
    assert [line["operation"] for line in lines] == ["search"]


@requirement("store.engines.setting")
def test_a_database_that_takes_no_writes_gives_nothing_unlogged(postgres: Cluster, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", database_url=postgres.fresh())
    chats = Chats(settings.home, database_of(settings))
    name = urlsplit(str(settings.database_url)).path.removeprefix("/")
    asking = {"Authorization": f"Bearer {chats.token}"}
    with (
        TestClient(
            create_app(settings, chats.services), base_url="http://127.0.0.1", client=("127.0.0.1", 50_000)
        ) as client,
        psycopg.connect(postgres.operator_url, autocommit=True) as operator,
    ):
        for word, status in (("off", 200), ("on", 503), ("off", 200)):
            operator.execute(f"alter database {name} set default_transaction_read_only = {word}".encode())
            operator.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [name])
            answered = client.get("/v1/search?q=pizza", headers=asking)
            assert answered.status_code == status, answered.text
            if status == 503:
                assert answered.json()["error"]["code"] == "disclosure_log_unavailable"
                assert int(answered.headers["Retry-After"]) > 0
    chats.services.close()


@requirement("store.engines.refused")
def test_a_database_that_is_away_is_told_without_the_password(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, database_url="postgresql://me:sesame@127.0.0.1:1/pdpp")
    with pytest.raises(DatabaseUnavailable) as told:
        database_of(settings)
    assert "refused" in told.value.message
    assert "sesame" not in f"{told.value.message} {told.value.__cause__} {settings}"


@requirement("store.engines.refused")
@pytest.mark.parametrize("url", ["sesame", "mysql://me:sesame@here/pdpp", "postgresql://me:sesame@here:port/pdpp"])
def test_an_address_that_cannot_be_meant_is_not_repeated(url: str) -> None:
    with pytest.raises(InvalidSetting) as told:
        Settings.from_environ({"PDPP_DATABASE_URL": url})
    assert "PDPP_DATABASE_URL" in str(told.value)
    assert "sesame" not in str(told.value)


@requirement("store.engines.refused")
@pytest.mark.parametrize("password", ["open@sesame", "open@sesame/now", "open@now/sesame", "o/p@sesame"])
def test_a_password_that_looks_like_a_host_is_not_told(password: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, database_url=f"postgresql://me:{password}@127.0.0.1:1/pdpp")
    with pytest.raises((DatabaseUnavailable, ServerTrouble)) as told:
        database_of(settings)
    assert "sesame" not in f"{told.value.message} {told.value.remedy} {told.value.__cause__}"


@requirement("store.engines.refused")
def test_a_role_above_row_security_is_refused(postgres: Cluster, tmp_path: Path) -> None:
    with pytest.raises(ServerTrouble, match="row security"):
        database_of(Settings(home=tmp_path, database_url=f"postgresql://postgres@/postgres?host={postgres.folder}"))


@requirement("store.engines.refused")
def test_a_database_of_a_newer_version_is_refused(postgres: Cluster, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, database_url=postgres.fresh())
    database_of(settings).close()
    with psycopg.connect(str(settings.database_url), autocommit=True) as newer:
        newer.execute("update schema_version set version = 99")
    with pytest.raises(ServerTrouble, match="schema 99"):
        database_of(settings)
