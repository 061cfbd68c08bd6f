"""Text cut into the pieces of words that a model knows."""

import pytest

from pdpp_server.meaning.wordpieces import WORD_CHARS_MAX, WordPieces, words

PIECES = WordPieces(["[UNK]", "[CLS]", "[SEP]", "play", "##ing", "##in", "##g", "!", "play!"])


@pytest.mark.parametrize(
    ("text", "several"),
    [
        ("", []),
        ("Café, GRÖSSE", ["cafe", ",", "grosse"]),
        ("a-b_c", ["a", "-", "b", "_", "c"]),
        ("1+1=2", ["1", "+", "1", "=", "2"]),
        ("你好 du", ["你", "好", "du"]),
        ("a\0b\u200bc\ufffd", ["abc"]),
        ("a\tb\u3000c", ["a", "b", "c"]),
    ],
)
def test_words_are_small_and_marks_stand_alone(text: str, several: list[str]) -> None:
    assert words(text) == several


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Playing!", [3, 4, 7]),  # the longest piece first
        ("plays", [0]),  # what no piece continues is unknown as a whole
        ("ing", [0]),
        ("play" + "ing" * 40, [0]),
        ("", []),
    ],
)
def test_a_word_is_the_longest_pieces_that_are_known(text: str, numbers: list[int]) -> None:
    assert PIECES.numbers(text) == numbers


def test_a_word_without_end_is_not_looked_at() -> None:
    assert PIECES.numbers("play" + "g" * (WORD_CHARS_MAX - 4)) == [3, *[6] * (WORD_CHARS_MAX - 4)]
    assert PIECES.numbers("play" + "g" * (WORD_CHARS_MAX - 3)) == [0]
