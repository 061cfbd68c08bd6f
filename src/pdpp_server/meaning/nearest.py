"""Which passages are near to a question: by their signs among all that are visible, then by their numbers."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdpp_server.meaning.blocks import BLOCK_BITS, Meant, entries, entries_to_bytes, entry_bytes, passages_to_bytes
from pdpp_server.meaning.tensors import Vectors

LOOKED_AT = 500  # passages whose numbers are looked at, and those that tie with the last of them
_STEPS = 7  # of a number on either side of zero: four bits
_FINE = 4096  # of a number of the question; whole numbers, so that sums are the same in every order

Signs = NDArray[np.uint8]
WholeNumbers = NDArray[np.float32]  # whose sums stay far below 2^24, up to which each of them is exact
_BYTES = np.arange(256)
_BOTH: WholeNumbers = np.stack((_BYTES >> 4, _BYTES & 15), axis=1).astype(np.float32) - (_STEPS + 1)  # of each byte


class KeptVectors(NamedTuple):
    """What is stored of a record."""

    passages: bytes
    lines: bytes


class Marked(NamedTuple):
    """The lines of some records as they lie in their blocks: the number of a passage, its field, its signs."""

    rids: NDArray[np.int64]
    lines: NDArray[np.void]

    def only(self, mask: NDArray[np.bool_]) -> "Marked":
        """These lines; nothing is copied where all of them are meant."""
        return self if mask.all() else Marked(self.rids[mask], self.lines[mask])

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
    lines: Any = np.frombuffer(b"".join(pieces), _line(dimensions))
    counts = [len(piece) // lines.itemsize for piece in pieces]
    first = np.repeat(np.array(numbers, np.int64) << BLOCK_BITS, counts)
    return Marked(first + lines["at"], lines)


@lru_cache(4)
def _line(dimensions: int) -> Any:
    """Signs as numbers that are as wide as they can be: few comparisons."""
    width = entry_bytes(dimensions) - 8
    signs = ("<u8", (width // 8,)) if width % 8 == 0 else ("u1", (width,))
    return np.dtype([("at", "<u2"), ("number", "<u2"), ("field", "<u4"), ("signs", *signs)])


class SeenVectors(NamedTuple):
    """What a reader can see of some blocks: how many records, and of passages in granted fields the record, the number
    and the signs, those in columns as they are compared."""

    records: int
    rids: NDArray[np.int64]
    numbers: NDArray[np.uint16]
    signs: NDArray[Any]

    @property
    def size(self) -> int:
        return self.rids.nbytes + self.numbers.nbytes + self.signs.nbytes


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
        granted = [visible.lines["field"] == number for number in fields]
        rids, lines = visible.only(np.logical_or.reduce(granted))
        return SeenVectors(visible.records, rids, lines["number"].copy(), np.ascontiguousarray(lines["signs"].T))

    def alike(self, seen: Sequence[SeenVectors]) -> list[tuple[int, int]]:
        """Record and passage of those whose signs differ least; ties with the last one are among them."""
        signs = np.packbits(self._vector > 0)
        differing = [_differing(one.signs, signs) for one in seen]
        most = _at_most(np.concatenate(differing)) if differing else 0
        found: list[tuple[int, int]] = []
        for one, differs in zip(seen, differing, strict=True):
            chosen = np.flatnonzero(differs <= most)
            found += zip(one.rids[chosen].tolist(), one.numbers[chosen].tolist(), strict=True)
        return found

    def similarities(self, vectors: Sequence[bytes]) -> list[float]:
        """The cosine of each with the question; the same for the same vector, whatever stands beside it."""
        if not vectors:
            return []
        asked = np.round(self._vector * np.float32(_FINE))
        numbers = _unpacked(vectors, len(asked))
        squares = np.einsum("ij,ij->i", numbers, numbers).astype(np.float64)
        lengths = np.sqrt(squares) * np.sqrt((asked.astype(np.float64) ** 2).sum())
        return ((numbers @ asked) / np.maximum(lengths, 1)).tolist()


def _differing(signs: NDArray[Any], asked: Signs) -> NDArray[np.uint16]:
    """In how many places the signs of each differ from what is asked."""
    differing = np.zeros(signs.shape[1], np.uint16)
    for column, wanted in zip(signs, asked.view(signs.dtype), strict=True):
        differing += np.bitwise_count(column ^ wanted)
    return differing


def _at_most(differing: NDArray[np.uint16]) -> int:
    """How many signs of the last one differ that is still looked at."""
    if len(differing) <= LOOKED_AT:
        return int(differing.max(initial=0))
    return int(np.partition(differing, LOOKED_AT - 1)[LOOKED_AT - 1])


def _packed(vectors: Vectors) -> list[bytes]:
    """Four bits a number: from one step to fifteen, with eight for zero."""
    largest = np.abs(vectors).max(1, keepdims=True)
    scale = np.maximum(largest / _STEPS, 1e-12)
    whole: Any = np.rint(vectors / scale) + (_STEPS + 1)
    is_odd = vectors.shape[1] % 2
    steps: Signs = np.pad(whole.astype(np.uint8), ((0, 0), (0, is_odd)))
    high, low = steps[:, 0::2], steps[:, 1::2]
    return [row.tobytes() for row in high << 4 | low]


def _unpacked(vectors: Sequence[bytes], dimensions: int) -> WholeNumbers:
    raw = np.frombuffer(b"".join(vectors), np.uint8)
    return _BOTH[raw].reshape(len(vectors), -1)[:, :dimensions]
