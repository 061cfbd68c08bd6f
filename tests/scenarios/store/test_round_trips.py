"""How often a read waits for PostgreSQL: counted in what libpq says that it sends."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from psycopg.pq import Trace

from pdpp_server.errors import DatabaseUnavailable, NotFound, PdppError
from pdpp_server.model.queries import FetchQuery, SchemaQuery, SearchQuery
from pdpp_server.store.engines.postgres import pool
from pdpp_server.store.records.by_key import asking_for_record
from pdpp_server.store.session import Statement
from tests.conftest import kept_in
from tests.requirements import requirement
from tests.worlds import chat
from tests.worlds.postgres import Cluster
from tests.worlds.told import ToldReader
from tests.worlds.world import Clock, World, build, close

FETCH, SEARCH = 2, 21
_PLANNED = re.compile(r"^F\t\d+\tParse", re.MULTILINE)
_RUN = re.compile(r"^F\t\d+\tExecute", re.MULTILINE)
_ENDED = re.compile(r'^F\t\d+\tQuery\t "rollback"', re.MULTILINE)
_ASKED = re.compile(r'^F\t\d+\t(?:Sync|Query\t "(?!rollback"))', re.MULTILINE)  # nobody waits for the end of a snapshot

connect = pool.connect


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], str]]:
    """What was said to the database since it was asked last."""
    trace = tmp_path / "trace"
    seen = 0
    with trace.open("ab") as kept:

        def traced(url: str) -> Any:
            connection = connect(url)
            connection.pgconn.trace(kept.fileno())
            connection.pgconn.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
            return connection

        def since() -> str:
            nonlocal seen
            told = trace.read_text(errors="replace")
            before, seen = seen, len(told)
            return told[before:]

        monkeypatch.setattr(pool, "connect", traced)
        yield since


@pytest.fixture
def trips(said: Callable[[], str]) -> Callable[[], int]:
    """How many there were since it was asked last."""
    return lambda: len(_ASKED.findall(said()))


@pytest.fixture
def there(postgres: Cluster, home: Path, said: Callable[[], str]) -> Iterator[World]:
    del said  # before the first connection is made
    with kept_in(postgres):
        built = build(home, Clock())
        yield built
        close(built.services)


@requirement("store.engines.round-trips")
def test_a_fetch_waits_twice_for_the_database_its_line_in_the_log_included(
    there: World, trips: Callable[[], int]
) -> None:
    def fetched() -> str:
        return there.reader.fetch(FetchQuery("messages", "m1", there.work)).value.id.key

    assert fetched() == "m1"  # now the token is known, and the chain of the log begun
    trips()
    assert fetched() == "m1"
    assert trips() == FETCH


@requirement("store.engines.round-trips")
def test_what_a_fetch_asks_is_planned_once_on_a_connection(there: World, said: Callable[[], str]) -> None:
    def planned_by(key: str) -> int:
        said()
        assert there.reader.fetch(FetchQuery("messages", key, there.work)).value
        return len(_PLANNED.findall(said()))

    assert planned_by("m1") > 0
    planned_by("m1")  # now the token is known
    assert planned_by("m2") == 0


@requirement("store.engines.round-trips")
def test_a_fetch_is_two_statements_and_its_line_two_more(there: World, said: Callable[[], str]) -> None:
    def fetched() -> tuple[int, int]:
        said()
        assert there.reader.fetch(FetchQuery("messages", "m1", there.work)).value
        told = said()
        return len(_RUN.findall(told)), len(_ENDED.findall(told))

    fetched()  # now the token is known
    assert fetched() == (2 + 2, 0)  # each names the owner first; nobody begins and ends a transaction around them


LATER = "select count(*) from records where key = 'later'"


def record_of(there: World) -> Statement:
    with there.services.database.reading() as reading:
        place = reading.layout.place(there.work, "messages")
    assert place is not None
    return asking_for_record(place.sid, "m1")


@requirement("store.engines.one-snapshot")
def test_whoever_asks_more_than_was_said_ahead_is_answered_out_of_one_snapshot(
    there: World, trips: Callable[[], int]
) -> None:
    record = record_of(there)
    with there.services.database.reading(record, is_all=True) as reading:
        trips()
        assert reading.one(LATER) == 0
        assert trips() == 1
        there.deliver(chat.WORK, [chat.message("m1", text="Another one."), chat.message("later", text="As well.")])
        assert reading.one(f"{LATER} or key = 'm1' and data like '%Another one%'") == 0


@requirement("store.engines.one-snapshot")
def test_what_was_said_ahead_and_changed_since_is_not_read_together_with_more(there: World) -> None:
    database, record = there.services.database, record_of(there)
    with (
        pytest.raises(DatabaseUnavailable, match="changed while it was read"),
        database.reading(record, is_all=True) as reading,
    ):
        there.deliver(chat.WORK, [chat.message("m1", text="Another one.")])
        reading.one(LATER)
    with database.reading(record, is_all=True) as reading:
        assert reading.one(LATER) == 0
        assert "Another one." in str(reading.one(*record))


@pytest.fixture
def ahead(there: World, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of the records that were asked for before it was settled who asks."""
    asked: list[str] = []
    reading = there.services.database.reading

    def noted(*statements: Statement, is_all: bool = False) -> Any:
        asked.extend(str(value) for statement, values in statements if "from records" in statement for value in values)
        return reading(*statements, is_all=is_all)

    monkeypatch.setattr(there.services.database, "reading", noted)
    return asked


