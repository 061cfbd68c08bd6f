"""Words in posting blocks: of each term one row for every batch of records that brought it, with all its places."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import orjson

from pdpp_server.store.engines.postgres.postings import PostingRun, kept_term, runs
from pdpp_server.store.engines.postgres.tables import PostgresTables
from pdpp_server.store.records.asked import Fullest, Narrowed, Where
from pdpp_server.store.records.rank import HeldPhrases, MatchCounts, fullest
from pdpp_server.store.records.reach import Reach
from pdpp_server.store.records.words import Phrase, WordQuery
from pdpp_server.store.session import Session

LENGTHS = ""  # the term under which the number of words in each column is kept
_LAST = "\U0010ffff"
_LENGTH_BITS = 8  # of a rid: so many records of one day have their lengths in one block

# Behind `offset 0` each stream is looked up by itself. Joined, what the database guesses of a list decides whether it
# reads all words that there are.
_BLOCKS = """
select asked.sid, asked.low, asked.high, found.term, found.places
from json_to_recordset((:reaches)::json) asked(sid bigint, low bigint, high bigint), lateral (
    select w.term, w.places from words w
    where w.sid = asked.sid and w.term = any((:terms)::text[]) and w.first < asked.high and w.last >= asked.low
    offset 0) found
"""
_BLOCKS_BEGINNING = "select places from words where sid = ? and term >= ? and term < ? and first < ? and last >= ?"
_LENGTHS_OF = "select places from words where sid = :sid and term = '' and batch = any((:blocks)::bigint[])"
_TIMES = "select rid from records where rid in {rids} and at >= :since and at < :until"

Places = dict[int, dict[int, list[int]]]  # rid to column to positions
_Range = tuple[int, int, int]  # of a stream: its number, from which rid on and before which


class Held(NamedTuple):
    """How often a phrase stands in the columns of one record, and in which of them, as bits."""

    times: int
    columns: int


HeldBy = Mapping[int, Held]  # by rid
_NOT_HELD = Held(0, 0)


def length_block(rid: int) -> int:
    """The first rid for which the same block has room."""
    return rid >> _LENGTH_BITS << _LENGTH_BITS


class PostgresWords:
    """In one snapshot. What was fetched once is not fetched again: a search asks for the same words several times."""

    def __init__(self, session: Session, tables: PostgresTables) -> None:
        self._session = session
        self._within = _TIMES.format(rids=tables.numbers("rids"))
        self._blocks: dict[tuple[_Range, str], list[str]] = {}
        self._held_by: dict[tuple[object, ...], HeldBy] = {}
        self.noted: dict[int, MatchCounts] = {}

    def stands(self, where: Where, phrase: Phrase) -> bool:
        self._fetch(where, [phrase])
        return any(self._held(reach, where.slots, phrase) for reach in where.reaches)

    def count(self, where: Where, any_of: Sequence[Phrase], most: int) -> int:
        return min(len(self.matching(where, any_of)), most)

    def matching(self, where: Where, any_of: Sequence[Phrase]) -> list[int]:
        self._fetch(where, any_of)
        found: list[int] = []
        for reach in where.reaches:
            held = [self._held(reach, where.slots, phrase) for phrase in any_of]
            found += sorted(set[int]().union(*held))
        return found

    def note(self, where: Where, words: WordQuery, narrowed: Narrowed | None = None, newest: int | None = None) -> None:
        self._fetch(where, words.all)
        for reach in where.reaches:
            held = self._held_each(reach, where.slots, words)
            chosen = sorted(_rids(held, words, narrowed), reverse=True)[:newest]
            wanted = [held[phrase] for phrase in words.wanted]
            self.noted |= self._notes(reach, where.slots, wanted, chosen)

    def note_fullest(self, where: Where, words: WordQuery, narrowed: Narrowed, asked: Fullest) -> None:
        self._fetch(where, words.all)
        (wanted,) = words.wanted
        notes: dict[int, MatchCounts] = {}
        for reach in where.reaches:
            held = self._held_each(reach, where.slots, words)
            newest = sorted(_rids(held, words, narrowed), reverse=True)[: asked.newest]
            often = [rid for rid in newest if held[wanted][rid].times >= asked.times]
            notes |= self._notes(reach, where.slots, [held[wanted]], often)
        self.noted |= {rid: notes[rid] for rid in fullest(notes, asked.most)}

    def holding(self, where: Where, words: WordQuery, narrowed: Narrowed) -> list[int]:
        self._fetch(where, words.all)
        found: list[int] = []
        for reach in where.reaches:
            held = self._held_each(reach, where.slots, words)
            found += sorted(_rids(held, words, narrowed))
        return found

    def _notes(
        self, reach: Reach, slots: Sequence[int], held: Sequence[HeldBy], rids: Sequence[int]
    ) -> dict[int, MatchCounts]:
        """Records that hold the same in texts of the same length share one note."""
        lengths = self._lengths(reach.place.sid, slots, rids) if rids else {}
        cases: dict[tuple[Held, ...], HeldPhrases] = {}
        shared: dict[tuple[int, tuple[Held, ...]], MatchCounts] = {}
        notes: dict[int, MatchCounts] = {}
        for rid in rids:
            case = tuple([each.get(rid, _NOT_HELD) for each in held])
            length = lengths.get(rid, 0)
            if (length, case) not in shared:
                if case not in cases:
                    cases[case] = HeldPhrases([one.times for one in case], [one.columns for one in case])
                shared[length, case] = MatchCounts(length, cases[case])
            notes[rid] = shared[length, case]
        return notes

    def _lengths(self, sid: int, slots: Sequence[int], rids: Sequence[int]) -> dict[int, int]:
        """How many words these columns of each record have. Most of what stands in a block is of others beside them."""
        blocks = sorted({length_block(rid) for rid in rids})
        kept = [places for (places,) in self._session.rows(_LENGTHS_OF, {"sid": sid, "blocks": blocks})]
        asked = frozenset(rids)
        lengths: dict[int, int] = {}
        for run in runs(kept):
            for rid, slot, length in zip(run.rids, run.slots, run.positions, strict=True):
                if rid in asked and slot in slots:
                    lengths[rid] = lengths.get(rid, 0) + length
        return lengths

    def _fetch(self, where: Where, phrases: Iterable[Phrase]) -> None:
        """All blocks of all their words in one statement, where they are not here yet."""
        tokens: set[str] = set()
        for phrase in phrases:
            tokens.update(phrase.tokens[:-1] if phrase.is_prefix else phrase.tokens)
        terms = {*map(kept_term, tokens)}
        ranges = {_range(reach) for reach in where.reaches}
        missing = {(within, term) for within in ranges for term in terms} - self._blocks.keys()
        if not missing:
            return
        asked = [{"sid": sid, "low": low, "high": high} for sid, low, high in {within for within, _ in missing}]
        bound = {"reaches": orjson.dumps(asked).decode(), "terms": sorted({term for _, term in missing})}
        for block in missing:
            self._blocks[block] = []
        for sid, low, high, term, places in self._session.rows(_BLOCKS, bound):
            block = (sid, low, high), term
            if block in missing:
                self._blocks[block].append(places)

    def _held_each(self, reach: Reach, slots: Sequence[int], words: WordQuery) -> dict[Phrase, HeldBy]:
        """In which visible records each phrase of the query stands."""
        return {phrase: self._held(reach, slots, phrase) for phrase in words.all}

    def _held(self, reach: Reach, slots: Sequence[int], phrase: Phrase) -> HeldBy:
        """In which visible records the phrase stands."""
        key = (reach.place.sid, *reach.values.values(), tuple(slots), phrase)
        if key not in self._held_by:
            tokens = [self._runs(reach, token) for token in phrase.tokens[:-1]]
            tokens.append(self._runs(reach, phrase.tokens[-1], is_prefix=phrase.is_prefix))
            if len(tokens) == 1:
                found = _counted(tokens[0], slots)
            else:
                found = _counted_places(_in_a_row([_placed(token, slots) for token in tokens]))
            self._held_by[key] = self._visible(reach, found)
        return self._held_by[key]

    def _runs(self, reach: Reach, term: str, *, is_prefix: bool = False) -> list[PostingRun]:
        within = _range(reach)
        if not is_prefix:
            return runs(self._blocks[within, kept_term(term)])
        sid, low, high = within
        found = self._session.rows(_BLOCKS_BEGINNING, (sid, term, term + _LAST, high, low))
        return runs([places for (places,) in found])

    def _visible(self, reach: Reach, found: HeldBy) -> HeldBy:
        """A block may hold records that lie before and behind, and no block tells which records of the days at the
        edges lie within the time, or which ones are named."""
        if reach.rids is not None:
            named = frozenset(reach.rids)
            return {rid: held for rid, held in found.items() if rid in named}
        _, low, high = _range(reach)
        within = {rid: held for rid, held in found.items() if low <= rid < high}
        if reach.is_whole or not within:
            return within
        inner_low, inner_high = int(reach.values["inner_low"]), int(reach.values["inner_high"])
        edges = [rid for rid in within if not inner_low <= rid < inner_high]
        if not edges:
            return within
        asked = {"rids": orjson.dumps(edges).decode(), "since": reach.values["since"], "until": reach.values["until"]}
        shown = {rid for (rid,) in self._session.rows(self._within, asked)}
        hidden = set(edges) - shown
        return {rid: held for rid, held in within.items() if rid not in hidden}


def _range(reach: Reach) -> _Range:
    return reach.place.sid, int(reach.values["low"]), int(reach.values["high"])


def _counted(found: Iterable[PostingRun], slots: Sequence[int]) -> dict[int, Held]:
    """How often, in these columns, without a look at where."""
    bits = {slot: 1 << slot for slot in slots}
    held: dict[int, Held] = {}
    shared: dict[tuple[int, int], Held] = {}
    for run in found:
        for rid, slot in zip(run.rids, run.slots, strict=True):
            if slot in bits:
                before = held.get(rid, _NOT_HELD)
                told = (before.times + 1, before.columns | bits[slot])
                held[rid] = shared[told] if told in shared else shared.setdefault(told, Held(*told))
    return held


def _placed(found: Iterable[PostingRun], slots: Sequence[int]) -> Places:
    """Where it stands in these columns."""
    placed: Places = {}
    for run in found:
        for rid, slot, position in zip(run.rids, run.slots, run.positions, strict=True):
            if slot in slots:
                placed.setdefault(rid, {}).setdefault(slot, []).append(position)
    return placed


def _counted_places(placed: Places) -> dict[int, Held]:
    held: dict[int, Held] = {}
    for rid, columns in placed.items():
        times = sum(map(len, columns.values()))
        held[rid] = Held(times, sum([1 << slot for slot in columns]))
    return held


def _rids(held: Mapping[Phrase, HeldBy], words: WordQuery, narrowed: Narrowed | None) -> set[int]:
    """Which records hold a wanted phrase, and what narrows."""
    rids = {rid for phrase in words.wanted for rid in held[phrase]}
    if narrowed is None:
        return rids
    holders = [set(held[phrase]) for phrase in narrowed.phrases]
    rids &= set.intersection(*holders) if narrowed.hold_all else set.union(*holders)
    return rids.difference(*[held[phrase] for phrase in words.unwanted])


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
