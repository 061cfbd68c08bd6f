"""Full-text search over granted streams: bounded work, order by visible facts, proven offsets."""

import hashlib
import struct
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import add
from typing import NamedTuple

import orjson

from pdpp_server.errors import InvalidRequest
from pdpp_server.grants.permitted import Permitted, Scope
from pdpp_server.model.queries import Condition, SearchQuery
from pdpp_server.model.records import Recall, Record, RecordId
from pdpp_server.model.times import newest
from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import SID_BITS
from pdpp_server.store.records.asked import Narrowed, Where
from pdpp_server.store.records.count import count
from pdpp_server.store.records.excerpts import Proof, lean_proof, proof
from pdpp_server.store.records.fetch import require_declared
from pdpp_server.store.records.filters import left_of
from pdpp_server.store.records.freshness import newest_change
from pdpp_server.store.records.neighbours import lifted
from pdpp_server.store.records.rank import MatchCounts, score, weight
from pdpp_server.store.records.reach import Reach
from pdpp_server.store.records.scope import reaches
from pdpp_server.store.records.showing import Showing, StoredRow
from pdpp_server.store.records.texts import Texts
from pdpp_server.store.records.words import Finder, Phrase, WordQuery

CANDIDATES = 4000  # rows that one search scores at the most, about 2 µs each
COUNTED = 50_000  # matches of one phrase that are counted, about 40 ns each
LEAN_SHARE, LEAN_LEAST = 0.45, 3  # of the best score on a brief page, below which it ends; but not before so many hits

_POSITION = struct.Struct(">dqq")


class Position(NamedTuple):
    """Where a page ended: nothing but what its reader could see."""

    score: float
    at: int
    digest: int

    def pack(self) -> bytes:
        return _POSITION.pack(*self)

    @classmethod
    def unpack(cls, packed: bytes) -> "Position":
        return cls(*_POSITION.unpack_from(packed))


@dataclass(frozen=True, slots=True)
class FoundHit:
    record: Record
    proof: Proof
    position: Position
    beside: RecordId | None = None  # the match that lifted it, where that is on the same page


@dataclass(frozen=True, slots=True)
class Ranked:
    found: tuple[FoundHit, ...]
    has_more: bool
    recall: Recall
    as_of: str | None  # when something visible last changed in the searched streams
    short: tuple[str, ...] = ()  # prefixes that were looked for as words


class _Candidate(NamedTuple):
    position: Position
    rid: int
    reach: Reach


@dataclass(frozen=True, slots=True)
class _Group:
    """Reaches that are asked in the same columns: all that their rows have, or only the granted ones."""

    slots: tuple[int, ...]
    is_part: bool
    reaches: list[Reach]

    @property
    def indexed(self) -> Where:
        """Those for which the index is asked."""
        return Where([reach for reach in self.reaches if not reach.is_few], self.slots, self.is_part)


def search(reading: Reading, permitted: Permitted[SearchQuery], after: Position | None) -> Ranked:
    words = reading.tokenizer.query(permitted.query.text)
    if not words.wanted:
        raise InvalidRequest(
            "The query has no word to look for.", param="q", remedy='Give words, a "phrase" or a prefix*.'
        )
    require_declared(reading.layout, permitted)
    groups = _groups(reading, permitted)
    counts, is_complete = _note_candidates(reading, groups, words)
    visible = _visible_records(reading, groups)
    weights = [weight(visible, count) for count in counts]
    scores = {rid: score(note, weights) for rid, note in reading.words.noted.items()}
    # A neighbour might hold what must not occur: where a query says that, only matches are found.
    reached = [] if words.unwanted else [reach for group in groups for reach in group.reaches]
    ranked, lifted_by = lifted(reading, reached, scores)
    page, has_more = _page(reading, groups, ranked, after, permitted.query)
    matches = len(scores) if is_complete else max(*counts, len(scores))
    beside = len(ranked) - len(scores)
    told = tuple(zip([phrase.typed for phrase in words.wanted], counts, strict=True)) if permitted.query.lean else ()
    recall = Recall(is_complete, matches, is_complete, len(scores), None if is_complete else CANDIDATES, beside, told)
    finder = reading.tokenizer.finder(words.wanted, weights)
    found = tuple(_found(reading, page, finder, lifted_by, lean=permitted.query.lean))
    return Ranked(found, has_more, recall, _as_of(reading, groups), words.short)


