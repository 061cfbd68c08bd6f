"""The functions `held`, `held_one` and `held_times` in SQL: which phrases stand in a record, how often and where."""

from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter, mul
from typing import NamedTuple, cast

import apsw

from pdpp_server.store.records.rank import HeldPhrases, MatchCounts, fullest

_Columns = tuple[tuple[int, ...], ...]  # of each phrase, those in which it stands
_Case = tuple[_Columns, tuple[int, ...]]  # the same, and how often
NotedRow = tuple[int, int, bytes]  # a record by its rid, its case, and the sizes of its columns as FTS5 keeps them
_MORE = 0x80  # the bit of a byte that says that its number goes on


# Nothing of it runs in Python, since it is asked of every record that holds a common word.
_TIMES = cast("apsw.FTS5Function", attrgetter("inst_count"))


class TakenNotes(NamedTuple):
    """Records with what their cases mean, so that they can be noted again."""

    rows: Sequence[NotedRow]
    cases: Sequence[_Case]


class Ranking:
    """One connection's notes. Records that hold the same in texts of the same length share one note."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.noted: dict[int, MatchCounts] = {}  # by rid
        self._times: Sequence[int] = ()
        self._slots: Sequence[int] = ()
        self._phrases = range(0)
        self._cases: dict[_Case, int] = {}
        self._plain: dict[tuple[_Columns, int], int] = {}  # those that the number of instances tells
        self._single: dict[tuple[tuple[int, ...], int], int] = {}  # the same, of one phrase: its columns and instances
        connection.register_fts5_function("held", self._held)
        connection.register_fts5_function("held_one", self._held_one)
        connection.register_fts5_function("held_times", _TIMES)

    def use(self, times: Sequence[int], slots: Sequence[int]) -> str:
        """What the next statement is about: how often each wanted phrase, which come first, stands in its match; and
        the granted columns. The name of the function that it has to ask."""
        self._times, self._slots, self._phrases = times, slots, range(len(times))
        self._cases.clear()
        self._plain.clear()
        self._single.clear()
        return "held_one" if len(times) == 1 else "held"

    # Both are called for every row, so they ask as little as can be, and call nothing of ours that they need not.

    def _held_one(self, api: apsw.FTS5ExtensionApi, *_: object) -> int:
        single = self._single
        return single.setdefault((api.phrase_columns(0), api.inst_count), len(single))

    def _held(self, api: apsw.FTS5ExtensionApi, *_: object) -> int:
        columns = tuple(map(api.phrase_columns, self._phrases))
        told = (columns, api.inst_count)
        known = self._plain.get(told)
        if known is not None:
            return known
        counts = [*map(len, columns)]
        more = api.inst_count - sum(map(mul, counts, self._times))
        is_plain = not more  # as few instances as can be: no others of these columns are so many
        for phrase, of in enumerate(columns):
            if not more:
                break
            if of:
                counts[phrase] = _count(api, phrase, of)
                more -= (counts[phrase] - len(of)) * self._times[phrase]
        case = self._cases.setdefault((columns, tuple(counts)), len(self._cases))
        if is_plain:
            self._plain[told] = case
        return case

    def taken(self, rows: Sequence[NotedRow]) -> TakenNotes:
        """What the statement gave."""
        single = [((columns,), (instances // self._times[0],)) for columns, instances in self._single]
        return TakenNotes(rows, [*self._cases, *single])

    def fullest(self, rows: Sequence[NotedRow], most: int) -> TakenNotes:
        """Of what it gave about one phrase the fullest records."""
        every = self.taken(rows)
        chosen = fullest(self._notes(every), most)
        return every._replace(rows=[row for row in rows if row[0] in chosen])

    def note(self, taken: TakenNotes) -> None:
        self.noted.update(self._notes(taken))

    def _notes(self, taken: TakenNotes) -> dict[int, MatchCounts]:
        cases = [_told(*case) for case in taken.cases]
        known: dict[tuple[int, bytes], MatchCounts] = {}
        notes: dict[int, MatchCounts] = {}
        lengths = {sizes: length_of(sizes, self._slots) for sizes in {sizes for _, _, sizes in taken.rows}}
        for rid, case, sizes in taken.rows:
            note = known.get((case, sizes))
            if note is None:
                note = known[case, sizes] = MatchCounts(lengths[sizes], cases[case])
            notes[rid] = note
        return notes


def _count(api: apsw.FTS5ExtensionApi, phrase: int, columns: Sequence[int]) -> int:
    if len(columns) == 1:
        return len(api.phrase_column_offsets(phrase, columns[0]))
    return sum([len(api.phrase_column_offsets(phrase, column)) for column in columns])


def _told(columns: _Columns, counts: tuple[int, ...]) -> HeldPhrases:
    return HeldPhrases([*counts], [_bits(of) if of else 0 for of in columns])


@lru_cache(maxsize=1000)
def _bits(columns: tuple[int, ...]) -> int:
    return sum([1 << column for column in columns])


def length_of(sizes: bytes, slots: Sequence[int]) -> int:
    """The number of words in these columns. Of each column there is a number, seven bits in a byte, its last byte
    without the mark."""
    if sizes.isascii():  # no number is longer than a byte
        return sum([sizes[slot] for slot in slots])
    told: list[int] = []
    size = 0
    for byte in sizes:
        size = size << 7 | byte & ~_MORE
        if not byte & _MORE:
            told.append(size)
            size = 0
    return sum([told[slot] for slot in slots])
