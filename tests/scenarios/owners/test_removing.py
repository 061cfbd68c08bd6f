"""Whoever leaves takes everything along, and whoever stays has no more than is allowed."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from pdpp_server.errors import OwnerLimit
from pdpp_server.store.engines.postgres.db import Limits
from tests.requirements import requirement
from tests.scenarios.cli.command import Command
from tests.scenarios.owners.town import Door, Town
from tests.worlds import album, chat
from tests.worlds.postgres import Cluster


def rows_by_table(town: Town, postgres: Cluster, number: int) -> dict[str, int]:
    """Counted above row security."""
    name = urlsplit(str(town.settings.database_url)).path.removeprefix("/")
    with psycopg.connect(f"host={postgres.folder} dbname={name} user=postgres") as operator:
        tables = operator.execute(
            "select table_name from information_schema.columns where column_name = 'owner' and table_schema = 'public'"
        ).fetchall()
        found: dict[str, int] = {}
        for (table,) in tables:
            row = operator.execute(f"select count(*) from {table} where owner = {number}".encode()).fetchone()
            assert row is not None
            found[table] = row[0]
    return found


@requirement("store.owners.removed")
def test_everything_of_an_owner_is_erased_and_counted(town: Town, door: Door, postgres: Cluster) -> None:
    ada, bob = town["ada"], town["bob"]
    cookie = door.signed_in("ada", ada.password)
    photos = ada.desk.writer(album.DECLARATION, album.PHONE)
    photos.keep_blob("photos", "p1", album.BYTES, "image/png")
    ada.desk.writer(chat.DECLARATION, chat.WORK).deliver([chat.message("m1", text="Changed."), chat.deletion("m2")])
    assert door.get("/v1/search?q=changed", ada.token).status_code == 200
    had, others = rows_by_table(town, postgres, ada.number), rows_by_table(town, postgres, bob.number)
    assert sum(1 for rows in had.values() if rows) > 20, had

    erased = town.desk.remove("ada")

    changing = {"tries"}  # what the server counts beside
    assert {table: rows for table, rows in erased.items() if table not in changing} == {
        table: rows for table, rows in had.items() if table not in changing
    }

    assert set(rows_by_table(town, postgres, ada.number).values()) == {0}
    now = rows_by_table(town, postgres, bob.number)
    assert {table: now[table] for table in now if table not in changing} == {
        table: others[table] for table in others if table not in changing
    }
    assert door.get("/v1/search?q=changed", ada.token).status_code == 401
    assert door.get("/clients", cookie=cookie).status_code == 303
    assert door.sign_in("ada", ada.password).status_code in {303, 401}  # bob is alone now: his password is asked for
    assert set(rows_by_table(town, postgres, ada.number).values()) == {0}  # nothing begins anew


@requirement("store.owners.removed")
def test_a_number_is_never_given_twice(town: Town) -> None:
    gone = town["bob"].number
    town.desk.remove("bob")
    assert town.desk.add("bob").owner.number > gone


@requirement("store.owners.limits")
@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ({"owner_records": 3}, "3 records"),
        ({"owner_bytes": 600}, "600 bytes"),
        ({"owner_connections": 1}, "1 connections"),
    ],
)
def test_more_than_an_owner_may_have_is_refused_and_nothing_is_kept(
    postgres: Cluster, tmp_path: Path, limit: dict[str, Any], said: str
) -> None:
    town = Town(postgres.fresh(), tmp_path / "home", **limit)
    ada = town["ada"]
    with pytest.raises(OwnerLimit, match=said):
        account = "Another" if "owner_connections" in limit else chat.WORK
        more = ada.desk.writer(chat.DECLARATION, account)
        more.deliver([chat.message(f"more{n}", text="x" * 200) for n in range(3)])
    (source,) = ada.desk.sources()
    assert sum(stream.records for stream in source.streams) == 2
    ada.desk.writer(chat.DECLARATION, chat.WORK).deliver([chat.deletion("m1")])  # less is always allowed
    town.close()


@requirement("store.owners.limits")
def test_everything_that_is_limited_has_a_setting_and_is_counted(postgres: Cluster, tmp_path: Path) -> None:
    wide = {f"owner_{what}": 10**6 for what in Limits._fields}
    town = Town(postgres.fresh(), tmp_path / "home", **wide)
    assert len(town["ada"].desk.sources()) == 1
    town.close()


@requirement("store.owners.limits")
def test_requests_of_one_owner_do_not_use_up_those_of_another(postgres: Cluster, tmp_path: Path) -> None:
    town = Town(postgres.fresh(), tmp_path / "home", owner_requests_per_second=1)
    with town.serving() as door:
        asked = [door.get("/v1/streams", town["ada"].token).status_code for _ in range(14)]
        assert asked[0] == 200
        refused = door.get("/v1/streams", town["ada"].token)
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limit_exceeded")
        assert door.get("/v1/streams", town["bob"].token).status_code == 200
    town.close()


@requirement("store.owners.command")
def test_the_operator_adds_lists_exports_and_removes(postgres: Cluster, tmp_path: Path) -> None:
    pdpp, url = Command(tmp_path / "home", tmp_path), postgres.fresh()

    def run(*words: str | Path, **more: str) -> Any:
        return pdpp(*words, PDPP_DATABASE_URL=url, **more)

    added = run("owners", "add", "ada", "--json").json
    assert added["name"] == "ada"
    assert "/invited?link=" in added["link"]
    assert run("owners", "add", "ada").code == 1
    assert run("owners", "add", "No Name").code == 1
    assert run("owners", "add", "bob").code == 0
    several = run("sources")
    assert (several.code, "2 owners" in several.err, "PDPP_OWNER" in several.err) == (1, True, True)
    imported = pdpp(
        "import",
        pdpp.file("n.ndjson", '{"id": "n1", "title": "A lease", "written_at": "2026-01-02T10:00:00Z"}\n'),
        "--yes",
        "--name",
        "Notes",
        PDPP_DATABASE_URL=url,
        PDPP_OWNER="ada",
    )
    assert imported.code == 0, imported.err
    listed = {each["name"]: each for each in run("owners", "list", "--json").json["owners"]}
    assert {name: each["records"] for name, each in listed.items()} == {"ada": 1, "bob": 0}
    assert len({each["number"] for each in listed.values()}) == 2
    assert "has not chosen a password yet" in run("owners", "list").out
    assert run("owners", "export", "ada", tmp_path / "out", "--json").json["records"] == 1
    assert (tmp_path / "out" / "export.json").is_file()
    assert run("owners", "invite", "ada", "--json").json["link"] != added["link"]
    gone = run("owners", "remove", "ada", "--yes", "--json").json
    assert gone["rows"]["records"] == 1
    assert run("owners", "remove", "ada", "--yes").code == 1
    assert [each["name"] for each in run("owners", "list", "--json").json["owners"]] == ["bob"]


@requirement("store.owners.command")
@pytest.mark.parametrize("words", [["list"], ["add", "ada"], ["remove", "ada", "--yes"]])
def test_a_home_that_is_a_folder_has_one_owner_and_says_so(tmp_path: Path, words: list[str]) -> None:
    told = Command(tmp_path / "home", tmp_path)("owners", *words)
    assert told.code == 1
    assert "one owner" in told.err
    assert "PDPP_DATABASE_URL" in told.err