def known(there: World, token: str) -> ToldReader:
    reader = there.reader_of(token)
    assert reader.schema(SchemaQuery()).value
    return reader


@requirement("store.engines.round-trips")
def test_what_a_client_may_not_read_is_not_asked_for(there: World, ahead: list[str]) -> None:
    narrow = known(there, there.grant(there.both("channels")))

    with pytest.raises(PdppError):
        narrow.fetch(FetchQuery("messages", "m1", there.work)).value  # noqa: B018
    assert ahead == []
    assert known(there, there.token).fetch(FetchQuery("messages", "m1", there.work)).value
    assert "m1" in ahead


@requirement("store.engines.round-trips")
def test_what_was_asked_ahead_is_not_given_to_a_token_that_ended_meanwhile(there: World, ahead: list[str]) -> None:
    reader = known(there, there.token)
    assert reader.fetch(FetchQuery("messages", "m1", there.work)).value
    there.owner.revoke(there.grant_id)

    with pytest.raises(PdppError):
        reader.fetch(FetchQuery("messages", "m1", there.work)).value  # noqa: B018
    assert ahead.count("m1") == 2


@requirement("store.engines.round-trips", "store.engines.nul")
@pytest.mark.parametrize("key", ["no\0thing", "\0", "x" * 100_000, "';--"])
def test_a_key_that_no_record_can_have_is_not_found(key: str, there: World) -> None:
    reader = known(there, there.token)

    with pytest.raises(NotFound):
        reader.fetch(FetchQuery("messages", key, there.work)).value  # noqa: B018
    assert reader.fetch(FetchQuery("messages", "m1", there.work)).value


@requirement("store.engines.round-trips")
def test_a_search_waits_no_longer_for_more_words(there: World, trips: Callable[[], int]) -> None:
    there.deliver(chat.WORK, [chat.message(f"x{i}", text="alpha beta gamma delta") for i in range(30)])

    def asked(words: str) -> int:
        there.reader.search(SearchQuery(words)).value  # noqa: B018
        return trips()

    asked("lease")
    few, many = asked("alpha beta"), asked("alpha beta gamma delta")
    assert many <= few + 2
    assert few <= SEARCH, few


@requirement("store.engines.batches")
def test_many_new_records_wait_for_the_database_as_often_as_few(there: World, trips: Callable[[], int]) -> None:
    def delivered(name: str, count: int) -> int:
        sent = [
            chat.message(f"{name}{i}", text=f"word{i} alpha", sent_at=f"2026-{i % 12 + 1:02}-{i % 28 + 1:02}T08:00:00Z")
            for i in range(count)
        ]
        trips()
        there.deliver(chat.WORK, sent)
        return trips()

    few, many = delivered("few", 3), delivered("many", 200)
    assert many <= few + 3  # what is said often is prepared, once
