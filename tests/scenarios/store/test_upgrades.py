"""A PostgreSQL database of an older version is brought up to date, and two versions work side by side."""

import re
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import psycopg
import pytest
from starlette.testclient import TestClient

from pdpp_server.app import create_app
from pdpp_server.errors import ServerTrouble
from pdpp_server.reads.services import open_services
from pdpp_server.settings import Settings
from pdpp_server.store.engines.postgres.db import SCHEMA_VERSION
from pdpp_server.store.opened import database_of, open_owners
from tests.requirements import requirement
from tests.scenarios.resource_server.chats import NOW, Chats
from tests.worlds.postgres import Cluster

TOKEN = "a token of before"
_TRIES = re.compile(r"create table tries\(.*?\);\n", re.DOTALL)
_FIRST_ROWS = """
select set_config('pdpp.owner', '1', false);
insert into layout default values; insert into clock default values;
insert into tokens(digest, kind, issued_at) values(sha256('a token of before'), 'owner', '2026-01-01T00:00:00Z')
"""
_WORDS_BY_DAY = re.compile(r"create table words\(.*?\);\n", re.DOTALL)
_UNGUARDED = """
select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
and relname <> 'schema_version' and not (relrowsecurity and relforcerowsecurity)
"""


def first_version(url: str) -> None:
    """As it was before tries were counted in it, with one owner who had no name."""
    schema = files("pdpp_server.store.engines.postgres").joinpath("schema.sql").read_text(encoding="utf-8")
    before, taken_out = _TRIES.subn("", schema)
    assert taken_out == 1
    with psycopg.connect(url) as connection:
        connection.execute(before.encode())
        connection.execute(_FIRST_ROWS)


@requirement("store.engines.upgrades")
def test_a_database_of_the_first_version_gets_what_is_missing(postgres: Cluster, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", database_url=postgres.fresh())
    first_version(str(settings.database_url))

    with closing(database_of(settings)) as database:
        with database.tries.open("passwords") as ledger:
            assert ledger is not None
        with database.reading() as reading:
            assert reading.rows(_UNGUARDED) == []
            assert reading.one("select version from schema_version") == SCHEMA_VERSION
    with closing(open_owners(settings)) as owners:
        assert owners.whose([TOKEN]) == 1
        sole = owners.sole()
        assert sole is not None and sole.name == "owner"


def with_words_by_day(url: str) -> None:
    """As the third version kept them, where no block says what the fifth could read."""
    schema = files("pdpp_server.store.engines.postgres").joinpath("schema.sql").read_text(encoding="utf-8")
    (by_day,) = _WORDS_BY_DAY.findall(schema)
    with psycopg.connect(url) as connection:
        connection.execute("alter table layout drop column words_form; drop table words")
        connection.execute(by_day.encode())
        connection.execute("update schema_version set version = 3")


@requirement("store.engines.upgrades")
def test_words_that_an_older_version_kept_by_day_are_found_again(postgres: Cluster, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", database_url=postgres.fresh())
    Chats(settings.home, database_of(settings)).services.close()
    with_words_by_day(str(settings.database_url))

    services = open_services(settings.home, now=lambda: NOW, database=database_of(settings))
    with TestClient(create_app(settings, services), base_url="http://127.0.0.1") as api:
        asked = {"Authorization": "Bearer tok_client"}
        found = api.get("/v1/search?q=pizza", headers=asked).json()
    assert found["data"]
    with services.database.reading() as reading:
        assert reading.rows(_UNGUARDED) == []
    services.close()


@requirement("store.engines.upgrades")
def test_a_process_of_the_version_before_works_on_beside_the_next(postgres: Cluster, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", database_url=postgres.fresh())
    chats = Chats(settings.home, database_of(settings))
    with psycopg.connect(str(settings.database_url)) as newer:
        newer.execute("alter table grants add column of_the_next_version text")
        newer.execute("update schema_version set version = version + 1")

    with TestClient(create_app(settings, chats.services), base_url="http://127.0.0.1") as api:
        assert api.get("/readyz").status_code == 200
        asked = {"Authorization": "Bearer tok_client"}
        assert api.get("/v1/search?q=pizza", headers=asked).status_code == 200
    chats.services.close()
    database_of(settings).close()  # and one that is started now, too

    with psycopg.connect(str(settings.database_url)) as newer:
        newer.execute("update schema_version set version = version + 1")
    said = f"has schema {SCHEMA_VERSION + 2}; this pdpp-server knows {SCHEMA_VERSION}"
    with pytest.raises(ServerTrouble, match=said):
        database_of(settings)
