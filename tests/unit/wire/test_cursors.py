"""A cursor says nothing, fits a line, and opens only what it was made for."""

import base64
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.errors import InvalidCursor
from pdpp_server.store.records.ranked_page import Position
from pdpp_server.wire.cursors import (
    KEY_BYTES,
    CursorKind,
    OrderedPlace,
    Place,
    Seal,
    connection_digest,
    digest_of,
    is_of,
)
from tests.requirements import requirement

SEAL = Seal(bytes(range(KEY_BYTES)))
BOUND = b"grant and query"
INTEGERS = st.integers(-(2**63), 2**63 - 1)


def sealed(digest: int = 9) -> str:
    return SEAL.seal("search", Position(1.5, 7, digest).pack(), bound_to=BOUND)


@given(st.floats(allow_nan=False), INTEGERS, INTEGERS)
@requirement("rs.cursors.bounded-size")
def test_every_position_has_a_cursor_of_the_same_small_size(score: float, at: int, digest: int) -> None:
    position = Position(score, at, digest)
    cursor = SEAL.seal("search", position.pack(), bound_to=BOUND)

    assert len(cursor) == len(sealed()) <= 160
    opened = Position.unpack(SEAL.open("search", cursor, bound_to=BOUND))
    assert opened == position
    assert math.copysign(1, opened.score) == math.copysign(1, score)


@given(st.one_of(INTEGERS, st.floats(allow_nan=False), st.text(max_size=200), st.just(b"")), st.text(max_size=600))
@requirement("rs.cursors.bounded-size")
def test_every_place_of_a_page_fits_whole_or_is_known_by_its_beginning(value: int | float | str, key: str) -> None:
    place = Place(value, 7, key)
    cursor = SEAL.seal("records", place.pack(), bound_to=BOUND)
    opened = Place.unpack(SEAL.open("records", cursor, bound_to=BOUND))

    assert len(cursor) <= 160
    assert opened.digest == digest_of(value, key)
    assert key.startswith(opened.key)
    assert value.startswith(str(opened.value)) if isinstance(value, str) else opened.value == value
    assert opened.is_whole == (opened.value == value and opened.key == key)


@requirement("rs.cursors.sealed")
def test_a_cursor_shows_nothing_of_the_place_it_points_at() -> None:
    first, second = (sealed(digest) for digest in (1, 2))

    raw = [base64.urlsafe_b64decode(cursor[1:]) for cursor in (first, second)]
    same = sum(a == b for a, b in zip(*raw, strict=True))
    assert same < len(raw[0]) // 3


@pytest.mark.parametrize("place", range(64))
@requirement("rs.cursors.sealed")
def test_one_changed_byte_makes_it_invalid(place: int) -> None:
    cursor = sealed()
    other = "A" if cursor[place] != "A" else "B"

    for changed in (other, "!", "=", "é", ""):
        with pytest.raises(InvalidCursor):
            SEAL.open("search", cursor[:place] + changed + cursor[place + 1 :], bound_to=BOUND)


@pytest.mark.parametrize("added", ["=", "!", "====", "AAAA", " ", "\n", "\ud800"])
@requirement("rs.cursors.sealed")
def test_nothing_can_be_added_to_a_cursor(added: str) -> None:
    cursor = sealed()

    for longer in (cursor + added, added + cursor, cursor[:10] + added + cursor[10:]):
        with pytest.raises(InvalidCursor):
            SEAL.open("search", longer, bound_to=BOUND)


@given(st.text(max_size=200))
@requirement("rs.cursors.sealed")
def test_what_nobody_sealed_is_refused(text: str) -> None:
    with pytest.raises(InvalidCursor):
        SEAL.open("search", text, bound_to=BOUND)


