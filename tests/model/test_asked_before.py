"""An answer never depends on what was asked before, whatever was written in between, here or by another process."""

import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from pdpp_server.store.engines import meanings
from pdpp_server.store.engines.sqlite import beginnings, tables, words
from pdpp_server.store.engines.sqlite.counted import Counted
from pdpp_server.store.records import candidates, filters
from tests.model.asked_before import AnotherAnswer, compared
from tests.requirements import requirement

WIDE, TIGHT, SOAK = (2, 18), (3, 5), range(1000, 1400)
WRITES, SOAK_WRITES = 15, 30
# So little is kept that all of it is forgotten and made anew again and again, and a few records are many.
LIMITS = {
    tables: {"TOLD_KEPT": 40, "COUNTS_KEPT": 20, "FACTS_KEPT": 40, "LEFT_KEPT": 40},
    words: {"COUNTS_KEPT": 100, "NOTES_KEPT": 50, "FAR": 6, "MANY": 2},
    beginnings: {"WORDS": 1, "TOGETHER": 1},
    meanings: {"SEEN_BYTES": 400},
    filters: {"FEW_OF_A_FILTER": 1},
    candidates: {"CANDIDATES": 12, "COMMON": 6, "FEW_COMMON": 3, "FULLEST": 4, "OFTEN": 4, "BY_KEY": 3, "COUNTED": 8},
}


@pytest.fixture(autouse=True)
def quick_and_quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No home has to outlive its test."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    logger = logging.getLogger("pdpp_server.access")
    logger.disabled = True
    yield
    logger.disabled = False


@pytest.fixture
def tight(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, limits in LIMITS.items():
        for name, most in limits.items():
            monkeypatch.setattr(module, name, most)


def compared_all(seeds: Iterable[int], folder: Path, writes: int) -> Counter[str]:
    tally: Counter[str] = Counter()
    for seed in seeds:
        tally += compared(seed, folder / str(seed), writes)
    return tally


@requirement("store.reads.asked-before")
def test_who_asks_all_the_time_reads_what_a_new_one_reads(tmp_path: Path) -> None:
    tally = compared_all(WIDE, tmp_path, WRITES)

    assert tally["compared"] > len(WIDE) * WRITES
    assert tally["refused"] < tally["compared"] / 2, tally
    assert tally["hits"] > len(WIDE) * WRITES / 10, tally


@requirement("store.reads.asked-before")
def test_the_same_where_there_is_hardly_room_to_keep_anything(tmp_path: Path, tight: None) -> None:
    assert compared_all(TIGHT, tmp_path, WRITES)["compared"] > len(TIGHT) * WRITES


@pytest.mark.soak
@requirement("store.reads.asked-before")
def test_who_asks_for_a_long_time_reads_what_a_new_one_reads(tmp_path: Path) -> None:
    assert compared_all(SOAK, tmp_path, SOAK_WRITES)["compared"] > len(SOAK) * SOAK_WRITES


@pytest.mark.soak
@requirement("store.reads.asked-before")
def test_the_same_for_a_long_time_with_hardly_any_room(tmp_path: Path, tight: None) -> None:
    assert compared_all(SOAK, tmp_path, SOAK_WRITES)["compared"] > len(SOAK) * SOAK_WRITES


@pytest.mark.sqlite("makes what that engine keeps last too long")
def test_the_gate_fails_where_something_is_kept_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Counted, "_version", lambda *_: 0)

    with pytest.raises(AnotherAnswer, match="seed"):
        compared_all(range(1, 20), tmp_path, WRITES)
