"""Text cut into the pieces of words that a model knows, as BERT's uncased models do it; no other library is needed."""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from string import punctuation

UNKNOWN, FIRST, LAST = "[UNK]", "[CLS]", "[SEP]"
WORD_CHARS_MAX = 100
_CJK = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F))
_KNOWN_WORDS = 20_000
_MARKS = frozenset(punctuation)  # of ASCII, also those that Unicode calls symbols


class WordPieces:
    """The vocabulary of a model: what a text is to it, as numbers."""

    def __init__(self, vocabulary: Iterable[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self.first, self.last = self._numbers[FIRST], self._numbers[LAST]
        self._unknown = self._numbers[UNKNOWN]
        self.pieces = lru_cache(_KNOWN_WORDS)(self._pieces)  # most words of a text were met before

    def numbers(self, text: str) -> list[int]:
        """Without the first and the last, which the model adds to each passage."""
        return [number for word in words(text) for number in self.pieces(word)]

    def _pieces(self, word: str) -> tuple[int, ...]:
        """The longest piece that is known, then the longest that continues it; a word that has none is unknown."""
        if len(word) > WORD_CHARS_MAX:
            return (self._unknown,)
        found: list[int] = []
        start = 0
        while start < len(word):
            opening = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if opening + word[start:end] in self._numbers), None)
            if end is None:
                return (self._unknown,)
            found.append(self._numbers[opening + word[start:end]])
            start = end
        return tuple(found)


def words(text: str) -> list[str]:
    """Lower case without accents; marks and characters of scripts without spaces stand alone."""
    plain = text.lower()
    if not plain.isascii():
        plain = "".join(char for char in unicodedata.normalize("NFD", plain) if unicodedata.category(char) != "Mn")
    return "".join(map(_spaced, plain)).split()


@lru_cache(_KNOWN_WORDS)
def _spaced(char: str) -> str:
    category = unicodedata.category(char)
    if char.isspace():
        return " "
    if char in "\0\ufffd" or category in ("Cc", "Cf"):
        return ""
    number = ord(char)
    is_mark = category[0] == "P" or char in _MARKS
    return f" {char} " if is_mark or any(low <= number <= high for low, high in _CJK) else char
