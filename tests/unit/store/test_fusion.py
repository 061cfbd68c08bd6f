"""Words and meaning in one order."""

import pytest

from pdpp_server.store.records.fusion import MEANING, fused


def test_each_counts_as_a_share_of_its_best() -> None:
    scores = fused({1: 4.0, 2: 2.0}, {2: 0.5, 3: 0.25})

    assert scores == {
        1: pytest.approx(1 - MEANING),
        2: pytest.approx((1 - MEANING) / 2 + MEANING),
        3: pytest.approx(MEANING / 2),
    }


def test_what_is_not_similar_is_not_found_by_its_meaning() -> None:
    assert fused({}, {1: -0.2, 2: 0.0}) == {}


def test_matches_that_are_worth_nothing_stay_matches() -> None:
    assert fused({1: 0.0, 2: 0.0}, {}) == {1: 0.0, 2: 0.0}


def test_words_count_for_more_than_meaning_and_meaning_for_something() -> None:
    scores = fused({1: 3.0}, {2: 0.7})

    assert scores[1] > scores[2] > 0
