"""Prefixes as the words that begin with them, so that the index merges nothing that is not asked for."""

from collections.abc import Iterable, Iterator

import orjson

from pdpp_server.store.records.words import Phrase, quoted
from pdpp_server.store.session import Session

WORDS = 1000  # that begin alike, at the most; of more, the index itself has to merge all
TOGETHER = 16  # of them in one part: each row of a statement is compared with as many
KEPT = 64  # prefixes; many more than one query has
_MARK = "\x1f"  # before a prefix, and before the part of its words that is asked for; no term holds it
_LAST = "\U0010ffff"

# Each step looks for the next term, whatever stands in between: how many records hold a term costs nothing here.
_BEGINNING = """
with recursive begun(term) as (
    select (select term from words_terms where term >= :prefix limit 1)
    union all
    select (select term from words_terms where term >= begun.term || char(1) limit 1) from begun where term < :end
    limit :most
)
select json_group_array(term) from begun where term >= :prefix and term < :end
"""
_AS_OF = "pragma data_version"

PhraseTerms = list[str | tuple[str, ...]]  # the terms of a phrase; several in one place where any of them will do


class Beginnings:
    """For one connection. Which terms there are is kept until somebody writes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._as_of: int | None = None
        self._terms: dict[str, tuple[str, ...]] = {}  # by prefix, the one asked for last at the end
        self._any_of: tuple[str, ...] = ()

    def match(self, phrase: Phrase) -> str:
        """What is looked for, as one phrase."""
        return self._match(phrase, 0, WORDS) if self._is_known(phrase) else phrase.match

    def is_endless(self, phrase: Phrase) -> bool:
        """Whether too many words begin with it: then each statement merges them anew, before it gives a row."""
        return phrase.is_prefix and not self._is_known(phrase)

    def parts(self, phrase: Phrase) -> Iterator[str]:
        """The same in parts, each of few words: who holds it holds one of them."""
        if not self._is_known(phrase) or len(self._terms[phrase.tokens[-1]]) <= TOGETHER:
            yield self.match(phrase)
            return
        for first in range(0, len(self._terms[phrase.tokens[-1]]), TOGETHER):
            yield self._match(phrase, first, first + TOGETHER)

    def any_of(self, terms: Iterable[str]) -> str:
        """What is looked for in the next statement, as one phrase: a word that has any of these terms."""
        self._any_of = tuple(terms)
        return quoted(_MARK)

    def said(self, text: str) -> PhraseTerms | None:
        """The terms of a phrase in a match expression; None where it was not made here."""
        if text == _MARK:
            return [self._any_of]
        before, *asked = text.split(_MARK)
        if len(asked) != 3 or asked[0] not in self._terms:
            return None
        prefix, first, end = asked
        return [*before.split(), self._terms[prefix][int(first) : int(end)] or _MARK]

    def _match(self, phrase: Phrase, first: int, end: int) -> str:
        *before, prefix = phrase.tokens
        return quoted(_MARK.join([" ".join(before), prefix, str(first), str(end)]))

    def _is_known(self, phrase: Phrase) -> bool:
        """Whether it is a prefix, with which not too many words begin."""
        if not phrase.is_prefix:
            return False
        prefix, as_of = phrase.tokens[-1], self._session.one(_AS_OF)
        if as_of != self._as_of:
            self._as_of = as_of
            self._terms.clear()
        terms = self._terms.pop(prefix, None)
        if terms is None:
            asked = {"prefix": prefix, "end": prefix + _LAST, "most": WORDS + 1}
            terms = tuple(orjson.loads(self._session.one(_BEGINNING, asked)))
        self._terms[prefix] = terms
        if len(self._terms) > KEPT:
            del self._terms[next(iter(self._terms))]
        return len(terms) <= WORDS
