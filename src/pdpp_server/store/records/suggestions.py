"""Words that were mistyped: what differs in one letter and stands in a record that the caller may read."""

from collections.abc import Callable, Iterator, Sequence
from string import ascii_lowercase
from typing import NamedTuple

from pdpp_server.store.records.words import Phrase, Tokenizer, WordQuery

SUGGESTED = 2  # words of a question for which one is looked for
LETTERS = range(5, 21)  # of a word for which one is looked for
FEW_WORDS = 4  # of a question; in a longer one a word that stands nowhere matters only where nothing was found
_TOGETHER = 64  # words that are asked for at once

Count = Callable[[Sequence[Phrase], int], int]  # how many visible records hold any of these, no further than so many


class Suggestion(NamedTuple):
    typed: str
    word: str
    records: int


def suggestions(
    tokenizer: Tokenizer, words: WordQuery, counts: Sequence[int], count: Count, most: int
) -> list[Suggestion]:
    """For words that stand nowhere, the word that stands in the most records of those that differ in one letter."""
    if len(words.wanted) > FEW_WORDS and any(counts):
        return []
    missing = [
        phrase
        for phrase, held in zip(words.wanted, counts, strict=True)
        if not held and phrase in words.plain - words.dated
    ]
    typed = [phrase.typed.lower() for phrase in missing]
    likely = [word for word in typed if word.isascii() and word.isalpha() and len(word) in LETTERS]
    found = (_likeliest(tokenizer, word, count, most) for word in likely[:SUGGESTED])
    return [suggestion for suggestion in found if suggestion is not None]


def _likeliest(tokenizer: Tokenizer, typed: str, count: Count, most: int) -> Suggestion | None:
    """The index is asked for many at once: mostly none of them stands anywhere."""
    by_tokens: dict[tuple[str, ...], Phrase] = {}
    for word in sorted(set(_one_letter_off(typed))):
        by_tokens.setdefault(tokens := tokenizer.tokens(word), Phrase(word, tokens))
    phrases = [phrase for tokens, phrase in by_tokens.items() if len(tokens) == 1]
    counted: list[tuple[int, str]] = []
    for start in range(0, len(phrases), _TOGETHER):
        chunk = phrases[start : start + _TOGETHER]
        if count(chunk, 1):
            counted += [(-count([phrase], most), phrase.text) for phrase in chunk]
    held, word = min(counted, default=(0, ""))
    return Suggestion(typed, word, -held) if held else None


def _one_letter_off(word: str) -> Iterator[str]:
    """One letter left out, changed, put in, or two of them turned round."""
    for i in range(len(word) + 1):
        before, after = word[:i], word[i:]
        yield from (before + letter + after for letter in ascii_lowercase)
        if after:
            yield before + after[1:]
            yield from (before + letter + after[1:] for letter in ascii_lowercase if letter != after[0])
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
