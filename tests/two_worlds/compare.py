"""Ask both worlds the same, and find the first byte that differs."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

from pdpp_server.model.queries import RecordsQuery, SearchQuery
from tests.two_worlds.ask import DOORS, Asked, Door, Side, calls, open_side
from tests.two_worlds.plan import SECRET, Plan, plan

PAGES_MAX = 4
_BESIDE = re.compile(rb"beside=[1-9]|neighbour_count")

_EXPANDED = re.compile(rb"expanded\W{1,4}(link|from_)")


class Difference(AssertionError):
    """The two worlds can be told apart."""


OpenSides = Callable[[Plan, Path], tuple[Side, Side]]


def two_homes(made: Plan, folder: Path) -> tuple[Side, Side]:
    """Two lives that differ in what the grant hides."""
    left, right = (
        open_side(made, life, after, folder / name)
        for life, after, name in zip(made.lives, made.afterwards, ("left", "right"), strict=True)
    )
    return left, right


def compare(
    seed: int,
    folder: Path,
    *,
    calls_each: int,
    is_heavy: bool = False,
    doors: Mapping[str, Door] = DOORS,
    open_sides: OpenSides = two_homes,
) -> Counter[str]:
    """What was exercised, counted.

    Raises:
        Difference: with the seed, the call and the first bytes that differ.
    """
    made = plan(seed, is_heavy=is_heavy)
    left, right = open_sides(made, folder)
    tally = _telling(made)
    random = Random(-seed)
    try:
        for number, query in enumerate(calls(made, random, calls_each)):
            name = random.choice(sorted(doors))
            tally += _ask_both(left, right, doors[name], query, f"seed {seed}, call {number} by {name}")
        if (told := left.disclosures()) != (other := right.disclosures()):
            raise Difference(
                f"seed {seed}: the logs differ: {_first_difference(repr(told).encode(), repr(other).encode())}"
            )
    finally:
        left.close()
        right.close()
    return tally


def _ask_both(left: Side, right: Side, door: Door, query: Asked, where: str) -> Counter[str]:
    """One call, and the pages that follow it."""
    tally: Counter[str] = Counter()
    asked: tuple[Asked, Asked] = query, query
    for _ in range(PAGES_MAX):
        (told, cursor), (other, theirs) = door(left, asked[0]), door(right, asked[1])
        if told != other:
            raise Difference(f"{where}: {query}\n{_first_difference(told, other)}")
        tally["calls"] += 1
        tally["bounded"] += b"complete=False" in told
        tally["beside"] += _BESIDE.search(told) is not None
        tally["refused"] += b"error" in told[:40] or told.startswith(b"('")
        tally[type(query).__name__] += 1
        tally["expanded"] += _EXPANDED.search(told) is not None
        tally["around"] += b"earlier_cursor" in told and b"error" not in told[:40]
        if cursor is None or not isinstance(query, SearchQuery | RecordsQuery):
            break
        tally["followed"] += 1
        asked = _followed(query, cursor), _followed(query, theirs)
    return tally


def _followed(query: SearchQuery | RecordsQuery, cursor: str | None) -> Asked:
    if isinstance(query, RecordsQuery) and query.changes_since:
        return replace(query, changes_since=None, cursor=cursor)
    return replace(query, cursor=cursor)


def _telling(made: Plan) -> Counter[str]:
    """What this plan hides that a leak would show."""
    texts = [" ".join(str(event.data) for arrival in life.arrivals for event in arrival.events) for life in made.lives]
    return Counter(
        words_of_one_world=sum((word in texts[0]) != (word in texts[1]) for word in SECRET),
        hidden_events=len(made.hidden),
        hidden_times=int(made.hides_time),
    )


def _first_difference(told: bytes, other: bytes) -> str:
    at = next((i for i, (a, b) in enumerate(zip(told, other, strict=False)) if a != b), min(len(told), len(other)))
    around = slice(max(0, at - 120), at + 120)
    return f"at byte {at}:\n  {told[around]!r}\n  {other[around]!r}"
