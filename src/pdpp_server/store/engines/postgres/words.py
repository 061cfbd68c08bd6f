"""Words in posting blocks: of each term, stream and day one row, which says in which records and where it stands."""

from collections.abc import Iterable, Mapping, Sequence

import orjson

from pdpp_server.store.engines.postgres.tables import PostgresTables
from pdpp_server.store.layout import day_in, first_rid
from pdpp_server.store.records.asked import Narrowed, Where
from pdpp_server.store.records.rank import MatchCounts
from pdpp_server.store.records.reach import Reach
from pdpp_server.store.records.words import Phrase, WordQuery
from pdpp_server.store.session import Session

LENGTHS = ""  # the term under which the number of words in each column is kept
_LAST = "\U0010ffff"

_BLOCKS = "select term, day, places from words where sid = ? and term = ? and day >= ? and day <= ?"
_BLOCKS_BEGINNING = """
select term, day, places from words where sid = ? and term >= ? and term < ? and day >= ? and day <= ?
"""
_TIMES = "select rid from records where rid in {rids} and at >= :since and at < :until"

Places = dict[int, dict[int, list[int]]]  # rid to column to positions
PostingEntry = list[int]  # the number of a record in its day, the column, the positions in it


def written(entries: Iterable[PostingEntry]) -> bytes:
    """Entries of a block; what is written behind it later makes one block with it."""
    return b"".join(orjson.dumps(entry) + b"," for entry in entries)


def read(block: bytes) -> list[PostingEntry]:
    return orjson.loads(b"[" + block[:-1] + b"]")


class PostgresWords:
    def __init__(self, session: Session, tables: PostgresTables) -> None:
        self._session = session
        self._within = _TIMES.format(rids=tables.numbers("rids"))
        self.noted: dict[int, MatchCounts] = {}

    def stands(self, where: Where, phrase: Phrase) -> bool:
        return any(self._held(reach, where.slots, phrase) for reach in where.reaches)

    def count(self, where: Where, any_of: Sequence[Phrase], most: int) -> int:
        return min(len(self.matching(where, any_of)), most)

    def matching(self, where: Where, any_of: Sequence[Phrase]) -> list[int]:
        return [
            rid
            for reach in where.reaches
            for rid in sorted({rid for phrase in any_of for rid in self._held(reach, where.slots, phrase)})
        ]

    def note(self, where: Where, words: WordQuery, narrowed: Narrowed | None = None, newest: int | None = None) -> None:
        for reach in where.reaches:
            held = {phrase: self._held(reach, where.slots, phrase) for phrase in words.all}
            chosen = sorted(_rids(held, words, narrowed), reverse=True)[:newest]
            self._note(reach, where.slots, [held[phrase] for phrase in words.wanted], chosen)

    def holding(self, where: Where, words: WordQuery, narrowed: Narrowed) -> list[int]:
        found: list[int] = []
        for reach in where.reaches:
            held = {phrase: self._held(reach, where.slots, phrase) for phrase in words.all}
            found += sorted(_rids(held, words, narrowed))
        return found

    def _note(self, reach: Reach, slots: Sequence[int], held: Sequence[Places], rids: Sequence[int]) -> None:
        lengths = self._terms(reach, slots, LENGTHS) if rids else {}
        for rid in rids:
            length = _length(lengths, rid)
            places = [each.get(rid, {}) for each in held]
            counts = [sum(map(len, columns.values())) for columns in places]
            matched = [sum(1 << slot for slot in columns) for columns in places]
            self.noted[rid] = MatchCounts(length, counts, matched)

    def _held(self, reach: Reach, slots: Sequence[int], phrase: Phrase) -> Places:
        """In which visible records the phrase stands, and where it begins."""
        *first, last = phrase.tokens
        parts = [self._terms(reach, slots, token) for token in first]
        return _in_a_row([*parts, self._terms(reach, slots, last, is_prefix=phrase.is_prefix)])

    def _terms(self, reach: Reach, slots: Sequence[int], term: str, *, is_prefix: bool = False) -> Places:
        sid, days = reach.place.sid, _days(reach)
        if is_prefix:
            blocks = self._session.rows(_BLOCKS_BEGINNING, (sid, term, term + _LAST, *days))
        else:
            blocks = self._session.rows(_BLOCKS, (sid, term, *days))
        found: Places = {}
        for _, day, raw in blocks:
            for sequence, slot, *positions in read(raw):
                if slot in slots:
                    columns = found.setdefault(first_rid(sid, day) + sequence, {})
                    columns[slot] = sorted([*columns.get(slot, ()), *positions])
        return self._visible(reach, found)

    def _visible(self, reach: Reach, found: Places) -> Places:
        """What no block tells: which records of the days at the edges lie within the time, which ones are named."""
        if reach.is_whole or not found:
            return found
        if reach.rids is not None:
            named = frozenset(reach.rids)
            return {rid: columns for rid, columns in found.items() if rid in named}
        low, high = int(reach.values["inner_low"]), int(reach.values["inner_high"])
        edges = [rid for rid in found if not low <= rid < high]
        asked = {"rids": orjson.dumps(edges).decode(), "since": reach.values["since"], "until": reach.values["until"]}
        shown = {rid for (rid,) in self._session.rows(self._within, asked)} if edges else set[int]()
        return {rid: columns for rid, columns in found.items() if low <= rid < high or rid in shown}


def _rids(held: Mapping[Phrase, Places], words: WordQuery, narrowed: Narrowed | None) -> set[int]:
    """Which records hold a wanted phrase, and what narrows."""
    rids = {rid for phrase in words.wanted for rid in held[phrase]}
    if narrowed is None:
        return rids
    sets = [held[phrase].keys() for phrase in narrowed.phrases]
    rids &= set.intersection(*map(set, sets)) if narrowed.hold_all else set.union(*map(set, sets))
    return rids - {rid for phrase in words.unwanted for rid in held[phrase]}


def _length(lengths: Places, rid: int) -> int:
    return sum(size for sizes in lengths.get(rid, {}).values() for size in sizes)


def _days(reach: Reach) -> tuple[int, int]:
    """The first and the last day of its range, which belongs to one stream."""
    low, high = int(reach.values["low"]), int(reach.values["high"])
    return day_in(low), day_in(max(low, high - 1))


def _in_a_row(parts: Sequence[Places]) -> Places:
    """Where the first of them stands with the others behind it, word for word."""
    first, *others = parts
    found: Places = {}
    for rid, columns in first.items():
        for slot, positions in columns.items():
            behind = [frozenset(part.get(rid, {}).get(slot, ())) for part in others]
            begins = [place for place in positions if all(place + i in part for i, part in enumerate(behind, start=1))]
            if begins:
                found.setdefault(rid, {})[slot] = begins
    return found