def _reaches(reading: Reading, scope: Scope, conditions: tuple[Condition, ...]) -> Iterator[Reach]:
    """A filter makes the records that pass it the only ones there are: of others nothing is counted either."""
    for reach in reaches(reading, scope):
        yield left_of(reading, reach, conditions) if conditions else reach


def _groups(reading: Reading, permitted: Permitted[SearchQuery]) -> list[_Group]:
    grouped: dict[tuple[int, ...] | None, _Group] = {}
    for scope in permitted.scopes:
        for reach in _reaches(reading, scope, permitted.query.conditions):
            granted = tuple(sorted(_granted_fields(reach).values()))
            if not granted:
                continue
            is_part = len(granted) < len(reach.place.slots)
            columns = granted if is_part else None
            known = grouped.get(columns)
            merged = granted if known is None else tuple(sorted({*known.slots, *granted}))
            grouped[columns] = _Group(merged, is_part, [*(known.reaches if known else ()), reach])
    return list(grouped.values())


def _granted_fields(reach: Reach) -> dict[str, int]:
    """The fields that are searched, each with its column of the index."""
    slots, stream, fields = reach.place.slots, reach.scope.stream, reach.scope.fields
    return {name: slots[name] for name in stream.lexical_fields if name in fields and name in slots}


def _matches(reading: Reading, groups: Sequence[_Group], any_of: Sequence[Phrase], most: int) -> int:
    """How many visible records hold any of these; counting stops at `most`."""
    total = 0
    for group in groups:
        if total >= most:
            return most
        total += reading.words.count(group.indexed, any_of, most - total)
    return total


def _note_candidates(reading: Reading, groups: Sequence[_Group], words: WordQuery) -> tuple[list[int], bool]:
    """Note the records to be ranked; how many hold each phrase, and whether these are all that match."""
    reading.words.noted.clear()
    counts, is_complete = _note_indexed(reading, groups, words)
    few = _note_few(reading, groups, words)
    return list(map(add, counts, few)), is_complete


def _note_indexed(reading: Reading, groups: Sequence[_Group], words: WordQuery) -> tuple[list[int], bool]:
    """Phrases that stand in no visible record are left out after one look for each: every further one would cost the
    more, the more hidden records they stand in."""
    standing = {phrase for phrase in words.all if _stands(reading, groups, phrase.opening or phrase)}
    wanted = tuple(phrase for phrase in words.wanted if phrase in standing)
    unwanted = tuple(phrase for phrase in words.unwanted if phrase in standing)
    if not wanted:
        return [0] * len(words.wanted), True
    asked = WordQuery(wanted, unwanted)
    counts, is_complete = _note_opened(reading, groups, asked) or _note_standing(reading, groups, asked)
    if len(wanted) == len(words.wanted):
        return counts, is_complete
    for rid, note in reading.words.noted.items():
        reading.words.noted[rid] = note._replace(counts=_spread(note.counts, words, standing))
    return _spread(counts, words, standing), is_complete


def _stands(reading: Reading, groups: Sequence[_Group], phrase: Phrase) -> bool:
    return any(reading.words.stands(group.indexed, phrase) for group in groups)


def _spread(counts: Sequence[int], words: WordQuery, standing: Container[Phrase]) -> list[int]:
    """One count for each wanted phrase, where those that stand nowhere had none."""
    told = iter(counts)
    return [next(told) if phrase in standing else 0 for phrase in words.wanted]


def _note_few(reading: Reading, groups: Sequence[_Group], words: WordQuery) -> list[int]:
    """Of records that are few and named, each is looked at: the index would pass over hidden ones between them."""
    texts = Texts(reading.tokenizer, words.all)
    noted: dict[int, MatchCounts] = {}
    for reach in (reach for group in groups for reach in group.reaches if reach.is_few):
        noted |= _read(reading, texts, reach, reach.rids or ())
    return _kept(reading, noted, words)


