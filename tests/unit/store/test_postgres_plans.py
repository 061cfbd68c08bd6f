"""At how many records PostgreSQL looks to find a few by their keys, while nobody has counted its rows yet."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pdpp_server.owner.desk import Owner
from pdpp_server.reads.services import Services, open_services
from pdpp_server.store.engine import Reading
from pdpp_server.store.records import changes
from pdpp_server.store.records.ingest import deliver, desk_of
from pdpp_server.store.records.live import stored_data
from tests.engine.homes import open_home
from tests.worlds.chat import DECLARATION, WORK, message
from tests.worlds.postgres import Cluster
from tests.worlds.world import Clock, close

HELD = [f"m{number}" for number in range(1_000)]
ASKED = HELD[::100]
# In this transaction.
LOOKED_AT = (
    "select cast(seq_tup_read + idx_tup_fetch as bigint) from pg_stat_xact_user_tables where relname = 'records'"
)
MANY_MORE = """
insert into records(rid, sid, key, version, emitted_at, data)
select n, ?, repeat('-', 60) || n, n, '', '{}' from generate_series(10000, 30000) n
"""
SAID = {"text": "As ever.", "sent_at": "2026-07-01T09:00:00Z"}


@pytest.fixture
def services(postgres: Cluster, home: Path, clock: Clock) -> Iterator[Services]:
    """One owner alone in a database, with many records in a stream."""
    opened = open_services(home, now=clock, database=open_home(postgres.fresh(), home))
    Owner(opened, home).writer(DECLARATION, WORK).deliver([message(key, **SAID) for key in HELD])
    yield opened
    close(opened)


def _sid(reading: Reading) -> int:
    (connection,) = reading.layout.connections.values()
    return connection.streams["messages"].sid


@pytest.mark.parametrize(
    "find",
    [
        lambda reading: reading.records.named(_sid(reading), ASKED),
        lambda reading: reading.records.rids_of(_sid(reading), ASKED, None, None),
        lambda reading: stored_data(reading, _sid(reading), ASKED),
    ],
    ids=["named", "rids_of", "stored_data"],
)
def test_a_read_by_keys_looks_at_no_other_records(
    services: Services, find: Callable[[Reading], list[object] | dict[str, object]]
) -> None:
    with services.database.reading() as reading:
        found = find(reading)

        assert len(found) == len(ASKED)
        assert reading.one(LOOKED_AT) == len(ASKED)


def test_a_read_by_one_key_looks_at_no_other_record_where_the_index_of_keys_is_a_large_one(services: Services) -> None:
    with services.database.reading() as reading:
        sid = _sid(reading)
    with services.database.writing() as writing:
        writing.run(MANY_MORE, (sid,))
    with services.database.reading() as reading:
        assert reading.records.get(_sid(reading), HELD[7]) is not None
        assert reading.one(LOOKED_AT) == 1


def test_a_feed_of_changes_looks_at_none_that_were_shown(services: Services) -> None:
    newest = {"edge": len(HELD) - 5, "horizon": len(HELD), "chunk": 100, "low": 0, "high": 2**62}
    with services.database.reading() as reading:
        found = reading.rows(changes._PRESENT_IN_RANGE, {"sid": _sid(reading), **newest})

        assert len(found) == reading.one(LOOKED_AT) == 5


def test_a_delivery_looks_at_no_other_records_of_its_stream(services: Services) -> None:
    with services.database.write("2026-11-14T08:00:00Z") as write:
        (connection,) = write.layout.connections.values()
        again = [message(key, **SAID) for key in ASKED]

        receipt = deliver(write, desk_of(DECLARATION, connection, "messages"), again, write.now)

        assert receipt.unchanged == len(ASKED)
        assert write.one(LOOKED_AT) == len(ASKED)
