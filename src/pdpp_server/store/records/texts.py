"""Notes made from the texts themselves, where the time that the index takes would tell of hidden records."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pdpp_server.store.records.rank import HeldPhrases, MatchCounts
from pdpp_server.store.records.words import Phrase, Tokenizer, openings, stands_at

_ASCII_WORD = re.compile("[A-Za-z0-9]+")


class _Told(NamedTuple):
    """How many words a text has, and as tokens those of them that count: all, or the ones that could be asked for."""

    words: int
    tokens: Sequence[str]


class Texts:
    """Looks for the phrases of one query in many records, and counts as the index would."""

    def __init__(self, tokenizer: Tokenizer, phrases: Sequence[Phrase]) -> None:
        self._tokenizer, self._phrases = tokenizer, phrases
        self._is_of_single_words = all(len(phrase.tokens) == 1 for phrase in phrases)
        # A stem is the beginning of its word, but for its last letter.
        stems = sorted({re.escape(phrase.tokens[0][:-1]) for phrase in phrases})
        self._likely = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(stems)})[A-Za-z0-9]*", re.IGNORECASE)

    def note(self, texts: Mapping[int, str]) -> MatchCounts | None:
        """What counts of a record whose granted columns hold these texts; None where no phrase stands in any."""
        if not any(self._may_hold(text) for text in texts.values()):
            return None
        told = {slot: self._told(text) for slot, text in sorted(texts.items())}
        counts: list[int] = []
        slots: list[int] = []
        for phrase in self._phrases:
            found = {slot: _times(phrase, tokens) for slot, (_, tokens) in told.items()}
            counts.append(sum(found.values()))
            slots.append(sum(1 << slot for slot, times in found.items() if times))
        length = sum(words for words, _ in told.values())
        return MatchCounts(length, HeldPhrases(counts, slots)) if any(counts) else None

    def _may_hold(self, text: str) -> bool:
        return not text.isascii() or self._likely.search(text) is not None

    def _told(self, text: str) -> _Told:
        """Of a plain text, when no words have to stand side by side, most words need no look."""
        if text.isascii() and self._is_of_single_words:
            likely = self._likely.findall(text)
            return _Told(len(_ASCII_WORD.findall(text)), self._tokenizer.tokens(" ".join(likely)))
        tokens = self._tokenizer.tokens(text)
        return _Told(len(tokens), tokens)


def _times(phrase: Phrase, tokens: Sequence[str]) -> int:
    places = openings(tokens, phrase)
    return len(places) if len(phrase.tokens) == 1 else sum(stands_at(tokens, place, phrase) for place in places)
