"""How much a read works is decided by what it may see: hidden records that hold what is asked for add nothing to it."""

from typing import Any

import pytest

from pdpp_server.model.queries import Condition, RecordsQuery, SearchQuery
from tests.requirements import requirement
from tests.worlds.beneath import connection_of
from tests.worlds.chat import WORK, message
from tests.worlds.world import World

HIDDEN = 2000
ALLOWED = 500  # steps more: a deeper index and another segment of it take some, records would take thousands
LIKES = (Condition("likes", "eq", "77"),)
MANY_LIKES = (Condition("likes", "gte", "70"),)
LONG_AGO = (Condition("sent_at", "gte", "2019-01-01T00:00:00Z"), Condition("sent_at", "lt", "2021-01-01T00:00:00Z"))
NARROWINGS = {
    "time": {"time_range": {"since": "2026-01-01T00:00:00Z"}},
    "named": {"resources": ["seen1", "seen2"]},
    "both": {"resources": ["seen1", "seen2", "hidden1"], "time_range": {"since": "2026-01-01T00:00:00Z"}},
}
READS: dict[str, Any] = {
    "word": SearchQuery("walrus"),
    "words": SearchQuery("walrus moustache -tusk"),
    "prefix": SearchQuery("wal*"),
    "long prefix": SearchQuery("walru*"),
    "without a prefix": SearchQuery("meeting -walru*"),
    "filtered": SearchQuery("meeting", ("messages",), conditions=LIKES),
    "filtered by a range": SearchQuery("meeting", ("messages",), conditions=MANY_LIKES),
    "filtered by time": SearchQuery("meeting", ("messages",), conditions=LONG_AGO),
    "page": RecordsQuery("messages", conditions=LIKES, count=True, window=True),
    "page of a range": RecordsQuery("messages", conditions=MANY_LIKES),
}


def steps(world: World, token: str, query: Any) -> int:
    """Of SQLite, for one read."""
    reader = world.reader_of(token)
    reads = {SearchQuery: reader.search, RecordsQuery: reader.query_records}
    taken = 0

    def step() -> bool:
        nonlocal taken
        taken += 1
        return False

    connection = connection_of(world.services.database.reading())
    reads[type(query)](query)
    connection.set_progress_handler(step, 1, id="steps")
    try:
        reads[type(query)](query)
    finally:
        connection.set_progress_handler(None, id="steps")
    return taken


@pytest.mark.sqlite("counts the steps of SQLite")
@pytest.mark.parametrize("narrowing", NARROWINGS.values(), ids=NARROWINGS)
@requirement("store.search.hidden-time")
def test_a_read_is_no_more_work_where_hidden_records_hold_what_is_asked_for(
    world: World, narrowing: dict[str, Any]
) -> None:
    seen = [message(f"seen{i}", text="a meeting", sent_at="2026-07-02T12:00:00Z", likes=i) for i in range(1, 9)]
    token = world.grant(world.both("messages", **narrowing))
    world.deliver(WORK, seen)
    before = {name: steps(world, token, query) for name, query in READS.items()}

    world.deliver(
        WORK,
        [
            message(f"hidden{i}", text="a walrus moustache meeting", sent_at="2020-07-02T12:00:00Z", likes=77)
            for i in range(HIDDEN)
        ],
    )
    after = {name: steps(world, token, query) for name, query in READS.items()}

    assert {name: after[name] - before[name] for name in READS if after[name] > before[name] + ALLOWED} == {}
