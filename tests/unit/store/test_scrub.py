"""The room of a page that nothing uses lies between the pointers to its cells and the cells."""

import pytest

from pdpp_server.store.engines.sqlite.scrub import unused_room

LEAF, INNER = 13, 5


def page(kind: int, cells: int, content: int) -> bytes:
    """The header of a tree page of 512 bytes, after the file format of SQLite."""
    return bytes((kind, 0, 0, *cells.to_bytes(2, "big"), *content.to_bytes(2, "big"))).ljust(512, b"\0")


@pytest.mark.parametrize(("kind", "low"), [(LEAF, 8 + 2 * 3), (INNER, 12 + 2 * 3)])
def test_it_begins_behind_the_pointers_and_ends_before_the_cells(kind: int, low: int) -> None:
    assert unused_room(page(kind, 3, 400), is_first=False) == (low, 400)


def test_a_page_whose_parts_overlap_is_left_alone() -> None:
    assert unused_room(page(LEAF, 3, 14), is_first=False) == (14, 14)
    for content in (13, 513):
        with pytest.raises(AssertionError):
            unused_room(page(LEAF, 3, content), is_first=False)