def _note_opened(reading: Reading, groups: Sequence[_Group], words: WordQuery) -> tuple[list[int], bool] | None:
    """For long prefixes, of which the index would merge every word, those of hidden records too: what begins with the
    same three letters is found at once, and then read. None where there is no such prefix, or too much of that."""
    if not any(phrase.is_long for phrase in words.all):
        return None
    any_of = [phrase.opening or phrase for phrase in words.all]
    found = _matches(reading, groups, any_of, CANDIDATES + 1)
    if found > CANDIDATES:
        return None
    noted: dict[int, MatchCounts] = {}
    if found:
        texts = Texts(reading.tokenizer, words.all)
        for group in groups:
            noted |= _read_all(reading, texts, group, reading.words.matching(group.indexed, any_of))
    return _kept(reading, noted, words), True


def _read_all(reading: Reading, texts: Texts, group: _Group, rids: Sequence[int]) -> dict[int, MatchCounts]:
    noted: dict[int, MatchCounts] = {}
    by_sid: dict[int, list[int]] = {}
    for rid in rids:
        by_sid.setdefault(rid >> SID_BITS, []).append(rid)
    for reach in group.indexed.reaches:
        noted |= _read(reading, texts, reach, by_sid.get(reach.place.sid, []))
    return noted


def _read(reading: Reading, texts: Texts, reach: Reach, rids: Sequence[int]) -> dict[int, MatchCounts]:
    """Those of the records that hold any phrase, in fields that the grant shows."""
    fields = _granted_fields(reach)
    noted: dict[int, MatchCounts] = {}
    for rid, *_, data in reading.records.stored(rids):
        record = orjson.loads(data)
        held = {slot: text for name, slot in fields.items() if isinstance(text := record.get(name), str)}
        if note := texts.note(held):
            noted[rid] = note
    return noted


def _kept(reading: Reading, noted: Mapping[int, MatchCounts], words: WordQuery) -> list[int]:
    """Note those that hold what is wanted and nothing that is not; of all, how many hold each wanted phrase."""
    wanted = len(words.wanted)
    for rid, note in noted.items():
        if any(note.counts[:wanted]) and not any(note.counts[wanted:]):
            reading.words.noted[rid] = note._replace(counts=note.counts[:wanted])
    return [sum(note.counts[i] > 0 for note in noted.values()) for i in range(wanted)]


def _note_standing(reading: Reading, groups: Sequence[_Group], words: WordQuery) -> tuple[list[int], bool]:
    """Rare phrases are followed to every record; where all of them together are too many, the common ones only add to
    the scores of records that a rare one found, and give their newest records."""
    if not words.unwanted and (found := _matches(reading, groups, words.wanted, CANDIDATES + 1)) <= CANDIDATES:
        if found:
            _note_all(reading, groups, words, None)
        return _holders(reading.words.noted.values()) or [0] * len(words.wanted), True
    counts = [_matches(reading, groups, [phrase], COUNTED) for phrase in words.wanted]
    rarest = sorted(range(len(counts)), key=counts.__getitem__)
    essential: list[int] = []
    for i in rarest:
        if sum(counts[j] for j in essential) + counts[i] > CANDIDATES:
            break
        essential.append(i)
    if any(counts[i] for i in essential):
        _note_all(reading, groups, words, Narrowed([words.wanted[i] for i in essential]))
    common = rarest[len(essential) :]
    if common:
        _note_newest(reading, groups, words, common)
    return counts, not common


def _holders(notes: Iterable[MatchCounts]) -> list[int]:
    """How many of the noted records hold each phrase."""
    return [sum(map(bool, column)) for column in zip(*(note.counts for note in notes), strict=True)]


def _note_all(reading: Reading, groups: Sequence[_Group], words: WordQuery, narrowed: Narrowed | None) -> None:
    for group in groups:
        reading.words.note(group.indexed, words, narrowed)


