"""Hits of a page that say the same but for numbers: a reminder of every week, the receipts of one shop."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from pdpp_server.evidence.budgets import ALIKE_BEGINNING_CHARS, ALIKE_LEAST_CHARS, ALIKE_NUMBERS_MOST
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


def numbers_apart(one: SaidOfHit, first: SaidOfHit, chars: int | None = None) -> list[str]:
    """The numbers of a hit that differ from those of the first, in so many characters of their texts."""
    pairs = zip_longest(_numbers(one, chars), _numbers(first, chars))
    return [mine for mine, theirs in pairs if mine is not None and mine != theirs]


def _differ_much(one: SaidOfHit, first: SaidOfHit) -> bool:
    return len(numbers_apart(one, first)) > ALIKE_NUMBERS_MOST


def _beginning(one: SaidOfHit) -> str:
    """The same of all that are alike, and another of most that are not: found at once."""
    text = one.texts[0].text if one.texts else ""
    return _ANY if text[:1].isdigit() else text[:ALIKE_BEGINNING_CHARS]


def _shape(one: SaidOfHit) -> object:
    """The same of all that are alike. A number that was looked for is no mere number."""
    hit, texts = one
    marked = [excerpt.text[a - excerpt.start : b - excerpt.start] for excerpt in texts for a, b in excerpt.marks]
    words = [(excerpt.field, excerpt.is_placed, _NUMBER.sub(_ANY, excerpt.text)) for excerpt in texts]
    where = (hit.id.connection_id, hit.id.stream, hit.actor)
    return where, (*words,), (*marked,), hit.also_matched


def _numbers(one: SaidOfHit, chars: int | None) -> list[str]:
    shown = [excerpt if chars is None else narrow_excerpt(excerpt, chars) for excerpt in one.texts]
    return [number for excerpt in shown for number in _NUMBER.findall(excerpt.text)]
