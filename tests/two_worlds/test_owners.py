"""Two databases that differ only in what another owner has: nobody can tell them apart by their own answers."""

from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import psycopg
import pytest

from tests.conftest import kept_at
from tests.requirements import requirement
from tests.two_worlds.ask import Side, open_side
from tests.two_worlds.compare import Difference, compare
from tests.two_worlds.plan import Plan
from tests.worlds.postgres import Cluster

SEED, CALLS_EACH, SEEDS_TRIED = 1, 40, 8
SOAK = [range(first, first + 4) for first in range(2000, 2032, 4)]
Towns = tuple[str, str]  # the addresses of the two databases


@pytest.fixture
def towns(postgres: Cluster) -> Towns:
    return postgres.fresh(), postgres.fresh()


def beside_others(towns: Towns, made: Plan, folder: Path) -> tuple[Side, Side]:
    """The same life in both; who lives beside it, before and after it came, lives otherwise in each."""
    left, right = (
        _beside(made, other, folder / name, url)
        for other, name, url in zip((0, 1), ("left", "right"), towns, strict=True)
    )
    return left, right


def _beside(made: Plan, other: int, folder: Path, url: str) -> Side:
    with kept_at(url):
        open_side(made, made.lives[other], made.afterwards[other], folder / "before").close()
        mine = open_side(made, made.lives[0], made.afterwards[0], folder / "mine")
        open_side(made, made.lives[1 - other], made.afterwards[1 - other], folder / "after").close()
        return mine


def compared(seeds: Iterable[int], folder: Path, towns: Towns, *, calls_each: int) -> Counter[str]:
    tally: Counter[str] = Counter()
    for seed in seeds:
        opened = partial(beside_others, towns)
        tally += compare(seed, folder / str(seed), calls_each=calls_each, open_sides=opened)
    return tally


@requirement("store.owners.same-bytes")
def test_what_another_owner_has_changes_no_byte_of_an_answer(tmp_path: Path, towns: Towns) -> None:
    tally = compared([SEED], tmp_path, towns, calls_each=CALLS_EACH)

    assert tally["calls"] >= CALLS_EACH
    assert all(tally[what] for what in ("refused", "words_of_one_world", "SearchQuery", "RecordsQuery")), tally


@pytest.mark.soak
@pytest.mark.parametrize("seeds", SOAK, ids=str)
@requirement("store.owners.same-bytes")
def test_twenty_thousand_calls_beside_other_owners_find_no_difference(
    seeds: range, tmp_path: Path, towns: Towns
) -> None:
    tally = compared(seeds, tmp_path, towns, calls_each=400)

    assert tally["calls"] >= 20_000 // len(SOAK)


@pytest.mark.parametrize("table", ["words", "streams"])
def test_the_gate_fails_where_a_wall_between_owners_is_down(table: str, tmp_path: Path, towns: Towns) -> None:
    def without_wall(made: Plan, folder: Path) -> tuple[Side, Side]:
        sides = beside_others(towns, made, folder)
        for url in towns:
            with psycopg.connect(url, autocommit=True) as fault:
                fault.execute(f"alter table {table} disable row level security".encode())
        return sides

    with pytest.raises(Difference, match="seed"):
        for seed in range(SEED, SEED + SEEDS_TRIED):  # which all live there together at last
            compare(seed, tmp_path / str(seed), calls_each=CALLS_EACH, open_sides=without_wall)
