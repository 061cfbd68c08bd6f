"""Vectors as they are kept."""

import pytest

from pdpp_server.meaning.blocks import (
    BLOCK_BITS,
    Meant,
    block_of,
    entries,
    entries_to_bytes,
    field_number,
    is_of_size,
    new_block,
    passage_of_bytes,
    passages_of_bytes,
    passages_to_bytes,
    place_in_block,
    places,
    without,
)

FOUR = [Meant(7, 0, 100, b"\x12\x34"), Meant(8, 100, 50, b"\x56\x78")]


def test_passages_are_read_as_they_were_written() -> None:
    raw = passages_to_bytes(4, FOUR)
    assert passages_of_bytes(raw, 4) == FOUR
    assert passages_of_bytes(passages_to_bytes(4, []), 4) == []


def test_one_passage_is_read_without_the_others() -> None:
    raw = passages_to_bytes(4, FOUR)
    assert [passage_of_bytes(raw, number, 4) for number in (0, 1, 2)] == [*FOUR, None]


@pytest.mark.parametrize("raw", [b"", b"\x04", passages_to_bytes(8, []), passages_to_bytes(4, FOUR)[:-1]])
def test_what_another_model_made_or_what_is_cut_is_none(raw: bytes) -> None:
    assert not is_of_size(raw, 4)
    assert passages_of_bytes(raw, 4) == []
    assert passage_of_bytes(raw, 0, 4) is None


def test_a_record_lies_in_one_block_at_one_place() -> None:
    rid = (5 << BLOCK_BITS) + 3
    assert (block_of(rid), place_in_block(rid)) == (5, 3)
    assert block_of(rid + (1 << BLOCK_BITS)) == 6


def test_a_block_loses_a_record_and_keeps_the_others() -> None:
    block = new_block(8) + entries_to_bytes(3, [7, 8], [b"a", b"b"], 8) + entries_to_bytes(4, [], [], 8)
    assert places(block) == [3, 3, 4]
    assert places(without(block, [3])) == [4]
    assert without(block, [3, 4]) == b""
    assert without(block, [9]) == block
    assert without(b"", [3]) == b""


def test_the_lines_of_a_block_of_another_size_are_none() -> None:
    block = new_block(8) + entries_to_bytes(3, [7], [b"a"], 8)
    assert entries([block, block + b"x", b""], 8) == [block[2:], b"", b""]
    assert entries([block], 16) == [b""]


def test_a_field_has_the_same_number_everywhere_and_never_that_of_none() -> None:
    assert field_number("body") == field_number("body") != field_number("title")
    assert 0 < field_number("") < 1 << 32
