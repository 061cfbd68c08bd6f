"""Hits of a page that say the same but for numbers: a reminder of every week, the receipts of one shop."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from pdpp_server.evidence.budgets import (
    ALIKE_BEGINNING_CHARS,
    ALIKE_LEAST_CHARS,
    ALIKE_NUMBERS_MOST,
    HIT_SECOND_CHARS,
)
from pdpp_server.evidence.lean import narrow_excerpt
from pdpp_server.model.records import Excerpt, Hit

_NUMBER = re.compile(r"[0-9](?:[0-9.,:/-]*[0-9])?")  # nothing in it could be taken for words, or end a quote
_ANY = "0"


class SaidOfHit(NamedTuple):
    """The texts that a row shows of a hit, behind where it comes from, when, who, how much, and its title."""

    hit: Hit
    texts: tuple[Excerpt, ...]

    @property
    def chars(self) -> int:
        return sum([len(excerpt.text) for excerpt in self.texts])


def first_alike(said: Sequence[SaidOfHit]) -> list[int | None]:
    """Of each hit the place of the first that says the same; None of that one itself, and of all that are alone.

    What stands in an exchange stays there, and what is no longer than a few words is as well said again.
    """
    begun = [(one.hit.actor, _beginning(one)) for one in said]
    if len({*begun}) == len(begun):
        return [None] * len(begun)
    often = Counter(begun)
    talking = {id for one in said if one.hit.beside for id in (one.hit.id, one.hit.beside)}
    firsts: dict[object, int] = {}
    found: list[int | None] = []
    for place, (one, beginning) in enumerate(zip(said, begun, strict=True)):
        is_alone = often[beginning] == 1 or one.chars < ALIKE_LEAST_CHARS or one.hit.id in talking
        first = place if is_alone else firsts.setdefault(_shape(one), place)
        found.append(None if first == place or _differ_much(one, said[first]) else first)
    return found


def shown_texts(texts: Sequence[Excerpt], chars: int) -> list[Excerpt]:
    """As much of the texts of a hit as its row shows."""
    widths = (chars, chars // 2) if chars >= HIT_SECOND_CHARS else (chars,)
    return [narrow_excerpt(excerpt, width) for excerpt, width in zip(texts, widths, strict=False)]


class Apart(NamedTuple):
    """What a hit says otherwise than the row above it."""

    numbers: list[tuple[str, str]]  # each with the one above in whose place it stands
    left: int  # characters of the hit that neither row shows


def apart(one: SaidOfHit, first: SaidOfHit, chars: int) -> Apart:
    """By what is shown of the first: each number there has one in its place here, wherever that would be cut."""
    numbers: list[tuple[str, str]] = []
    left = 0
    for mine, theirs, above in zip(one.texts, first.texts, shown_texts(first.texts, chars), strict=False):
        seen = [pair for pair in _number_pairs(mine, theirs) if pair.is_seen_in(above)]
        numbers += [(pair.mine, pair.theirs) for pair in seen if pair.mine != pair.theirs]
        if not left and above.is_placed:
            longer = sum([len(pair.mine) - len(pair.theirs) for pair in seen])
            left = max(0, mine.total_chars - len(above.text) - longer)
    return Apart(numbers, left)


class _Pair(NamedTuple):
    """Two numbers that stand at the same place of the same words."""

    mine: str
    theirs: str
    start: int  # where theirs begins in its field

    def is_seen_in(self, shown: Excerpt) -> bool:
        """Whether any of theirs is."""
        return self.start < shown.end and self.start + len(self.theirs) > shown.start


def _number_pairs(mine: Excerpt, theirs: Excerpt) -> list[_Pair]:
    found = zip(_NUMBER.finditer(mine.text), _NUMBER.finditer(theirs.text), strict=True)
    return [_Pair(one.group(), other.group(), theirs.start + other.start()) for one, other in found]


def _differ_much(one: SaidOfHit, first: SaidOfHit) -> bool:
    """Or so that nobody could tell which of the numbers above is meant."""
    pairs = [pair for mine, theirs in zip(one.texts, first.texts, strict=True) for pair in _number_pairs(mine, theirs)]
    replaced = [pair.theirs for pair in pairs if pair.mine != pair.theirs]
    often = Counter([pair.theirs for pair in pairs])
    return len(replaced) > ALIKE_NUMBERS_MOST or any(often[number] > 1 for number in replaced)


def _beginning(one: SaidOfHit) -> str:
    """The same of all that are alike, and another of most that are not: found at once."""
    text = one.texts[0].text if one.texts else ""
    return _ANY if text[:1].isdigit() else text[:ALIKE_BEGINNING_CHARS]


def _shape(one: SaidOfHit) -> object:
    """The same of all that are alike. A number that was looked for is no mere number."""
    hit, texts = one
    words: list[object] = []
    marked: list[str] = []
    for excerpt in texts:
        text, offset = excerpt.text, excerpt.start
        words.append((excerpt.field, excerpt.is_placed, _NUMBER.sub(_ANY, text)))
        marked += [text[start - offset : end - offset] for start, end in excerpt.marks]
    where = (hit.id.connection_id, hit.id.stream, hit.actor)
    return where, (*words,), (*marked,), hit.also_matched
