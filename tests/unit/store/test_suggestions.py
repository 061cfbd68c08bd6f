"""Words that stand nowhere, and words like them that do."""

from collections import Counter
from collections.abc import Sequence

import pytest

from pdpp_server.store.engines.sqlite.cutting import cutter_in_memory
from pdpp_server.store.records.suggestions import Suggestion, suggestions
from pdpp_server.store.records.words import Phrase, Tokenizer

TOKENIZER = Tokenizer(cutter_in_memory())


class Written:
    """Records of one word each."""

    def __init__(self, **words: int) -> None:
        self.words = words

    def _held(self, phrase: Phrase) -> dict[str, int]:
        begins = phrase.tokens[0]
        by_word = {word: TOKENIZER.tokens(word)[0] for word in self.words}
        return {
            w: n
            for w, n in self.words.items()
            if (by_word[w].startswith(begins) if phrase.is_prefix else by_word[w] == begins)
        }

    def count(self, any_of: Sequence[Phrase], most: int) -> int:
        return min(most, sum(sum(self._held(phrase).values()) for phrase in any_of))

    def forms(self, phrase: Phrase) -> Counter[str]:
        return Counter(self._held(phrase))


def suggested(question: str, **words: int) -> list[Suggestion]:
    query = TOKENIZER.query(question)
    standing = Written(**words)
    return suggestions(TOKENIZER, query, [standing.count([phrase], 9) for phrase in query.wanted], standing)


@pytest.mark.parametrize("typed", ["invioce", "invoce", "invoicce", "invpice", "Invioce"])
def test_a_word_that_differs_in_one_letter_is_suggested_as_it_is_written(typed: str) -> None:
    assert suggested(typed, invoice=3, other=9) == [Suggestion(typed.lower(), "invoice", 3)]


def test_of_several_the_most_frequent_is_suggested() -> None:
    assert suggested("tests lettar", letter=2, lettor=1, tests=1) == [Suggestion("lettar", "letter", 2)]


def test_a_word_that_begins_alike_is_suggested_where_no_letter_alone_differs() -> None:
    assert suggested("renovierung", renovieren=4) == [Suggestion("renovierung", "renovieren", 4)]
    assert suggested("renovierung", renowned=4) == []


def test_a_form_of_another_word_is_not_what_was_meant() -> None:
    assert suggested("paris", part=16) == []  # which is found as "parts", a letter off
    assert suggested("clases", classroom=1, **{"class": 4}) == [Suggestion("clases", "class", 4)]


@pytest.mark.parametrize("typed", ["tea", "lettr7", "bücher", "x" * 21])
def test_short_long_and_other_words_are_left_as_they_are(typed: str) -> None:
    assert suggested(typed, tee=1, letter=1, bucher=1) == []


def test_a_word_that_is_found_needs_none_and_in_a_long_question_nothing_is_looked_for() -> None:
    assert suggested("letter", letter=1, letters=5) == []
    assert suggested("lettr harbour ferry dinner monday", letter=1, harbour=1) == []
    assert suggested("lettr harbour ferry dinner monday", letter=1) == [Suggestion("lettr", "letter", 1)]
