"""Values as bytes that sort as they should."""

import pytest

from pdpp_server.store.engines.postgres.values import given, kept

IN_ORDER = [
    float("-inf"), -1e300, -(2**63), -2.5, -2, -1e-300, 0, 5e-324, 1, 1.5, 2**53 - 1, 2**53, 2**53 + 1, 2**62 + 1,
    2**63 - 1, 1e300, float("inf"), "", "A", "Z", "a", "ä", "\U0001f600", b"",
]  # fmt: skip


def test_numbers_sort_by_size_then_texts_then_what_is_none() -> None:
    shuffled = IN_ORDER[::-2] + IN_ORDER[-2::-2]
    assert sorted(shuffled, key=kept) == IN_ORDER


@pytest.mark.parametrize("value", IN_ORDER)
def test_what_is_kept_is_given_back_as_what_it_was(value: float | str | bytes) -> None:
    assert (given(kept(value)), type(given(kept(value)))) == (value, type(value))


def test_a_long_number_that_was_written_with_a_point_stays_one() -> None:
    assert repr(given(kept(float(2**60)))) == repr(float(2**60))
    assert repr(given(kept(2**60))) == repr(2**60)
    assert kept(2) == kept(2.0)  # the same number
    assert kept(-0.0) == kept(0)
