"""Long texts cut into passages, at the ends of sentences or words: a vector says what one of them is about."""

import re
from collections.abc import Iterator
from typing import NamedTuple

CHARS = 480  # about a hundred pieces of English words
CHARS_WITHOUT_SPACES = 200  # of scripts in which a character is a piece
PASSAGES_MAX = 200  # of one field
_ENDS = (re.compile(r"[.!?…]\s+|\n"), re.compile(r"\s"))


class Passage(NamedTuple):
    start: int
    text: str


def passages(text: str) -> Iterator[Passage]:
    """The passages of a text in order, without the empty room between them; of a very long one the first ones."""
    start = 0
    for _ in range(PASSAGES_MAX):
        end = _end(text, start)
        piece = text[start:end]
        bare = piece.strip()
        if bare:
            yield Passage(start + len(piece) - len(piece.lstrip()), bare)
        start = end
        if start >= len(text):
            return


def _end(text: str, start: int) -> int:
    if len(text) - start <= CHARS and (text.isascii() or any(map(str.isspace, text[start:]))):
        return len(text)
    window = text[start : start + CHARS]
    for ends in _ENDS:  # in its second half
        found = [match.end() for match in ends.finditer(window, CHARS // 2)]
        if found:
            return start + found[-1]
    has_spaces = any(map(str.isspace, window))
    return start + (CHARS if has_spaces else CHARS_WITHOUT_SPACES)
