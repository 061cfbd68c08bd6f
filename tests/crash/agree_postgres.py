"""The same of an owner's share of a PostgreSQL database: what is laid out otherwise there is read back first."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from pdpp_server.store.engines.postgres.postings import runs
from pdpp_server.store.engines.postgres.values import given
from tests.crash.agree import disagreements_of_plain_tables, disagreements_of_values, expected_words
from tests.crash.agree import live as live_records
from tests.engine.beneath import rows_in

_WORDS = "select term, places from words where term <> ''"
_LENGTHS = "select places from words where term = '' and batch >= 0"


class Share:
    """Asked like a connection of SQLite."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def execute(self, statement: str, values: tuple[Any, ...] = ()) -> "Found":
        told = rows_in(self._home, statement, values)
        return Found([tuple(given(each) if isinstance(each, bytes) else each for each in row) for row in told])


class Found(list[Any]):
    def fetchall(self) -> list[Any]:
        return self


def disagreements_in_share(home: Path) -> list[str]:
    return list(_disagreements(Share(home)))


def _disagreements(share: Share) -> Iterator[str]:
    live = list(live_records(share))
    yield from disagreements_of_plain_tables(share, live)
    yield from disagreements_of_values(share, live)
    expected = expected_words(share, live, apsw.Connection(":memory:"))
    found: Counter[Any] = Counter(
        (rid, f"s{slot}", term)
        for term, places in share.execute(_WORDS)
        for run in runs([places])
        for rid, slot in zip(run.rids, run.slots, strict=True)
    )
    if found != expected:
        yield f"words: too many {list(found - expected)[:3]}, missing {list(expected - found)[:3]}"
    lengths: Counter[Any] = Counter()
    for rid, slot, _ in expected.elements():
        lengths[rid, slot] += 1
    told = {
        (rid, f"s{slot}"): length
        for (places,) in share.execute(_LENGTHS)
        for run in runs([places])
        for rid, slot, length in zip(run.rids, run.slots, run.positions, strict=True)
    }
    if told != dict(lengths):
        yield "lengths of texts are not those of their words"
