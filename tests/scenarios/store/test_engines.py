"""A second engine gives the same answers, and shows no owner the rows of another."""

import re
import shutil
from pathlib import Path

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.errors import DisclosureLogUnavailable, QueryTimeout
from pdpp_server.owner.desk import Owner
from pdpp_server.store.engines.postgres.db import PostgresDatabase
from pdpp_server.store.engines.postgres.pool import Pools
from pdpp_server.store.engines.postgres.session import translated
from pdpp_server.store.engines.postgres.values import given as given_back
from pdpp_server.store.engines.postgres.values import kept
from tests.requirements import requirement
from tests.scenarios.resource_server.chats import Chats
from tests.scenarios.resource_server.writes import OwnersTools, deletion, envelope
from tests.worlds.album import Album
from tests.worlds.postgres import Cluster

SEALED = re.compile(rb'"(?:cursor|next_cursor|next_changes_since|request_id)":"[^"]*"|cursor=[^"&]*')
PATHS = [
    "/v1/streams/messages/records?limit=100",
    "/v1/streams/messages/records?limit=7&order=asc",
    "/v1/streams/messages/records?limit=5&count=exact&window=exact",
    "/v1/streams/messages/records?filter[sent_at][gte]=2026-11-05T00:00:00Z",
    "/v1/streams/photos/records",
    "/v1/streams/messages/records/same",
    "/v1/streams/messages/records/nothing",
    "/v1/search?q=pizza&limit=100",
    "/v1/search?q=pizza%20-pasta",
    '/v1/search?q="pizza%20or%20pasta"',
    "/v1/search?q=slash*",
    "/v1/search?q=new%20fee%20overdraft",
    "/v1/search?q=nowhere",
    "/v1/schema",
    "/v1/streams",
]
WHOLE = st.integers(-(2**63), 2**63 - 1)
REALS = st.floats(allow_nan=False).filter(lambda real: abs(real) < 2**53 or abs(real) > 2**63)  # beside no integer
VALUES = st.one_of(WHOLE, REALS, st.text(max_size=8), st.just(b""))


def changed(chats: Chats) -> list[bytes]:
    """The answers of a home in which records came, changed and went; without what is sealed or new each time."""
    with chats.serving() as api:
        tools = OwnersTools(api)
        assert tools.post("messages", envelope("n1", "New fee"), envelope("n2", "Other")).status_code == 200
        assert tools.post("messages", envelope("n1", "Newer fee", size=3), deletion("n2")).status_code == 200
        tokens = ("tok_client", "tok_owner")
        answers = [api.get(path, token=token).content for path in PATHS for token in tokens]
    chats.services.close()
    return [SEALED.sub(b"", answer) for answer in answers]


@requirement("store.engines.same-answers")
def test_both_engines_give_the_same_bytes(postgres: Cluster, tmp_path: Path) -> None:
    there = postgres.open(tmp_path / "there")

    assert changed(Chats(tmp_path / "here")) == changed(Chats(tmp_path / "there", there))


@requirement("store.engines.one-owner")
def test_a_transaction_sees_no_row_of_another_owner(postgres: Cluster, tmp_path: Path) -> None:
    first, second = postgres.open(tmp_path / "first"), postgres.open(tmp_path / "second")
    chats = Chats(tmp_path / "first", first)
    with first.reading() as mine, second.reading() as theirs:
        tables = [name for (name,) in mine.rows("select tablename from pg_tables where schemaname = 'public'")]
        seen = {table: theirs.one(f"select count(*) from {table}") for table in tables}
        assert mine.one("select count(*) from records") > 0
    assert {table for table, rows in seen.items() if rows} == {"layout", "clock", "schema_version"}
    assert (seen["layout"], seen["clock"]) == (1, 1)
    with psycopg.connect(postgres.url) as nobody, pytest.raises(psycopg.errors.UndefinedObject):
        nobody.execute("select count(*) from records")  # who names no owner sees nothing, not even how much there is
    chats.services.close()
    second.close()


@requirement("store.deadlines.query")
def test_a_read_that_takes_too_long_is_stopped_there_too(postgres: Cluster, tmp_path: Path) -> None:
    database = PostgresDatabase(Pools(postgres.url), tmp_path / "home", owner=10_000, read_seconds=0.5)
    with pytest.raises(QueryTimeout), database.reading() as reading:
        reading.one("select pg_sleep(60)")
    with database.reading() as reading:
        assert reading.one("select 1") == 1
    database.close()


@requirement("store.erasure.index")
def test_the_words_of_a_deleted_record_are_in_no_block(postgres: Cluster, tmp_path: Path) -> None:
    chats = Chats(tmp_path / "home", postgres.open(tmp_path / "home"))
    with chats.serving() as api:
        tools = OwnersTools(api)
        tools.post("messages", envelope("n1", "zyxwvut words"), envelope("n2", "words"))
        tools.post("messages", deletion("n1"))
    with chats.services.database.reading() as reading:
        terms = {term for (term,) in reading.rows("select term from words")}
    chats.services.close()
    assert "word" in terms
    assert "zyxwvut" not in terms


@given(VALUES, VALUES)
@requirement("store.engines.values")
def test_values_sort_as_bytes_as_they_sort_as_values(one: int | float | str | bytes, other: int | float | str) -> None:
    def rank(value: int | float | str | bytes) -> tuple[int, object]:
        kind = 2 if isinstance(value, bytes) else int(isinstance(value, str))
        return kind, value.encode() if isinstance(value, str) else value

    assert (kept(one) < kept(other)) == (rank(one) < rank(other))
    assert (kept(one) == kept(other)) == (rank(one) == rank(other))
    assert given_back(kept(one)) == one


