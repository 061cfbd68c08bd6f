"""Ranking by what is visible: a score that knows no statistics but those of the granted records and fields."""

from collections.abc import Sequence
from math import log
from typing import NamedTuple

K1, B = 1.2, 0.6
SEVERAL = 0.2  # what each further phrase of the query in one record adds to its score, as a share
USUAL_LENGTH = 40  # words; a constant pivot, because an average over the table would tell of hidden rows


def weight(visible_records: int, matching: int) -> float:
    """How telling a phrase is (the idf of BM25, never negative), from counts inside the grant."""
    return log(1 + (max(visible_records, matching) - matching + 0.5) / (matching + 0.5))


class MatchCounts(NamedTuple):
    """What of one record counts: the words in its granted columns, each phrase in them, and which columns had any."""

    length: int
    counts: list[int]
    slots: list[int]


def score(note: MatchCounts, weights: Sequence[float]) -> float:
    norm = K1 * (1 - B + B * note.length / USUAL_LENGTH)
    told = zip(weights, note.counts, strict=True)
    parts = [weight * count * (K1 + 1) / (count + norm) for weight, count in told if count]
    return sum(parts) * (1 + SEVERAL * (len(parts) - 1))
