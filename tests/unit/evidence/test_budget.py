"""A budget is kept, and spent on handles first."""

from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.evidence.budget import BudgetRow, affordable, first_that_fits, fit
from pdpp_server.evidence.text import byte_len

ROWS = st.lists(st.builds(BudgetRow, st.text(max_size=30), st.lists(st.text(max_size=30), max_size=3)))


@given(ROWS, st.integers(0, 200))
def test_rows_keep_the_budget_unless_one_alone_breaks_it(rows: list[BudgetRow], limit: int) -> None:
    shown = fit(rows, limit)

    assert byte_len("\n".join(shown)) <= max(limit, byte_len(rows[0].least) if rows else 0)
    assert bool(shown) == bool(rows)
    assert all(line in (row.least, *row.richer) for line, row in zip(shown, rows, strict=False))


def test_no_row_is_lost_to_the_wealth_of_another() -> None:
    rows = [BudgetRow("a", ["a rich line"]), BudgetRow("b", ["b rich line"])]

    assert fit(rows, 3) == ["a", "b"]
    assert fit(rows, 14) == ["a rich line", "b"]


def test_the_first_way_that_fits_is_taken_and_the_last_where_none_does() -> None:
    assert first_that_fits(("long", "mid", "s"), 3) == "mid"
    assert first_that_fits(("long", "mid"), 1) == "mid"


def test_what_cannot_be_afforded_leaves_its_place_empty_and_its_bytes_to_others() -> None:
    assert affordable(("aa", "too long", "", "b"), 5) == ["aa", "", "", "b"]
    assert affordable(("aa", "b"), 4) == ["aa", ""]
