"""Words that stand nowhere: one that differs in a letter or begins alike, as it is written in a visible record."""

from collections import Counter
from collections.abc import Sequence
from string import ascii_lowercase
from typing import NamedTuple, Protocol

from pdpp_server.store.records.words import PREFIX_LETTERS, Phrase, Tokenizer, WordQuery

SUGGESTED = 2  # words of a question for which one is looked for
LETTERS = range(5, 21)  # of a word for which one is looked for
FEW_WORDS = 4  # of a question; in a longer one a word that stands nowhere matters only where nothing was found
ALIKE = 2  # letters at the end of a word, or of its other form, in which they may differ
COUNTED = 1000  # records that hold a word, at the most
FEW_RECORDS = 200  # that begin alike: of more, none is looked at
_TOGETHER = 64  # words that are asked for at once


class Standing(Protocol):
    """What stands in the records that the caller may read."""

    def count(self, any_of: Sequence[Phrase], most: int) -> int:
        """How many of them hold any of these; counting stops at `most`."""
        ...

    def forms(self, phrase: Phrase) -> Counter[str]:
        """The words as which a phrase of one word stands there, each with how often."""
        ...


class Suggestion(NamedTuple):
    typed: str
    word: str
    records: int


def suggestions(tokenizer: Tokenizer, words: WordQuery, counts: Sequence[int], standing: Standing) -> list[Suggestion]:
    """For words that stand nowhere, a word that does: the most frequent of those that differ in one letter, else of
    those that begin alike."""
    if len(words.wanted) > FEW_WORDS and any(counts):
        return []
    mere = words.plain - words.dated
    missing = [phrase for phrase, held in zip(words.wanted, counts, strict=True) if not held and phrase in mere]
    typed = [phrase.typed.lower() for phrase in missing]
    likely = [word for word in typed if word.isascii() and word.isalpha() and len(word) in LETTERS]
    found = [_mistyped(tokenizer, word, standing) or _begun(word, standing) for word in likely[:SUGGESTED]]
    return [suggestion for suggestion in found if suggestion is not None]


def _mistyped(tokenizer: Tokenizer, typed: str, standing: Standing) -> Suggestion | None:
    """The index is asked for many at once: mostly none of them stands anywhere."""
    alike = _one_letter_off(typed)
    words = sorted(alike, reverse=True)  # so that of those with the same term the first one stays
    by_term = dict(zip(tokenizer.tokens(" ".join(words)), words, strict=True))
    phrases = [Phrase(word, (term,)) for term, word in by_term.items()]
    counted: list[tuple[int, str, Phrase]] = []
    for start in range(0, len(phrases), _TOGETHER):
        chunk = phrases[start : start + _TOGETHER]
        if standing.count(chunk, 1):
            counted += [(-standing.count([phrase], COUNTED), phrase.text, phrase) for phrase in chunk]
    held, _, phrase = min(counted, default=(0, "", None))
    if not held or phrase is None:
        return None
    forms = _plain(standing.forms(phrase))
    near = Counter({word: times for word, times in forms.items() if word in alike})
    word = _commonest(near or _alike(forms, typed))  # the index knows stems: a word is what somebody wrote
    return Suggestion(typed, word, -held) if word else None


def _begun(typed: str, standing: Standing) -> Suggestion | None:
    """Another form of the word, by a beginning that the index keeps; what is left of it must begin alike too."""
    opening = Phrase(typed, (typed[:PREFIX_LETTERS],), is_prefix=True)
    if standing.count([opening], FEW_RECORDS + 1) > FEW_RECORDS:
        return None
    forms = _plain(standing.forms(opening))
    word = _commonest(_alike(forms, typed))
    return Suggestion(typed, word, forms[word]) if word else None


def _alike(forms: Counter[str], typed: str) -> Counter[str]:
    return Counter({word: times for word, times in forms.items() if _begin_alike(word, typed)})


def _begin_alike(word: str, typed: str) -> bool:
    least = max(PREFIX_LETTERS + 1, min(len(word), len(typed)) - ALIKE)
    return word[:least] == typed[:least]


def _plain(forms: Counter[str]) -> Counter[str]:
    return Counter({word: times for word, times in forms.items() if word.isascii() and word.isalpha()})


def _commonest(forms: Counter[str]) -> str:
    return min(forms, key=lambda word: (-forms[word], word), default="")


def _one_letter_off(word: str) -> set[str]:
    """One letter left out, two of them turned round, one put in, or changed; the first is seldom wrong."""
    found: set[str] = set()
    for place in range(1, len(word) + 1):
        before, after = word[:place], word[place:]
        found.update([before + letter + after for letter in ascii_lowercase])
        if after:
            found.add(before + after[1:])
            found.update([before + letter + after[1:] for letter in ascii_lowercase if letter != after[0]])
        if len(after) > 1:
            found.add(before + after[1] + after[0] + after[2:])
    return found
