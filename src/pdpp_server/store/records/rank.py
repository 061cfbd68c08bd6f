"""Ranking by what is visible: a score that knows no statistics but those of the granted records and fields."""

from collections.abc import Sequence
from math import log
from typing import NamedTuple

import apsw

from pdpp_server.store.records.words import Tokenizer

K1, B = 1.2, 0.6
SEVERAL = 0.2  # what each further phrase of the query in one record adds to its score, as a share
USUAL_LENGTH = 40  # words; a constant pivot, because an average over the table would tell of hidden rows


def weight(visible_records: int, matching: int) -> float:
    """How telling a phrase is (the idf of BM25, never negative), from counts inside the grant."""
    return log(1 + (max(visible_records, matching) - matching + 0.5) / (matching + 0.5))


class Note(NamedTuple):
    """What of one record counts: the words in its granted columns, each phrase in them, and which columns had any."""

    length: int
    counts: list[int]
    slots: list[int]


def score(note: Note, weights: Sequence[float]) -> float:
    norm = K1 * (1 - B + B * note.length / USUAL_LENGTH)
    told = zip(weights, note.counts, strict=True)
    parts = [weight * count * (K1 + 1) / (count + norm) for weight, count in told if count]
    return sum(parts) * (1 + SEVERAL * (len(parts) - 1))


class Ranking:
    """One connection's tokenizer, and the function `note(words)` in SQL that fills `noted`."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.tokenizer = Tokenizer(connection)
        self.tokenizer.take_prefixes(connection)
        self.noted: dict[int, Note] = {}  # by rid
        self._phrases = 0
        self._slots: Sequence[int] = ()
        connection.register_fts5_function("note", self._note)

    def use(self, phrases: int, slots: Sequence[int]) -> None:
        """What the next statement notes: the first so many phrases of its match, in these columns."""
        self._phrases, self._slots = phrases, slots

    def counts(self) -> list[int]:
        """How many of the noted records hold each phrase."""
        return [sum(map(bool, column)) for column in zip(*(note.counts for note in self.noted.values()), strict=True)]

    def _note(self, api: apsw.FTS5ExtensionApi, *_: object) -> None:
        slots = self._slots
        counts = [0] * self._phrases
        matched: list[int] = []
        for phrase in range(self._phrases):
            for slot in api.phrase_columns(phrase):
                if slot in slots:
                    counts[phrase] += len(api.phrase_column_offsets(phrase, slot))
                    matched.append(slot)
        self.noted[api.rowid] = Note(sum([api.column_size(slot) for slot in slots]), counts, matched)
