"""Findings: what the doctor tried, and what came out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Fault(NamedTuple):
    """One thing that is wrong. `places` name files, streams or grants, never text of a record."""

    code: str
    number: int = 1
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartLooked:
    """What one look at one part found; `facts` are what can be said of it either way."""

    faults: tuple[Fault, ...] = ()
    facts: Mapping[str, int | str] = field(default_factory=dict[str, int | str])


@dataclass(frozen=True, slots=True)
class Finding:
    """One part after everything was tried: what is wrong with it still, and what was mended."""

    part: str
    faults: tuple[Fault, ...] = ()
    mended: tuple[Fault, ...] = ()
    facts: Mapping[str, int | str] = field(default_factory=dict[str, int | str])

    @property
    def is_well(self) -> bool:
        return not self.faults
