"""Which passages are near to a question: by their signs among all that are visible, then by their numbers."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdpp_server.meaning.blocks import BLOCK_BITS, Meant, entries, entries_to_bytes, entry_bytes, passages_to_bytes
from pdpp_server.meaning.tensors import Vectors

LOOKED_AT = 500  # passages whose numbers are looked at, and those that tie with the last of them
_STEPS = 7  # of a number on either side of zero: four bits
_FINE = 4096  # of a number of the question; whole numbers, so that sums are the same in every order

Signs = NDArray[np.uint8]
WholeNumbers = NDArray[np.float64]


class KeptVectors(NamedTuple):
    """What is stored of a record."""

    passages: bytes
    lines: bytes


class Marked(NamedTuple):
    """The lines of some records: which record, which passage of it, which field, and its signs."""

    rids: NDArray[np.int64]
    numbers: NDArray[np.uint16]
    fields: NDArray[np.uint32]
    signs: Signs

    def only(self, mask: NDArray[np.bool_]) -> "Marked":
        """These lines; nothing is copied where all of them are meant."""
        if mask.all():
            return self
        return Marked(self.rids[mask], self.numbers[mask], self.fields[mask], self.signs[mask])

    @property
    def records(self) -> int:
        """The lines of a record lie together."""
        return int(np.count_nonzero(np.diff(self.rids))) + 1 if len(self.rids) else 0


def kept(rid: int, places: Sequence[tuple[int, int, int]], vectors: Vectors, dimensions: int) -> KeptVectors:
    """A record by its passages: of each its field, its first character and how many there are."""
    meant = [Meant(*place, packed) for place, packed in zip(places, _packed(vectors), strict=True)]
    signs = [row.tobytes() for row in np.packbits(vectors > 0, axis=1)]
    lines = entries_to_bytes(rid, [place[0] for place in places], signs, dimensions)
    return KeptVectors(passages_to_bytes(dimensions, meant), lines)


def marked(blocks: Iterable[tuple[int, bytes]], dimensions: int) -> Marked:
    """All lines of some blocks; a block of another model's size has none."""
    kept_blocks = [*blocks]
    numbers = [number for number, _ in kept_blocks]
    pieces = entries([block for _, block in kept_blocks], dimensions)
    size = entry_bytes(dimensions)
    kind = np.dtype([("at", "<u2"), ("number", "<u2"), ("field", "<u4"), ("signs", "u1", (size - 8,))])
    lines: Any = np.frombuffer(b"".join(pieces), kind)
    counts = [len(piece) // size for piece in pieces]
    first = np.repeat(np.array(numbers, np.int64) << BLOCK_BITS, counts)
    return Marked(first + lines["at"], lines["number"], lines["field"], np.ascontiguousarray(lines["signs"]))


class SeenVectors(NamedTuple):
    """What a reader can see of some blocks: how many records, and their lines in fields that are granted."""

    records: int
    marks: Marked


class AskedVector:
    """What is looked for, as the model that is named understands it."""

    def __init__(self, model: str, vector: Vectors) -> None:
        self.model, self._vector = model, vector

    @property
    def dimensions(self) -> int:
        return len(self._vector)

    def seen(
        self, blocks: Iterable[tuple[int, bytes]], fields: Iterable[int], within: tuple[int, int], also: Sequence[int]
    ) -> SeenVectors:
        """Of these blocks the records within a range, and some others one by one: the rest is not there."""
        every = marked(blocks, self.dimensions)
        is_visible = (every.rids >= within[0]) & (every.rids < within[1])
        if also:
            is_visible |= np.isin(every.rids, np.array(also, np.int64))
        visible = every.only(is_visible)
        granted = [visible.fields == number for number in fields]
        return SeenVectors(visible.records, visible.only(np.logical_or.reduce(granted)))

    def alike(self, seen: Sequence[SeenVectors]) -> list[tuple[int, int]]:
        """Record and passage of those whose signs differ least; ties with the last one are among them."""
        signs = np.packbits(self._vector > 0)
        wide = np.uint64 if len(signs) % 8 == 0 else np.uint8
        differing = [_differing(one.marks.signs.view(wide), signs.view(wide)) for one in seen]
        most = _at_most(np.concatenate(differing)) if differing else 0
        found: list[tuple[int, int]] = []
        for one, differs in zip(seen, differing, strict=True):
            chosen = np.flatnonzero(differs <= most)
            found += zip(one.marks.rids[chosen].tolist(), one.marks.numbers[chosen].tolist(), strict=True)
        return found

    def similarities(self, vectors: Sequence[bytes]) -> list[float]:
        """The cosine of each with the question; the same for the same vector, whatever stands beside it."""
        if not vectors:
            return []
        asked = np.round(self._vector.astype(np.float64) * _FINE)
        numbers = _unpacked(vectors, len(asked))
        lengths = np.sqrt((numbers * numbers).sum(1)) * np.sqrt((asked * asked).sum())
        return ((numbers @ asked) / np.maximum(lengths, 1)).tolist()


def _differing(signs: NDArray[Any], asked: NDArray[Any]) -> NDArray[np.int32]:
    return np.bitwise_count(signs ^ asked).sum(1, dtype=np.int32)


def _at_most(differing: NDArray[np.int32]) -> int:
    """How many signs of the last one differ that is still looked at."""
    if len(differing) <= LOOKED_AT:
        return int(differing.max(initial=0))
    return int(np.partition(differing, LOOKED_AT - 1)[LOOKED_AT - 1])


def _packed(vectors: Vectors) -> list[bytes]:
    """Four bits a number: from one step to fifteen, with eight for zero."""
    scale = np.maximum(np.abs(vectors).max(1, keepdims=True) / _STEPS, 1e-12)
    whole: Any = np.rint(vectors / scale) + (_STEPS + 1)
    steps: Signs = np.pad(whole.astype(np.uint8), ((0, 0), (0, vectors.shape[1] % 2)))
    return [row.tobytes() for row in steps[:, 0::2] << 4 | steps[:, 1::2]]


def _unpacked(vectors: Sequence[bytes], dimensions: int) -> WholeNumbers:
    raw = np.frombuffer(b"".join(vectors), np.uint8).reshape(len(vectors), -1)
    both = np.stack((raw >> 4, raw & 15), axis=2).reshape(len(vectors), -1)[:, :dimensions]
    return both.astype(np.float64) - (_STEPS + 1)
