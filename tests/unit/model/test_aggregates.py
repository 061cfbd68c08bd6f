"""Numbers that are added as they are written."""

import pytest

from pdpp_server.model.aggregates import exact_sum, plain


@pytest.mark.parametrize(
    ("tallies", "total"),
    [
        ([], 0),
        ([(0.1, 3)], 0.3),
        ([(0.1, 1), (0.2, 1)], 0.3),
        ([(1e16, 1), (1.0, 1), (-1e16, 1)], 1),
        ([(2**63 - 1, 1), (1, 1)], 2**63),
        ([(2**64 - 1, 1)], 2**64 - 1),
        ([(2**64, 1)], float(2**64)),  # no JSON integer
        ([(1, 2), (0.5, 2)], 3),
        ([(5e-324, 1), (1e308, 1), (-1e308, 1)], 5e-324),
    ],
)
def test_a_sum_is_exact_and_rounded_once(tallies: list[tuple[int | float, int]], total: int | float) -> None:
    found = exact_sum(tallies)
    assert (found, type(found)) == (total, type(total))


def test_a_sum_that_no_number_can_be_is_an_overflow() -> None:
    with pytest.raises(OverflowError):
        exact_sum([(1e308, 100)])


def test_a_number_is_written_in_one_way() -> None:
    assert [repr(plain(value)) for value in (2.0, 2, -0.0, 2.5, 2.0**53, 2.0**53 - 1)] == [
        "2", "2", "0", "2.5", "9007199254740992.0", "9007199254740991",
    ]  # fmt: skip
