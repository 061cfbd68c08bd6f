"""How often a read waits for PostgreSQL: counted in what libpq says that it sends."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from psycopg.pq import Trace

from pdpp_server.model.queries import FetchQuery, SearchQuery
from pdpp_server.store.engines.postgres import pool
from tests.conftest import kept_in
from tests.requirements import requirement
from tests.worlds import chat
from tests.worlds.postgres import Cluster
from tests.worlds.world import Clock, World, build, close

FETCH, SEARCH = 3, 21
_ASKED = re.compile(r'^F\t\d+\t(?:Sync|Query\t "(?!rollback"))', re.MULTILINE)  # nobody waits for the end of a snapshot

connect = pool.connect


@pytest.fixture
def trips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], int]]:
    """How many there were since it was asked last."""
    trace = tmp_path / "trace"
    seen = 0
    with trace.open("ab") as kept:

        def traced(url: str) -> Any:
            connection = connect(url)
            connection.pgconn.trace(kept.fileno())
            connection.pgconn.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
            return connection

        def since() -> int:
            nonlocal seen
            before, seen = seen, len(_ASKED.findall(trace.read_text(errors="replace")))
            return seen - before

        monkeypatch.setattr(pool, "connect", traced)
        yield since


@pytest.fixture
def there(postgres: Cluster, home: Path, trips: Callable[[], int]) -> Iterator[World]:
    del trips  # before the first connection is made
    with kept_in(postgres):
        built = build(home, Clock())
        yield built
        close(built.services)


@requirement("store.engines.round-trips")
def test_a_fetch_waits_three_times_for_the_database_its_line_in_the_log_included(
    there: World, trips: Callable[[], int]
) -> None:
    def fetched() -> str:
        return there.reader.fetch(FetchQuery("messages", "m1", there.work)).value.id.key

    assert fetched() == "m1"  # now the token is known, and the chain of the log begun
    trips()
    assert fetched() == "m1"
    assert trips() == FETCH


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