@requirement("rs.cursors.bound-to-query", "rs.cursors.bound-to-grant")
def test_a_cursor_opens_only_under_the_key_kind_and_binding_it_was_made_for() -> None:
    cursor = sealed()

    keyed: list[tuple[Seal, CursorKind, bytes]] = [
        (SEAL, "search", b"another grant"),
        (SEAL, "records", BOUND),
        (Seal(bytes(KEY_BYTES)[:-1] + b"\1"), "search", BOUND),
    ]
    for seal, kind, bound_to in keyed:
        with pytest.raises(InvalidCursor) as refused:
            seal.open(kind, cursor, bound_to=bound_to)
        assert refused.value.code == "invalid_cursor"
        assert refused.value.param == "cursor"


@pytest.mark.parametrize(("plain", "size"), [(0, 65), (31, 65), (32, 65), (33, 151), (95, 151), (96, 151)])
@requirement("rs.cursors.bounded-size")
def test_a_cursor_has_one_of_two_sizes(plain: int, size: int) -> None:
    cursor = SEAL.seal("search", b"p" * plain, bound_to=BOUND)

    assert len(cursor) == size
    assert SEAL.open("search", cursor, bound_to=BOUND).rstrip(b"\0") == b"p" * plain


@pytest.mark.parametrize(
    ("value", "key", "kept_value", "kept_key"),
    [
        ("v" * 40, "k" * 37, "v" * 40, "k" * 37),
        ("v" * 41, "k" * 37, "v" * 40, "k" * 37),
        ("v" * 40, "k" * 38, "v" * 40, "k" * 37),
        ("v" * 90, "k" * 90, "v" * 40, "k" * 37),
        ("v", "k" * 77, "v", "k" * 76),
        (5, "k" * 70, 5, "k" * 69),
        (0.5, "", 0.5, ""),
        (b"", "k" * 78, b"", "k" * 77),
        ("é" * 30, "é" * 30, "é" * 20, "é" * 18),
    ],
)
def test_of_a_long_place_the_beginnings_are_kept(
    value: int | float | str | bytes, key: str, kept_value: object, kept_key: str
) -> None:
    opened = Place.unpack(Place(value, 7, key).pack())

    assert (opened.value, opened.connection, opened.key) == (kept_value, 7, kept_key)
    assert type(opened.value) is type(kept_value)
    assert opened.is_whole == ((kept_value, kept_key) == (value, key))


@pytest.mark.parametrize(
    ("rank", "kept_rank", "kept_key"),
    [
        (5, 5, 59),
        (0.5, 0.5, 59),
        (b"", b"", 67),
        ("r" * 3, "r" * 3, 64),
        ("r" * 17, "r" * 16, 51),
        ("é" * 9, "é" * 8, 51),
    ],
)
@requirement("rs.cursors.bounded-size")
def test_a_place_in_the_order_of_another_field_takes_what_room_its_value_leaves(
    rank: int | float | str | bytes, kept_rank: object, kept_key: int
) -> None:
    for length in (0, 1, kept_key - 1, kept_key, kept_key + 1, 200):
        plain = OrderedPlace(rank, Place(-3, 7, "k" * length)).pack()
        opened = OrderedPlace.unpack(plain.ljust(96, b"\0"))

        assert len(plain) == 96 - max(0, kept_key - length)
        assert (opened.rank, type(opened.rank)) == (kept_rank, type(kept_rank))
        assert opened.place[:3] == (-3, 7, "k" * min(length, kept_key))
        assert opened.place.is_whole == (length <= kept_key)


def test_digests_stay_what_they_were_for_cursors_that_are_out_already() -> None:
    assert digest_of(1, "k") == 1800197905747345539
    assert connection_digest("cin_work") == 14412861020282483964


def test_a_place_that_was_not_packed_is_whole_and_has_no_digest() -> None:
    assert Place(1, 7, "k")[-2:] == (0, True)


def test_a_cursor_says_by_its_first_letter_what_it_continues() -> None:
    assert sealed().startswith("s")
    assert is_of("search", "s")
    assert not is_of("search", "r")
    assert not is_of("search", "")
