"""Ranking by what is visible: a score that knows no statistics but those of the granted records and fields."""

from collections.abc import Sequence
from math import log

import apsw

from pdpp_server.store.words import Tokenizer

K1, B = 1.2, 0.6
USUAL_LENGTH = 40  # words; a constant pivot, because an average over the table would tell of hidden rows


def weight(visible_records: int, matching: int) -> float:
    """How telling a phrase is (the idf of BM25, never negative), from counts inside the grant."""
    return log(1 + (max(visible_records, matching) - matching + 0.5) / (matching + 0.5))


class Ranking:
    """One connection's tokenizer and its score function, `visible_score(words)` in SQL."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.tokenizer = Tokenizer(connection)
        self.matched_slots: dict[int, list[int]] = {}  # rid to the columns in which the last statements found a phrase
        self._weights: Sequence[float] = ()
        self._slots: Sequence[int] = ()
        connection.register_fts5_function("visible_score", self._score)

    def use(self, weights: Sequence[float], slots: Sequence[int]) -> None:
        """What the next statement scores with: a weight for each phrase, and the columns that may count."""
        self._weights, self._slots = weights, slots

    def _score(self, api: apsw.FTS5ExtensionApi, *_: object) -> float:
        sizes = [(slot, size) for slot in self._slots if (size := api.column_size(slot))]
        norm = K1 * (1 - B + B * sum(size for _, size in sizes) / USUAL_LENGTH)
        score = 0.0
        matched: list[int] = []
        for phrase, phrase_weight in enumerate(self._weights):
            count = 0
            for slot, _size in sizes:
                here = len(api.phrase_column_offsets(phrase, slot))
                if here:
                    count += here
                    matched.append(slot)
            if count:
                score += phrase_weight * count * (K1 + 1) / (count + norm)
        self.matched_slots[api.rowid] = matched
        return score