def _note_newest(reading: Reading, groups: Sequence[_Group], words: WordQuery, common: Sequence[int]) -> None:
    """The newest records that hold all the common phrases, and the newest that hold the rarest of them."""
    most = max(CANDIDATES // max(1, sum(len(group.indexed.reaches) for group in groups)), 100)
    together = Narrowed([words.wanted[i] for i in common], hold_all=True)
    rarest = Narrowed(together.phrases[:1], hold_all=True)
    for narrowed in (together, rarest) if len(common) > 1 else (rarest,):
        for group in groups:
            for reach in group.indexed.reaches:
                # "Newest" would tell of a hidden time: where it is hidden, every match is looked at.
                newest = most if _shows_its_order(reach.scope) else None
                reading.words.note(group.indexed._replace(reaches=[reach]), words, narrowed, newest)


def _shows_its_order(scope: Scope) -> bool:
    return scope.stream.order_field is None or scope.stream.order_field in scope.fields


def _visible_records(reading: Reading, groups: Sequence[_Group]) -> int:
    total = 0
    for group in groups:
        for reach in group.reaches:
            visible = count(reading, reach)
            total += visible if reach.is_whole else min(visible, COUNTED)
    return total


def _page(
    reading: Reading, groups: Sequence[_Group], scores: Mapping[int, float], after: Position | None, query: SearchQuery
) -> tuple[list[_Candidate], bool]:
    """The next ones in order of score, time, digest of the id; and whether more follow."""
    limit = 2 * query.limit if query.lean else query.limit
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    if after is not None:
        ranked = [item for item in ranked if item[1] <= after.score]
    ties_before = sum(1 for _, score in ranked if after is not None and score == after.score)
    last = ranked[: limit + ties_before + 1][-1][1] if ranked else 0.0
    contenders = [item for item in ranked if item[1] >= last]
    ordered = sorted(_candidates(reading, groups, dict(contenders)), key=lambda candidate: _order(candidate.position))
    if after is not None:
        ordered = [candidate for candidate in ordered if _order(candidate.position) > _order(after)]
    size = _lean_size(reading, ordered[:limit], query) if query.lean else limit
    return ordered[:size], len(ordered) > size


def _lean_size(reading: Reading, ordered: Sequence[_Candidate], query: SearchQuery) -> int:
    """How many make a lean page: so many matches as were asked for, and what stands beside them takes no place; a
    brief page ends where hits are much weaker than its first."""
    matches = 0
    for taken, candidate in enumerate(ordered):
        is_weak = candidate.position.score < LEAN_SHARE * ordered[0].position.score
        if matches == query.limit or (query.brief and taken >= LEAN_LEAST and is_weak):
            return taken
        matches += candidate.rid in reading.words.noted
    return len(ordered)


def _as_of(reading: Reading, groups: Sequence[_Group]) -> str | None:
    return newest(newest_change(reading, reach) for group in groups for reach in group.reaches)


def _order(position: Position) -> tuple[float, int, int]:
    return -position.score, -position.at, position.digest


def _candidates(reading: Reading, groups: Sequence[_Group], scores: Mapping[int, float]) -> Iterator[_Candidate]:
    by_sid = {reach.place.sid: reach for group in groups for reach in group.reaches}
    for rid, key, at in reading.records.keys(scores):
        reach = by_sid[rid >> SID_BITS]
        shown_at = at if reach.scope.stream.order_field in reach.scope.fields else None
        named = f"{reach.origin.connection_id}/{reach.scope.stream.name}:{key}"
        digest = int.from_bytes(hashlib.blake2b(named.encode(), digest_size=8).digest()) >> 1
        yield _Candidate(Position(scores[rid], shown_at or 0, digest), rid, reach)


def _found(
    reading: Reading, page: Sequence[_Candidate], finder: Finder, lifted_by: Mapping[int, int], *, lean: bool
) -> Iterator[FoundHit]:
    stored = {row[0]: row for row in reading.records.stored(candidate.rid for candidate in page)}
    showings = {
        id(reach): Showing(reading, reach.scope, reach.origin, reach.place.sid)
        for reach in (candidate.reach for candidate in page)
    }
    prove = lean_proof if lean else proof
    for candidate in page:
        reach, (*row, text) = candidate.reach, stored[candidate.rid]
        record = showings[id(reach)].record(StoredRow._make((*row, orjson.loads(text))))
        note = reading.words.noted.get(candidate.rid)
        lifting = stored.get(lifted_by.get(candidate.rid, 0))
        beside = record.id._replace(key=lifting[1]) if lifting else None
        yield FoundHit(record, prove(finder, reach, record, note.slots if note else ()), candidate.position, beside)
