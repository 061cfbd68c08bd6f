"""The function `held(words)` in SQL: which phrases stand in a record, how often and where, as the number of a case."""

from collections.abc import Sequence
from functools import lru_cache
from operator import mul

import apsw

from pdpp_server.store.records.rank import MatchCounts

_Columns = tuple[tuple[int, ...], ...]  # of each phrase, those in which it stands
_MORE = 0x80  # the bit of a byte that says that its number goes on


class Ranking:
    """One connection's notes. Records that hold the same in texts of the same length share one note."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.noted: dict[int, MatchCounts] = {}  # by rid
        self._times: Sequence[int] = ()
        self._slots: Sequence[int] = ()
        self._cases: dict[tuple[_Columns, tuple[int, ...]], int] = {}
        connection.register_fts5_function("held", self._held)

    def use(self, times: Sequence[int], slots: Sequence[int]) -> None:
        """What the next statement is about: how often each wanted phrase, which come first, stands in its match; and
        the granted columns."""
        self._times, self._slots = times, slots
        self._cases.clear()

    def _held(self, api: apsw.FTS5ExtensionApi, *_: object) -> int:
        """Called for every row, so it asks as little as can be."""
        times = self._times
        if len(times) == 1:
            return self._case((api.phrase_columns(0),), (api.inst_count // times[0],))
        columns = tuple([api.phrase_columns(phrase) for phrase in range(len(times))])
        once = tuple(map(len, columns))
        if api.inst_count == sum(map(mul, once, times)):  # each phrase stands once in each of its columns
            return self._case(columns, once)
        counts = [_count(api, phrase, of) if of else 0 for phrase, of in enumerate(columns)]
        return self._case(columns, tuple(counts))

    def _case(self, columns: _Columns, counts: tuple[int, ...]) -> int:
        return self._cases.setdefault((columns, counts), len(self._cases))

    def note(self, rows: Sequence[tuple[int, int, bytes]]) -> None:
        """Records by rid, case and the sizes of their columns as FTS5 keeps them."""
        cases = [_told(*case) for case in self._cases]
        lengths: dict[bytes, int] = {}
        known: dict[tuple[int, bytes], MatchCounts] = {}
        for rid, case, sizes in rows:
            note = known.get((case, sizes))
            if note is None:
                length = lengths.get(sizes)
                if length is None:
                    length = lengths[sizes] = length_of(sizes, self._slots)
                note = known[case, sizes] = MatchCounts(length, *cases[case])
            self.noted[rid] = note


def _count(api: apsw.FTS5ExtensionApi, phrase: int, columns: Sequence[int]) -> int:
    if len(columns) == 1:
        return len(api.phrase_column_offsets(phrase, columns[0]))
    return sum([len(api.phrase_column_offsets(phrase, column)) for column in columns])


def _told(columns: _Columns, counts: tuple[int, ...]) -> tuple[list[int], list[int]]:
    return list(counts), [_bits(of) for of in columns]


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
