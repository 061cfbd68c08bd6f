"""The function `note(words)` in SQL: what of each record that matches counts for its score."""

from collections.abc import Sequence

import apsw

from pdpp_server.store.records.rank import MatchCounts


class Ranking:
    """One connection's notes."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.noted: dict[int, MatchCounts] = {}  # by rid
        self._phrases = 0
        self._slots: Sequence[int] = ()
        connection.register_fts5_function("note", self._note)

    def use(self, phrases: int, slots: Sequence[int]) -> None:
        """What the next statement notes: the first so many phrases of its match, in these columns."""
        self._phrases, self._slots = phrases, slots

    def _note(self, api: apsw.FTS5ExtensionApi, *_: object) -> None:
        slots = self._slots
        counts = [0] * self._phrases
        matched: list[int] = []
        for phrase in range(self._phrases):
            for slot in api.phrase_columns(phrase):
                if slot in slots:
                    counts[phrase] += len(api.phrase_column_offsets(phrase, slot))
                    matched.append(slot)
        self.noted[api.rowid] = MatchCounts(sum([api.column_size(slot) for slot in slots]), counts, matched)
