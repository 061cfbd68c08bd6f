"""What a promise is: one sentence that a test proves, where it comes from, and what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Promise:
    """`scenario` and `ruling` are the numbers it answers; `deferred` and `diverges` say why, in words."""

    source: str
    says: str
    scenario: tuple[str, ...] = ()
    ruling: tuple[int, ...] = ()
    deferred: str | None = None
    diverges: str | None = None


class Case(NamedTuple):
    """One situation in which a promise shows: its name, when it arises, and what is seen then."""

    name: str
    when: str
    then: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What was asked for in one piece: why, its promises by id with their cases, and what no test can finish."""

    name: str
    why: str
    impact: str
    by_hand: tuple[str, ...]
    cases: Mapping[str, tuple[Case, ...]]
