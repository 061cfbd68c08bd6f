"""What whoever runs a PostgreSQL database does: look how it is, dump it, restore it."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from pdpp_server.model.queries import SearchQuery
from pdpp_server.owner.move import move_to_database
from pdpp_server.settings import Settings
from pdpp_server.store.opened import database_of
from tests.requirements import requirement
from tests.scenarios.cli.command import Command
from tests.worlds.kept import answers, lived, reader_in
from tests.worlds.postgres import Cluster


@pytest.mark.sqlite("moves a home that is a folder")
@requirement("store.engines.doctor")
def test_the_doctor_looks_at_a_database(postgres: Cluster, tmp_path: Path) -> None:
    url, command = postgres.fresh(), Command(tmp_path / "home", tmp_path)
    assert command.import_notes().code == 0
    assert command("move", "--to", url).code == 0
    shared = {"PDPP_DATABASE_URL": url, "PDPP_PORT": "1"}

    ran = command("doctor", "--json", **shared)
    parts = {part["part"]: part for part in ran.json["parts"]}
    assert (ran.code, [name for name, part in parts.items() if not part["well"]]) == (0, []), ran.out
    assert parts["server"]["facts"]["version"].split(".")[0].isdigit()
    assert parts["share"]["facts"]["records"] == 2
    assert {"role", "row security", "replicas", "word blocks", "erased", "log", "grants", "blobs"} <= parts.keys()
    assert "dead rows wait for vacuum; the write-ahead log is not archived" in command("doctor", **shared).out

    with psycopg.connect(url) as connection:
        connection.execute("alter table grants no force row level security")
        name_owner(connection)
        connection.execute("update streams set live = 7")
    ran = command("doctor", "--json", **shared)
    wrong = {part["part"]: [fault["code"] for fault in part["faults"]] for part in ran.json["parts"] if part["faults"]}
    assert (ran.code, wrong) == (1, {"row security": ["unguarded"], "counts": ["streams_miscounted"]})


def name_owner(connection: psycopg.Connection) -> None:
    """The only owner, for what this connection says next."""
    connection.execute("select set_config('pdpp.owner', '0', false)")
    (number,) = connection.execute("select owner from owners").fetchall()[0]
    connection.execute("select set_config('pdpp.owner', %s, false)", [str(number)])


@requirement("store.engines.doctor")
def test_a_database_that_is_away_is_said_by_the_doctor_too(tmp_path: Path) -> None:
    away = "postgresql://pdpp:sesame@127.0.0.1:1/pdpp"
    ran = Command(tmp_path / "home", tmp_path)("doctor", PDPP_DATABASE_URL=away, PDPP_PORT="1")
    assert (ran.code, "cannot be reached" in ran.out, "sesame" in ran.out + ran.err) == (1, True, False), ran.out


@pytest.mark.sqlite("moves a home that is a folder")
@requirement("store.engines.restored")
def test_a_restored_dump_answers_old_tokens_and_cursors(postgres: Cluster, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", database_url=postgres.fresh(), key_file=tmp_path / "wrapping.key")
    with lived(settings.home) as life:
        token = life.world.token
    move_to_database(settings, "ada", lambda *_: None)
    before = answers(settings.home, token, database_of(settings))
    with reader_in(settings.home, token, database_of(settings)) as reader:
        cursor = reader.search(SearchQuery("lease", limit=1)).value.next_cursor
        following = reader.search(SearchQuery("lease", limit=1, cursor=cursor)).value.hits

    restored = replace(settings, database_url=postgres.fresh(), home=tmp_path / "another machine")
    dumped, empty = (urlsplit(str(each.database_url)).path[1:] for each in (settings, restored))
    dump = str(postgres.folder / f"{dumped}.dump")
    postgres.postmaster.tool("pg_dump", "-d", dumped, "-Fc", "-f", dump)
    postgres.postmaster.tool("pg_restore", "-d", empty, "--exit-on-error", dump)

    assert answers(restored.home, token, database_of(restored)) == before
    with reader_in(restored.home, token, database_of(restored)) as reader:
        assert reader.search(SearchQuery("lease", limit=1, cursor=cursor)).value.hits == following != ()
    with closing(database_of(restored)) as database:
        assert {verdict.state for verdict in database.activity.verify()} == {"intact"}
