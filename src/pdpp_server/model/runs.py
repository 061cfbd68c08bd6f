"""One reading of an export: what it holds of which collection, and what a newer one of the same has lost."""

from collections.abc import Mapping
from math import comb
from typing import NamedTuple

ODDS = 20
OTHER_HANDS = 0  # the collection of what came in some other way than by an export: nobody's run removes it


class Mark(NamedTuple):
    """In which run, and as part of which collection, records come."""

    run: int
    collection: int


class AsOf(NamedTuple):
    """How new an export is, as it says itself."""

    at: str  # the newest moment in it, written so that later is greater
    is_varied: bool = False  # its parts were written at different moments: then what adds to it would be newer


class Sieve(NamedTuple):
    """By what an export may have been filtered: everything in it passes. Moments in microseconds."""

    within: tuple[int, int] | None = None  # its first and its last
    field: str = ""  # the field that holds a list of
    shared: frozenset[str] = frozenset()  # these, each of them in every record


class Coverage(NamedTuple):
    """How much of a stream an export holds of its collection: all, or all between two moments (microseconds)."""

    after: int | None = None
    before: int | None = None
    follows: str = ""  # the stream that these records are derived from: they come and go with its records
    sieve: Sieve | None = None  # where it cannot be told from a part by itself


class Covered(NamedTuple):
    """What an export holds of one collection; a stream that is not named is there in part."""

    streams: Mapping[str, Coverage]
    as_of: AsOf | None


class Loss(NamedTuple):
    """What a newer export of a collection has no longer, in one stream."""

    mark: Mark
    stream: str
    before: int  # records that earlier runs brought
    now: int  # records that any run brought
    unseen: int  # records that this run did not bring, wherever they lie
    missing: int  # those of them that it should have brought, and that nobody else did
    coverage: Coverage
    looks_filtered: bool = False  # nothing that is missing would have passed its sieve

    @property
    def is_large(self) -> bool:
        return not self.coverage.follows and self.missing * 2 > self.before

    @property
    def is_likely_filtered(self) -> bool:
        """Whether it would be an accident, one in twenty, if just these had been deleted one by one.

        Of all ways to choose them, in so few they lie at both ends, or are just those without a label.
        """
        ways = self.missing + 1 if self.coverage.sieve and self.coverage.sieve.within else 1
        return self.looks_filtered and ODDS * ways <= comb(self.before, min(self.missing, 4))  # more are odder still


class FoundCollection(NamedTuple):
    """What a run found of one collection, beside what was known of it."""

    collection: int
    covered: Covered
    is_first: bool
    doubt: str  # why it cannot be shown to be newer than the last export, if it cannot
    losses: tuple[Loss, ...]

    @property
    def missing(self) -> int:
        return sum(loss.missing for loss in self.losses)


class Run(NamedTuple):
    """An export that was read, and how many records it removed."""

    run: int
    connection_id: str
    file: str
    at: str
    removed: int


class Restored(NamedTuple):
    """How things are after a run was undone, in records."""

    restored: int = 0  # it had removed them, and they came back
    changed_back: int = 0  # it had changed them, and they are as they were
    withdrawn: int = 0  # it had brought them, and they are gone
    there_again: int = 0  # it had removed them, and they had come back by themselves
    left: int = 0  # something came after it that says how they are now
    unfit: int = 0  # what is declared now has no room for them


class Undone(NamedTuple):
    """What became of a run that was undone."""

    run: Run
    restored: Restored
