"""Timing that a busy machine disturbs least: ours and the floor take turns, and medians are compared."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import quantiles
from time import perf_counter


@dataclass(frozen=True, slots=True)
class Timing:
    p50: float
    p95: float


def timed(work: Callable[[], object], times: int, clock: Callable[[], float] = perf_counter) -> list[float]:
    taken: list[float] = []
    for _ in range(times):
        start = clock()
        work()
        taken.append(clock() - start)
    return taken


def timing(taken: list[float]) -> Timing:
    cuts = quantiles(taken, n=20)
    return Timing(cuts[9], cuts[18])


def side_by_side(
    ours: Callable[[], object],
    floor: Callable[[], object],
    *,
    rounds: int,
    each: int,
    clock: Callable[[], float] = perf_counter,
) -> tuple[Timing, Timing]:
    """Alternate short bursts of both, so that a slow moment of the machine falls on both."""
    timed(ours, each)
    timed(floor, each)
    mine: list[float] = []
    bare: list[float] = []
    for _ in range(rounds):
        mine += timed(ours, each, clock)
        bare += timed(floor, each, clock)
    return timing(mine), timing(bare)
