"""Words in posting blocks: of each term, stream and day one row, which says in which records and where it stands."""

from collections.abc import Iterable, Mapping, Sequence

import orjson

from pdpp_server.store.engines.postgres.tables import PostgresTables
from pdpp_server.store.layout import day_in, first_rid
from pdpp_server.store.records.asked import Narrowed, Where
from pdpp_server.store.records.rank import HeldPhrases, MatchCounts
from pdpp_server.store.records.reach import Reach
from pdpp_server.store.records.words import Phrase, WordQuery
from pdpp_server.store.session import Session

LENGTHS = ""  # the term under which the number of words in each column is kept
_LAST = "\U0010ffff"

_BLOCKS = """
select asked.sid, asked.first, asked.last, w.term, w.day, w.places
from jsonb_to_recordset((:streams)::jsonb) asked(sid bigint, first bigint, last bigint),
    jsonb_array_elements_text((:terms)::jsonb) term, words w
where w.sid = asked.sid and w.term = term.value and w.day >= asked.first and w.day <= asked.last
"""
_BLOCKS_BEGINNING = "select day, places from words where sid = ? and term >= ? and term < ? and day >= ? and day <= ?"
_BLOCKS_OF_DAYS = "select day, places from words where sid = :sid and term = :term and day in {days}"
_TIMES = "select rid from records where rid in {rids} and at >= :since and at < :until"

Places = dict[int, dict[int, list[int]]]  # rid to column to positions
Blocks = list[tuple[int, bytes]]  # by day
PostingEntry = list[int]  # the number of a record in its day, the column, the positions in it


def written(entries: Iterable[PostingEntry]) -> bytes:
    """Entries of a block; what is written behind it later makes one block with it."""
    return b"".join(orjson.dumps(entry) + b"," for entry in entries)


def read(block: bytes) -> list[PostingEntry]:
    return orjson.loads(b"[" + block[:-1] + b"]")


class PostgresWords:
    """In one snapshot. What was fetched once is not fetched again: a search asks for the same words several times."""

    def __init__(self, session: Session, tables: PostgresTables) -> None:
        self._session = session
        self._within = _TIMES.format(rids=tables.numbers("rids"))
        self._of_days = _BLOCKS_OF_DAYS.format(days=tables.numbers("days"))
        self._blocks: dict[tuple[int, int, int, str], Blocks] = {}  # by stream, first and last day, and term
        self._places: dict[tuple[int, int, int, str, bool, tuple[int, ...]], Places] = {}  # and columns
        self.noted: dict[int, MatchCounts] = {}

    def stands(self, where: Where, phrase: Phrase) -> bool:
        self._fetch(where, [phrase])
        return any(self._held(reach, where.slots, phrase) for reach in where.reaches)

    def count(self, where: Where, any_of: Sequence[Phrase], most: int) -> int:
        return min(len(self.matching(where, any_of)), most)

    def matching(self, where: Where, any_of: Sequence[Phrase]) -> list[int]:
        self._fetch(where, any_of)
        return [
            rid
            for reach in where.reaches
            for rid in sorted({rid for phrase in any_of for rid in self._held(reach, where.slots, phrase)})
        ]

    def note(self, where: Where, words: WordQuery, narrowed: Narrowed | None = None, newest: int | None = None) -> None:
        self._fetch(where, words.all)
        for reach in where.reaches:
            held = {phrase: self._held(reach, where.slots, phrase) for phrase in words.all}
            chosen = sorted(_rids(held, words, narrowed), reverse=True)[:newest]
            self._note(reach, where.slots, [held[phrase] for phrase in words.wanted], chosen)

    def holding(self, where: Where, words: WordQuery, narrowed: Narrowed) -> list[int]:
        self._fetch(where, words.all)
        found: list[int] = []
        for reach in where.reaches:
            held = {phrase: self._held(reach, where.slots, phrase) for phrase in words.all}
            found += sorted(_rids(held, words, narrowed))
        return found

    def _note(self, reach: Reach, slots: Sequence[int], held: Sequence[Places], rids: Sequence[int]) -> None:
        lengths = self._lengths(reach.place.sid, slots, rids) if rids else {}
        for rid in rids:
            places = [each.get(rid, {}) for each in held]
            counts = [sum(map(len, columns.values())) for columns in places]
            matched = [sum(1 << slot for slot in columns) for columns in places]
            self.noted[rid] = MatchCounts(_length(lengths, rid), HeldPhrases(counts, matched))

    def _lengths(self, sid: int, slots: Sequence[int], rids: Sequence[int]) -> Places:
        """Of the days of these records."""
        days = orjson.dumps(sorted({day_in(rid) for rid in rids})).decode()
        return _placed(sid, self._session.rows(self._of_days, {"sid": sid, "term": LENGTHS, "days": days}), slots)

    def _fetch(self, where: Where, phrases: Iterable[Phrase]) -> None:
        """All blocks of all their words in one statement, where they are not here yet."""
        terms = {token for phrase in phrases for token in (phrase.tokens[:-1] if phrase.is_prefix else phrase.tokens)}
        streams = {(reach.place.sid, *_days(reach)) for reach in where.reaches}
        missing = {(*stream, term) for stream in streams for term in terms} - self._blocks.keys()
        if not missing:
            return
        asked = {
            "streams": orjson.dumps([dict(zip(("sid", "first", "last"), stream, strict=True)) for stream in streams]),
            "terms": orjson.dumps(sorted({term for *_, term in missing})),
        }
        found: dict[tuple[int, int, int, str], Blocks] = {}
        for *key, day, raw in self._session.rows(_BLOCKS, {name: listed.decode() for name, listed in asked.items()}):
            found.setdefault(tuple(key), []).append((day, raw))
        self._blocks.update((key, found.get(key, [])) for key in missing)

    def _held(self, reach: Reach, slots: Sequence[int], phrase: Phrase) -> Places:
        """In which visible records the phrase stands, and where it begins."""
        *first, last = phrase.tokens
        parts = [self._terms(reach, slots, token) for token in first]
        return _in_a_row([*parts, self._terms(reach, slots, last, is_prefix=phrase.is_prefix)])

    def _terms(self, reach: Reach, slots: Sequence[int], term: str, *, is_prefix: bool = False) -> Places:
        sid, days = reach.place.sid, _days(reach)
        key = (sid, *days, term, is_prefix, tuple(slots))
        if key not in self._places:
            if is_prefix:
                blocks = self._session.rows(_BLOCKS_BEGINNING, (sid, term, term + _LAST, *days))
            else:
                blocks = self._blocks[sid, *days, term]
            self._places[key] = _placed(sid, blocks, slots)
        return self._visible(reach, self._places[key])

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


def _placed(sid: int, blocks: Iterable[tuple[int, bytes]], slots: Sequence[int]) -> Places:
    """What the blocks say of these columns."""
    found: Places = {}
    for day, raw in blocks:
        first = first_rid(sid, day)
        for entry in read(raw):
            slot = entry[1]
            if slot in slots:
                columns = found.setdefault(first + entry[0], {})
                columns[slot] = sorted([*columns[slot], *entry[2:]]) if slot in columns else entry[2:]
    return found


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
    if not others:
        return first
    found: Places = {}
    for rid, columns in first.items():
        for slot, positions in columns.items():
            behind = [frozenset(part.get(rid, {}).get(slot, ())) for part in others]
            begins = [place for place in positions if all(place + i in part for i, part in enumerate(behind, start=1))]
            if begins:
                found.setdefault(rid, {})[slot] = begins
    return found