@requirement("store.engines.values")
@pytest.mark.parametrize("real", [1e16, -1e16, 2.0**53, 1e200, -1e19])
def test_a_number_that_is_whole_but_was_written_as_none_comes_back_as_none(real: float) -> None:
    whole = int(real)
    assert type(given_back(kept(real))) is float
    if abs(whole) < 2**63:
        assert type(given_back(kept(whole))) is int
        assert kept(whole) < kept(real) < kept(whole + 1)
    assert kept(real) < kept(real * (2 if real > 0 else 0.5))


@requirement("store.engines.same-answers")
@pytest.mark.parametrize(
    ("plain", "told"),
    [
        ("select a from b where c = ? and d = :d", "select a from b where c = %s and d = %(d)s"),
        ("select 5 % 2, (:x)::bigint", "select 5 %% 2, (%(x)s)::bigint"),
        (
            "select a from b where c in (select value from json_each(:c)) "
            "and d not in (select value from json_each(?))",
            "select a from b where c = any(array(select value from json_each(%(c)s))) "
            "and d not in (select value from json_each(%s))",
        ),
        ("select a from b order by a collate binary", 'select a from b order by a collate "C"'),
        (
            "insert into a values(?) on conflict(b) do nothing",
            "insert into a values(%s) on conflict(owner, b) do nothing",
        ),
    ],
)
def test_plain_sql_is_told_in_the_words_of_the_driver(plain: str, told: str) -> None:
    assert translated(plain) == told


@requirement("store.blobs.erased")
def test_the_bytes_of_a_blob_go_with_the_last_record_that_has_them(postgres: Cluster, tmp_path: Path) -> None:
    database = postgres.open(tmp_path / "home")
    album = Album(tmp_path / "home", database)
    long = bytes(range(256)) * 3000
    blob_id = album.keep("p1", long)
    album.keep("p2", long)
    with album.serving() as door:
        part = door.blob(blob_id, Range="bytes=300000-600001")
    assert (part.status_code, part.content) == (206, long[300000:600002])

    album.delete("p1")
    with database.reading() as reading:
        assert reading.one("select count(*) from blob_pieces") == 3
    album.delete("p2")
    with database.reading() as reading:
        left = [reading.one(f"select count(*) from {table}") for table in ("blobs", "blob_pieces", "released_blobs")]
    assert left == [0, 0, 0]
    album.close()


@requirement("store.engines.log")
def test_the_log_lies_in_the_database_and_shows_what_was_done_to_it(postgres: Cluster, tmp_path: Path) -> None:
    database = postgres.open(tmp_path / "home")
    chats = Chats(tmp_path / "home", database)
    with chats.serving() as api:
        assert api.get("/v1/search?q=pizza", token="tok_client").status_code == 200
        assert api.get("/v1/streams/photos/records", token="tok_owner").status_code == 200
    mine = Owner(chats.services, chats.home)
    assert [told.operation for told in mine.activity()] == ["query_records", "search"]
    assert [told.operation for told in mine.activity(own=False, connection_id=chats.work)] == ["search"]
    assert [told.operation for told in mine.activity_of("grt_1", since="2026-11-15", until="2026-11-16")] == ["search"]
    assert [(each.state, each.lines) for each in mine.verify_activity()] == [("intact", 3)]
    assert mine.asked(mine.activity())[mine.activity()[1].request_id].words == "pizza"
    assert not (chats.home / "activity").exists()

    with database.writing() as writing:
        writing.run("update disclosures set line = replace(line, 'search', 'schema') where n = 1")
    assert [(each.state, each.line) for each in mine.verify_activity()] == [("edited", 1)]
    chats.services.close()


@requirement("store.engines.log")
def test_nothing_leaves_while_the_line_cannot_be_kept(postgres: Cluster, tmp_path: Path) -> None:
    chats = Chats(tmp_path / "home", postgres.open(tmp_path / "home"))
    with chats.serving() as api, psycopg.connect(postgres.url, autocommit=True) as operator:
        assert api.get("/v1/search?q=pizza", token="tok_client").status_code == 200
        operator.execute("alter table disclosures rename to away")
        try:
            refused = api.get("/v1/search?q=pizza", token="tok_client")
        finally:
            operator.execute("alter table away rename to disclosures")
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "disclosure_log_unavailable")
        assert api.get("/v1/search?q=pizza", token="tok_client").status_code == 200
    verdicts = Owner(chats.services, chats.home).verify_activity()
    assert [(each.state, each.lines) for each in verdicts] == [("intact", 2), ("intact", 2)]
    chats.services.close()


@requirement("store.engines.keys")
def test_a_home_that_is_lost_is_not_missed(postgres: Cluster, tmp_path: Path) -> None:
    home, key_file = tmp_path / "home", tmp_path / "secrets" / "pdpp.key"
    first = postgres.open(home, key_file=key_file)
    kept = first.keys.kept("cursors.key")
    first.close()
    shutil.rmtree(home)
    again = postgres.open(home, key_file=key_file)
    assert (again.keys.kept("cursors.key"), again.keys.find("other.key")) == (kept, None)
    with again.reading() as reading:
        assert kept not in reading.one("select wrapped from keys")
    again.close()
    stranger = postgres.open(home, key_file=tmp_path / "secrets" / "other.key")
    with pytest.raises(DisclosureLogUnavailable, match="another key"):
        stranger.keys.kept("cursors.key")
    stranger.close()
