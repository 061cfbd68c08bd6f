"""Vectors as they are kept: of each record its passages, and for each block of records the signs that find them."""

import hashlib
import struct
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

BLOCK_BITS = 9  # of a rid: what one block spans

_HEAD = struct.Struct("<H")  # dimensions
_ENTRY = struct.Struct("<HHI")  # the record in its block, the passage in its record, the field; then the signs
_PASSAGE = struct.Struct("<IIH")  # field, first character, characters; then the vector, two numbers a byte
NO_FIELD = 0  # of a record without a text: it is known to have none


class Meant(NamedTuple):
    """One passage of a record, as what it means."""

    field: int
    start: int
    chars: int
    vector: bytes


@lru_cache(10_000)
def field_number(name: str) -> int:
    """A field by its name, whatever else is declared beside it."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest()) or 1


def block_of(rid: int) -> int:
    return rid >> BLOCK_BITS


def place_in_block(rid: int) -> int:
    return rid & ((1 << BLOCK_BITS) - 1)


def entry_bytes(dimensions: int) -> int:
    return _ENTRY.size + (dimensions + 7) // 8


def passages_to_bytes(dimensions: int, meant: Iterable[Meant]) -> bytes:
    rows = [_PASSAGE.pack(passage.field, passage.start, passage.chars) + passage.vector for passage in meant]
    return b"".join((_HEAD.pack(dimensions), *rows))


def passages_of_bytes(kept: bytes, dimensions: int) -> list[Meant]:
    """The passages of a record; none where they are of another model's size."""
    if not is_of_size(kept, dimensions):
        return []
    size = _passage_bytes(dimensions)
    return [_passage(kept, at, size) for at in range(_HEAD.size, len(kept), size)]


def passage_of_bytes(kept: bytes, number: int, dimensions: int) -> Meant | None:
    """One of them, without a look at the others."""
    size = _passage_bytes(dimensions)
    at = _HEAD.size + number * size
    return _passage(kept, at, size) if at < len(kept) and is_of_size(kept, dimensions) else None


def _passage(kept: bytes, at: int, size: int) -> Meant:
    field, start, chars = _PASSAGE.unpack_from(kept, at)
    return Meant(field, start, chars, kept[at + _PASSAGE.size : at + size])


def _passage_bytes(dimensions: int) -> int:
    return _PASSAGE.size + (dimensions + 1) // 2


def entries_to_bytes(rid: int, fields: Sequence[int], signs: Sequence[bytes], dimensions: int) -> bytes:
    """What a block holds of one record: a line for each passage, or one that says that it has none."""
    if not fields:
        return _ENTRY.pack(place_in_block(rid), 0, NO_FIELD) + bytes((dimensions + 7) // 8)
    numbered = enumerate(zip(fields, signs, strict=True))
    return b"".join(_ENTRY.pack(place_in_block(rid), n, field) + sign for n, (field, sign) in numbered)


def new_block(dimensions: int) -> bytes:
    return _HEAD.pack(dimensions)


def entries(blocks: Iterable[bytes], dimensions: int) -> list[bytes]:
    """The lines of each block; none where it is of another model's size."""
    head, size = _HEAD.pack(dimensions), entry_bytes(dimensions)
    return [block[2:] if block[:2] == head and not (len(block) - 2) % size else b"" for block in blocks]


def without(block: bytes, rids: Iterable[int]) -> bytes:
    """The block without these records; empty where nothing is left, or where it is no block at all."""
    if len(block) < _HEAD.size:
        return b""
    gone = {place_in_block(rid) for rid in rids}
    kept = [line for line in _lines(block) if int.from_bytes(line[:2], "little") not in gone]
    return b"".join((block[: _HEAD.size], *kept)) if kept else b""


def places(block: bytes) -> list[int]:
    """Which records a block holds, by their place in it, once for each line."""
    return [int.from_bytes(line[:2], "little") for line in _lines(block)] if len(block) >= _HEAD.size else []


def _lines(block: bytes) -> Iterator[bytes]:
    size = entry_bytes(_HEAD.unpack_from(block)[0])
    return (block[at : at + size] for at in range(_HEAD.size, len(block), size))


def is_of_size(kept: bytes, dimensions: int) -> bool:
    """Whether passages were made by a model of so many dimensions."""
    return _fits(kept, dimensions, _passage_bytes(dimensions))


def _fits(kept: bytes, dimensions: int, size: int) -> bool:
    return kept.startswith(_HEAD.pack(dimensions)) and not (len(kept) - _HEAD.size) % size
