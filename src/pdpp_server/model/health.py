"""Findings: what the doctor tried, and what came out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class DatabaseHealth(NamedTuple):
    """What a database that many share says of itself. Dead rows are those that vacuum has not taken away yet."""

    version: str
    role: str
    extensions: str
    is_standby: bool
    is_archived: bool  # its write-ahead log
    tables: int
    tables_of_others: int
    unguarded: tuple[str, ...]  # tables of owners without forced row security or without a policy
    replicas: int
    replicas_seen: int  # of how many our role may know where they are
    bytes_behind: int
    slots: int
    words_live: int
    words_dead: int
    words_bytes: int
    dead: int


class Fault(NamedTuple):
    """One thing that is wrong. `places` name files, streams or grants, never text of a record."""

    code: str
    number: int = 1
    places: tuple[str, ...] = ()
    remedy: str = ""  # of a refusal, which says it itself


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
