"""The statements of docs/scale.md: tables of owners become partitions by owner, and everything answers as before."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from pdpp_server.owner.move import move_to_database
from pdpp_server.settings import Settings
from pdpp_server.store.opened import database_of
from tests.requirements import requirement
from tests.unit.store.test_log import FETCHED
from tests.worlds.kept import answers, lived
from tests.worlds.postgres import Cluster

PAGE = Path(__file__).parents[3] / "docs" / "scale.md"
_SQL = re.compile(r"<!-- tested -->\n```sql\n(.*?)```", re.DOTALL)
_PARTITIONS = "select count(*) from pg_class where relispartition and relkind = 'r'"


@pytest.mark.sqlite("moves a home that is a folder")
@requirement("store.engines.partitioned")
def test_a_database_that_is_partitioned_by_owner_answers_as_before(postgres: Cluster, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", database_url=postgres.fresh(), key_file=tmp_path / "wrapping.key")
    with lived(settings.home) as life:
        token = life.world.token
    move_to_database(settings, "ada", lambda *_: None)
    before = answers(settings.home, token, database_of(settings))

    name = urlsplit(str(settings.database_url)).path[1:]
    by_owner, log_by_month = _SQL.findall(PAGE.read_text("utf-8"))
    with psycopg.connect(f"host={postgres.folder} dbname={name} user=postgres") as operator:
        operator.execute(by_owner.encode())
        operator.execute(log_by_month.encode())
        assert operator.execute(_PARTITIONS).fetchall() > [(8 + 24,)]

    assert answers(settings.home, token, database_of(settings)) == before
    database = database_of(settings)
    with database.writing() as writing:  # and what is written goes on
        writing.run("update grants set note = 'in its part'")
    database.log.append(FETCHED)
    assert database.activity.recent(limit=1)[0].request_id
    assert database.activity.recent(request_id=FETCHED.request_id) == [FETCHED]
    assert {verdict.state for verdict in database.activity.verify()} == {"intact"}
    with psycopg.connect(str(settings.database_url)) as other:
        other.execute("select set_config('pdpp.owner', '999', false)")
        for table in ("words", "disclosures", "disclosures_other", "disclosures_2026_11"):
            assert other.execute(f"select count(*) from {table}".encode()).fetchall() == [(0,)]
    database.close()
