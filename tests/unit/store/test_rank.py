"""A score is made of what a record holds of a question, as its source hears it."""

import pytest

from pdpp_server.store.records.rank import (
    LONG,
    MENTIONED,
    HeldPhrases,
    Question,
    SourceCounts,
    score,
    weighed,
    worth_of,
)
from tests.requirements import requirement

ACTOR, TEXT = 0b01, 0b10


def scored(counts: list[int], weights: list[float], names: list[bool] | None = None, slots: int = TEXT) -> float:
    question = Question(weights, names or [False] * len(weights))
    held = HeldPhrases(counts, [slots if count else 0 for count in counts])
    return score(10, worth_of(held, question, ACTOR))


@requirement("rs.search.coverage")
def test_a_record_with_half_of_the_question_gets_half_of_what_its_words_are_worth() -> None:
    alone, half = scored([1], [2.0]), scored([1, 0], [2.0, 2.0])

    assert half == pytest.approx(alone / 2)


@requirement("rs.search.coverage")
def test_two_different_words_are_worth_more_than_one_of_them_many_times() -> None:
    assert scored([1, 1], [2.0, 2.0]) > scored([9, 0], [2.0, 2.0])


@requirement("rs.search.coverage")
def test_a_whole_contract_that_holds_the_question_counts_more_than_a_line_that_names_it() -> None:
    question = Question([2.0, 1.6], [False, False])
    contract = worth_of(HeldPhrases([2, 1], [TEXT, TEXT]), question, ACTOR)
    line = worth_of(HeldPhrases([0, 1], [0, TEXT]), question, ACTOR)

    assert score(LONG, contract) == score(50 * LONG, contract) > score(3, line)
    assert score(LONG, contract) < score(LONG - 1, contract)


@requirement("rs.search.names")
def test_a_name_counts_in_full_where_it_spoke_and_a_quarter_where_it_is_mentioned() -> None:
    spoken, mentioned = (scored([1], [2.0], [True], slots) for slots in (ACTOR, TEXT))

    assert mentioned == pytest.approx(spoken * MENTIONED**2)  # of the word, and of what of the question is held


@requirement("rs.search.sources")
def test_a_word_is_as_telling_as_in_its_source_or_among_all_whichever_is_more() -> None:
    heard = weighed({"a": SourceCounts(100, [1]), "b": SourceCounts(100, [50])}, [1.0], [False])
    alone = weighed({"a": SourceCounts(100, [1])}, [1.0], [False])
    among_all = weighed({"both": SourceCounts(200, [51])}, [1.0], [False])

    assert heard["a"].weights == alone["a"].weights
    assert heard["b"].weights == among_all["both"].weights


@requirement("rs.search.sources")
def test_a_word_that_stands_nowhere_counts_nothing() -> None:
    heard = weighed({"a": SourceCounts(100, [1, 0])}, [1.0, 1.0], [False, False])

    assert heard["a"].weights[1] == 0.0 and heard["a"].weight == heard["a"].weights[0]
