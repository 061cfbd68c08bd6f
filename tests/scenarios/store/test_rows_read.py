"""How many rows PostgreSQL looks at for a read: counted by itself, in the snapshot of the read."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

import pytest

from pdpp_server.model.queries import FetchQuery, RecordsQuery, SearchQuery
from pdpp_server.store.engines.postgres.db import PostgresReading
from tests.conftest import kept_in
from tests.requirements import requirement
from tests.worlds import chat
from tests.worlds.postgres import Cluster
from tests.worlds.world import Clock, World, build, close

MANY = 1200
_LOOKED_AT = "select cast(sum(seq_tup_read + idx_tup_fetch) as bigint) from pg_stat_xact_user_tables"

left = PostgresReading.__exit__


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many rows there were since it was asked last."""
    seen: list[int] = []

    def counting(
        reading: PostgresReading,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            seen.append(reading.one(_LOOKED_AT))
        left(reading, kind, error, trace)

    def since() -> int:
        total = sum(seen)
        seen.clear()
        return total

    monkeypatch.setattr(PostgresReading, "__exit__", counting)
    return since


@pytest.fixture
def there(postgres: Cluster, home: Path) -> Iterator[World]:
    """A new database, of which nobody has counted yet what is in it."""
    with kept_in(postgres):
        built = build(home, Clock())
        sent = [
            chat.message(f"x{i}", text=f"alpha word{i // 3}", sent_at=f"2025-{i % 12 + 1:02}-{i % 28 + 1:02}T08:00:00Z")
            for i in range(MANY)
        ]
        built.deliver(chat.WORK, sent)
        yield built
        close(built.services)


@requirement("store.engines.rows-read")
def test_a_read_looks_at_few_rows_however_many_there_are(there: World, looked_at: Callable[[], int]) -> None:
    asks: dict[str, Callable[[], object]] = {
        "fetch": lambda: there.reader.fetch(FetchQuery("messages", "x7", there.work)).value,
        "page": lambda: there.reader.query_records(RecordsQuery("messages", connection_id=there.work, limit=10)).value,
        "search": lambda: there.reader.search(SearchQuery("word7", limit=10)).value,
    }
    looked_at()
    rows: dict[str, int] = {}
    for name, ask in asks.items():
        ask()
        rows[name] = looked_at()
    assert all(0 < read < MANY / 4 for read in rows.values()), rows
