"""A posting block: which records of a batch hold a term, and where it stands in them.

A block is one or more runs, each written behind the other. A run is as flat as can be: whoever writes has ten
thousand of them at once.
"""

from collections.abc import Container, Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple

import orjson

# Letters of at most four bytes: a key has room for some 2,700. Of a longer term so many stand before its digest.
TERM_CHARS, BEGINNING_CHARS = 650, 600


def kept_term(term: str) -> str:
    """As it stands in a key. What is longer than any word, such as bytes as text, by its beginning and a digest."""
    return term if len(term) <= TERM_CHARS else f"{term[:BEGINNING_CHARS]}{sha256(term.encode()).hexdigest()}"


def kept_terms(terms: Sequence[str]) -> Sequence[str]:
    """The same of many, of which hardly any is so long."""
    return terms if max(map(len, terms)) <= TERM_CHARS else [*map(kept_term, terms)]


class PostingRun(NamedTuple):
    """Three numbers for each time that the term stands somewhere: the record, counted from the one that names its
    batch, the column, and the position there."""

    batch: int
    places: list[int]

    @property
    def rids(self) -> list[int]:
        return [self.batch + offset for offset in self.places[0::3]]

    @property
    def slots(self) -> list[int]:
        return self.places[1::3]

    @property
    def positions(self) -> list[int]:
        return self.places[2::3]

    def without(self, gone: Container[int]) -> "PostingRun":
        """Nothing of these records, and the others in order: those of a batch may have come at several times."""
        left = PostingRun(self.batch, [])
        for rid, slot, position in sorted(zip(self.rids, self.slots, self.positions, strict=True)):
            if rid not in gone:
                left.places.extend((rid - self.batch, slot, position))
        return left


def kept_run(batch: int, places: list[int]) -> str:
    """A run, as it is kept."""
    return orjson.dumps((batch, places)).decode()


def runs(blocks: Iterable[str]) -> list[PostingRun]:
    kept: list[tuple[int, list[int]]] = orjson.loads(f"[{','.join(blocks)}]")
    return [PostingRun(batch, places) for batch, places in kept]
