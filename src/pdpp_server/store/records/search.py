"""Full-text search over granted streams: bounded work, order by visible facts, proven offsets."""

import hashlib
import struct
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from math import inf
from operator import add
from typing import NamedTuple

import orjson

from pdpp_server.errors import InvalidRequest
from pdpp_server.grants.permitted import Permitted, Scope
from pdpp_server.meaning.loading import Encoder, MeantQuestion
from pdpp_server.model.queries import Condition, SearchQuery
from pdpp_server.model.records import Recall, Record, RecordId
from pdpp_server.model.times import newest
from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import SID_BITS
from pdpp_server.store.records.asked import Narrowed, Where
from pdpp_server.store.records.count import count
from pdpp_server.store.records.dates import AskedDates, AskedDays, dates_in
from pdpp_server.store.records.excerpts import Proof, lean_proof, meant_proof, proof
from pdpp_server.store.records.fetch import require_declared
from pdpp_server.store.records.filters import left_of
from pdpp_server.store.records.freshness import newest_change
from pdpp_server.store.records.fusion import fused
from pdpp_server.store.records.meanings import Near, Nearness, nearness, similarities
from pdpp_server.store.records.neighbours import lifted, of_talks
from pdpp_server.store.records.query_records import newest_of
from pdpp_server.store.records.rank import MatchCounts
from pdpp_server.store.records.reach import Reach, named
from pdpp_server.store.records.scope import reaches
from pdpp_server.store.records.scores import HeldCounts, scored
from pdpp_server.store.records.showing import Showing, StoredRow
from pdpp_server.store.records.suggestions import FEW_RECORDS, Suggestion, suggestions
from pdpp_server.store.records.texts import Texts
from pdpp_server.store.records.words import Finder, Phrase, WordQuery

CANDIDATES = 4000  # rows that one search scores at the most, about 2 µs each
EACH_PHRASE = 4  # phrases with which so many can be scored; of longer questions fewer, because each row costs more
COMMON, OF_EACH = 400, 10  # of them, the newest that hold phrases of which there are more; of each stream so many
FEW_COMMON = 200  # of those, that hold two phrases: with fewer, records that hold one of them can come among the best
BY_KEY = 200  # of those, where a hidden time leaves no order but that of keys, which is a longer way to them
LOOKED = 1000  # of the newest records, or of those that hold a word that may have been meant
COUNTED = 50_000  # matches of one phrase that are counted, about 40 ns each
LEAN_SHARE, LEAN_LEAST = 0.25, 3  # of the best score on a brief page, below which it ends; but not before so many hits

_POSITION = struct.Struct(">dqqi")


class Position(NamedTuple):
    """Where a page ended: nothing but what its reader could see."""

    score: float
    at: int
    digest: int
    asked_on: int = 0  # the day of the first page, where the question counts from it

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
    near: Near | None = None  # the passage whose meaning found it, where nothing else did


@dataclass(frozen=True, slots=True)
class Ranked:
    found: tuple[FoundHit, ...]
    has_more: bool
    recall: Recall
    as_of: str | None  # when something visible last changed in the searched streams
    short: tuple[str, ...] = ()  # prefixes that were looked for as words
    days: tuple[AskedDays, ...] = ()  # of which the question speaks, and by which records could be lifted
    names: tuple[str, ...] = ()  # of the question, as who spoke
    suggested: tuple[Suggestion, ...] = ()
    waiting: int | None = None  # visible records whose meaning is not indexed yet, where it was looked at


class _Candidate(NamedTuple):
    position: Position
    rid: int
    reach: Reach

    def counted_from(self, asked_on: int) -> "_Candidate":
        return self._replace(position=self.position._replace(asked_on=asked_on))


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


class ByMeaning(NamedTuple):
    """The model that knows what the question means, and whether words count beside it."""

    model: Encoder
    words_count: bool


def search(
    reading: Reading,
    permitted: Permitted[SearchQuery],
    after: Position | None,
    today: date,
    by: ByMeaning | None = None,
) -> Ranked:
    asked_on = date.fromordinal(after.asked_on) if after and after.asked_on else today
    dates = dates_in(permitted.query.text, asked_on)
    words = reading.tokenizer.query(permitted.query.text, dates)
    require_declared(reading.layout, permitted)
    everything = _everything(reading, permitted)
    groups = _groups(everything)
    if by is not None and not by.words_count and words.unwanted:
        raise InvalidRequest(
            "A search by meaning alone cannot leave words out.", param="q", remedy="Leave out the minus, or use hybrid."
        )
    if not words.has_topic:
        return _newest(reading, groups, permitted.query, words)
    held, is_complete = _note_candidates(reading, groups, words)
    counts = _totals(held, words)
    reached = [reach for group in groups for reach in group.reaches]
    told = scored(reading, reached, words, held, _visible_records(reading, groups), dates)
    scores = told.scores
    # A neighbour might hold what must not occur: where a query says that, only matches are found. Where words do not
    # count, they lift nothing.
    lifts = not words.unwanted and (by is None or by.words_count)
    ranked, lifted_by = lifted(reading, reached if lifts else [], scores)
    ranked = of_talks(reading, reached, ranked)
    beside = len(ranked) - len(scores)
    near = Nearness()
    if by is not None:
        asked = by.model.asked(reading.tokenizer.without(permitted.query.text, told.names))
        near = _near(reading, everything, asked, scores if words.unwanted else None)
        similar = similarities(reading, everything, near, told.names)
        ranked = fused(ranked if by.words_count else {}, similar)
    page, has_more = _page(reading, everything, ranked, after, permitted.query, lifted_by)
    matches = len(scores) if is_complete else max(*counts, len(scores))
    each = [*_each_word(words, counts, told.dates)] if permitted.query.lean else []
    window = None if is_complete else CANDIDATES
    meant = sum(1 for rid in ranked if rid not in scores and rid not in lifted_by)
    held_by = tuple([(words.wanted[i].typed, counts[i]) for i in each])
    here = _held_here(reading, page, each)
    recall = Recall(is_complete, matches, is_complete, len(scores), window, beside, held_by, meant=meant, here=here)
    finder = reading.tokenizer.finder(words.wanted, told.weights)
    counted_from = asked_on.toordinal() if dates.is_relative else 0
    page = [candidate.counted_from(counted_from) for candidate in page]
    found = tuple(_found(reading, page, finder, lifted_by, near, lean=permitted.query.lean))
    return Ranked(
        found,
        has_more,
        recall,
        _as_of(reading, groups),
        words.short,
        days=told.dates.days,
        names=tuple([phrase.typed for phrase in told.names]),
        suggested=_suggested(reading, groups, words, counts),
        waiting=near.waiting if by else None,
    )


def _each_word(words: WordQuery, counts: Sequence[int], dates: AskedDates) -> Iterator[int]:
    """Which are worth a word: one of a time that was understood, and that stands nowhere, is none to look for."""
    for place, (phrase, held) in enumerate(zip(words.wanted, counts, strict=True)):
        if held or not (dates.days and phrase in words.dated):
            yield place


def _held_here(reading: Reading, page: Sequence[_Candidate], each: Sequence[int]) -> tuple[int, ...]:
    """How many records of the page hold each of these words."""
    noted = [note for candidate in page if (note := reading.words.noted.get(candidate.rid))]
    return tuple([sum(1 for note in noted if note.counts[place]) for place in each])


def _newest(reading: Reading, groups: Sequence[_Group], query: SearchQuery, words: WordQuery) -> Ranked:
    """Where a question has no word that could be looked for: what came last, without what must not occur."""
    reading.words.noted.clear()
    texts = Texts(reading.tokenizer, words.unwanted)
    most = query.limit + 1
    rids: list[int] = []
    everything = [reach for group in groups for reach in group.reaches]
    for reach in everything:
        newest = [row.rid for row in newest_of(reading, reach, LOOKED if words.unwanted else most)]
        held = _read(reading, texts, reach, newest) if words.unwanted else {}
        rids += [rid for rid in newest if rid not in held][:most]
    ordered = sorted(_candidates(reading, everything, dict.fromkeys(rids, 0.0)), key=lambda one: _order(one.position))
    page = ordered[: query.limit]
    found = tuple(_found(reading, page, reading.tokenizer.finder((), ()), {}, Nearness(), lean=query.lean))
    recall = Recall(complete=False, matches=None, matches_exact=False, ranked=None, is_newest=True)
    return Ranked(found, len(ordered) > len(page), recall, _as_of(reading, groups), words.short)


def _suggested(
    reading: Reading, groups: Sequence[_Group], words: WordQuery, counts: Sequence[int]
) -> tuple[Suggestion, ...]:
    return tuple(suggestions(reading.tokenizer, words, counts, _Standing(reading, groups))) if groups else ()


@dataclass(frozen=True, slots=True)
class _Standing:
    """What stands in granted fields of visible records."""

    reading: Reading
    groups: Sequence[_Group]

    def count(self, any_of: Sequence[Phrase], most: int) -> int:
        return _matches(self.reading, self.groups, any_of, most)

    def forms(self, phrase: Phrase) -> Counter[str]:
        """In how many records each form stands; of many records, in the first that were looked at."""
        finder = self.reading.tokenizer.finder((phrase,), (1.0,))
        forms: Counter[str] = Counter()
        for group in self.groups:
            by_sid = {reach.place.sid: _granted_fields(reach) for reach in group.indexed.reaches}
            holding = self.reading.words.matching(group.indexed, [phrase])[:FEW_RECORDS]
            for rid, *_, data in self.reading.records.stored(holding):
                record = orjson.loads(data)
                texts = [text for name in by_sid[rid >> SID_BITS] if isinstance(text := record.get(name), str)]
                spans = [(text, span) for text in texts for span in finder.spans(text, near=len(text))]
                forms.update({text[span.start : span.end].lower() for text, span in spans})
        return forms


def _near(
    reading: Reading, everything: Sequence[Reach], question: MeantQuestion, only: Container[int] | None
) -> Nearness:
    """What is near by its meaning; where a query says what must not occur, only of matches, which do not hold it."""
    near = nearness(reading, everything, question)
    if only is None:
        return near
    return Nearness({rid: one for rid, one in near.records.items() if rid in only}, near.waiting)


def _reaches(reading: Reading, scope: Scope, conditions: tuple[Condition, ...]) -> Iterator[Reach]:
    """A filter makes the records that pass it the only ones there are: of others nothing is counted either."""
    for reach in reaches(reading, scope):
        yield left_of(reading, reach, conditions) if conditions else reach


def _everything(reading: Reading, permitted: Permitted[SearchQuery]) -> list[Reach]:
    conditions = permitted.query.conditions
    return [reach for scope in permitted.scopes for reach in _reaches(reading, scope, conditions)]


def _groups(everything: Sequence[Reach]) -> list[_Group]:
    grouped: dict[tuple[int, ...] | None, _Group] = {}
    for reach in everything:
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


def _connections(groups: Sequence[_Group]) -> list[str]:
    """Those that are searched, in the order of their ids."""
    return sorted({reach.origin.connection_id for group in groups for reach in group.reaches})


def _of_connection(groups: Sequence[_Group], connection: str) -> list[_Group]:
    """What is searched of one of them."""
    parts = [
        replace(group, reaches=[reach for reach in group.reaches if reach.origin.connection_id == connection])
        for group in groups
    ]
    return [group for group in parts if group.reaches]


def _none(groups: Sequence[_Group], words: WordQuery) -> HeldCounts:
    return {connection: [0] * len(words.wanted) for connection in _connections(groups)}


def _totals(held: HeldCounts, words: WordQuery) -> list[int]:
    """Of each phrase, how many records of all connections hold it."""
    return [sum(counts[phrase] for counts in held.values()) for phrase in range(len(words.wanted))]


def _note_candidates(reading: Reading, groups: Sequence[_Group], words: WordQuery) -> tuple[HeldCounts, bool]:
    """MatchCounts the records to be ranked; how many hold each phrase, and whether these are all that match."""
    reading.words.noted.clear()
    held, is_complete = _note_indexed(reading, groups, words)
    few = _note_few(reading, groups, words)
    return {connection: list(map(add, counts, few[connection])) for connection, counts in held.items()}, is_complete


def _note_indexed(reading: Reading, groups: Sequence[_Group], words: WordQuery) -> tuple[HeldCounts, bool]:
    """Phrases that stand in no visible record are left out after one look for each: every further one would cost the
    more, the more hidden records they stand in."""
    if noted := _note_many(reading, groups, words):
        return noted
    standing = {phrase for phrase in words.all if _stands(reading, groups, phrase.opening or phrase)}
    wanted = tuple(phrase for phrase in words.wanted if phrase in standing)
    unwanted = tuple(phrase for phrase in words.unwanted if phrase in standing)
    if not wanted:
        return _none(groups, words), True
    asked = WordQuery(wanted, unwanted)
    held, is_complete = _note_opened(reading, groups, asked) or _note_standing(reading, groups, asked)
    if len(wanted) == len(words.wanted):
        return held, is_complete
    for rid, note in reading.words.noted.items():
        counts, slots = _spread(note.counts, words, standing), _spread(note.slots, words, standing)
        reading.words.noted[rid] = note._replace(counts=counts, slots=slots)
    return {connection: _spread(counts, words, standing) for connection, counts in held.items()}, is_complete


def _note_many(reading: Reading, groups: Sequence[_Group], words: WordQuery) -> tuple[HeldCounts, bool] | None:
    """Of many single records what they hold is noted at once: every statement has to look up each of them, so that a
    count beforehand costs as much. None where there are none such, or where more match than are scored."""
    is_many = any(reach.shown == "many" for group in groups for reach in group.reaches)
    if not is_many or words.unwanted or any(phrase.is_long for phrase in words.wanted):
        return None
    for group in groups:
        reading.words.note(group.indexed, words, None, CANDIDATES + 1)
    if len(reading.words.noted) > CANDIDATES:
        reading.words.noted.clear()
        return None
    return _holders(groups, words, reading.words.noted), True


def _stands(reading: Reading, groups: Sequence[_Group], phrase: Phrase) -> bool:
    return any(reading.words.stands(group.indexed, phrase) for group in groups)


def _spread(counts: Sequence[int], words: WordQuery, standing: Container[Phrase]) -> list[int]:
    """One count for each wanted phrase, where those that stand nowhere had none."""
    told = iter(counts)
    return [next(told) if phrase in standing else 0 for phrase in words.wanted]


def _note_few(reading: Reading, groups: Sequence[_Group], words: WordQuery) -> HeldCounts:
    """Of records that are few and named, each is looked at: the index would pass over hidden ones between them."""
    texts = Texts(reading.tokenizer, words.all)
    noted: dict[int, MatchCounts] = {}
    for reach in (reach for group in groups for reach in group.reaches if reach.is_few):
        noted |= _read(reading, texts, reach, reach.rids or ())
    return _kept(reading, groups, noted, words)


def _note_opened(reading: Reading, groups: Sequence[_Group], words: WordQuery) -> tuple[HeldCounts, bool] | None:
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
    return _kept(reading, groups, noted, words), True


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


def _kept(reading: Reading, groups: Sequence[_Group], noted: Mapping[int, MatchCounts], words: WordQuery) -> HeldCounts:
    """MatchCounts those that hold what is wanted and nothing that is not; of all, how many hold each wanted phrase."""
    wanted = len(words.wanted)
    for rid, note in noted.items():
        if any(note.counts[:wanted]) and not any(note.counts[wanted:]):
            reading.words.noted[rid] = note._replace(counts=note.counts[:wanted], slots=note.slots[:wanted])
    return _holders(groups, words, noted)


def _holders(groups: Sequence[_Group], words: WordQuery, noted: Mapping[int, MatchCounts]) -> HeldCounts:
    """How many of these records hold each phrase."""
    connection_of = {reach.place.sid: reach.origin.connection_id for group in groups for reach in group.reaches}
    counts = {connection: [0] * len(words.wanted) for connection in _connections(groups)}
    for rid, note in noted.items():
        held = counts[connection_of[rid >> SID_BITS]]
        for phrase in range(len(held)):
            held[phrase] += note.counts[phrase] > 0
    return counts


def _counted(reading: Reading, groups: Sequence[_Group], words: WordQuery) -> HeldCounts:
    """How many visible records hold each phrase, by connection; counting stops somewhere."""
    connections = _connections(groups)
    most = max(COUNTED // len(connections), CANDIDATES)
    return {
        connection: [_matches(reading, part, [phrase], most) for phrase in words.wanted]
        for connection, part in ((connection, _of_connection(groups, connection)) for connection in connections)
    }


def _note_standing(reading: Reading, groups: Sequence[_Group], words: WordQuery) -> tuple[HeldCounts, bool]:
    """Rare phrases are followed to every record; where all of them together are too many, the common ones only add to
    the scores of records that a rare one found, and give their newest records."""
    if not words.unwanted and (found := _matches(reading, groups, words.wanted, CANDIDATES + 1)) <= CANDIDATES:
        if found:
            _note_all(reading, groups, words, None)
        return _holders(groups, words, reading.words.noted), True
    held = _counted(reading, groups, words)
    counts = _totals(held, words)
    rarest = sorted(range(len(counts)), key=counts.__getitem__)
    room = CANDIDATES * EACH_PHRASE // max(EACH_PHRASE, len(counts))
    essential: list[int] = []
    for i in rarest:
        if sum(counts[j] for j in essential) + counts[i] > room:
            break
        essential.append(i)
    if any(counts[i] for i in essential):
        _note_all(reading, groups, words, Narrowed(tuple(words.wanted[i] for i in essential)))
    common = rarest[len(essential) :]
    if common:
        _note_newest(reading, groups, words, common)
    return held, not common


def _note_all(reading: Reading, groups: Sequence[_Group], words: WordQuery, narrowed: Narrowed | None) -> None:
    for group in groups:
        reading.words.note(group.indexed, words, narrowed)


def _note_newest(reading: Reading, groups: Sequence[_Group], words: WordQuery, common: Sequence[int]) -> None:
    """The newest records that hold the two rarest of the common phrases; where these are few, the newest that hold the
    rarest. As many as there is room for beside those that are noted already."""
    parts = [group.indexed._replace(reaches=[reach]) for group in groups for reach in group.indexed.reaches]
    rarest = tuple(words.wanted[i] for i in common[:2])
    before = len(reading.words.noted)
    room = min(CANDIDATES, before + max(COMMON, OF_EACH * len(parts)))
    for phrases in (rarest, rarest[:1]) if len(rarest) > 1 else (rarest,):
        if len(reading.words.noted) - before >= FEW_COMMON:
            return
        narrowed = Narrowed(phrases, hold_all=True)
        most = (room - len(reading.words.noted)) // len(parts)
        for part in parts:
            if _shows_its_order(part.reaches[0].scope):
                reading.words.note(part, words, narrowed, most)
            else:
                _note_last(reading, part, words, narrowed, min(most, BY_KEY))


def _note_last(reading: Reading, part: Where, words: WordQuery, narrowed: Narrowed, most: int) -> None:
    """What is newest would tell of a hidden time. Where that is hidden the last by their keys are taken, as pages do."""
    (reach,) = part.reaches
    holding = reading.words.holding(part, words, narrowed)
    if chosen := _last_by_key(reading, reach, holding, most):
        reading.words.note(part._replace(reaches=[named(reach, chosen, few=0)]), words, narrowed)


def _last_by_key(reading: Reading, reach: Reach, rids: Sequence[int], most: int) -> list[int]:
    """Where there are many of them, they lie close in the order of keys, which is followed as far as it has to be."""
    if len(rids) <= most:
        return [*rids]
    if len(rids) <= CANDIDATES:
        keys = {rid: key for rid, key, _ in reading.records.keys(rids)}
        return sorted(keys, key=keys.__getitem__, reverse=True)[:most]
    chosen: list[int] = []
    key: str | None = ""
    while len(chosen) < most and key is not None:
        likely = (most - len(chosen)) * count(reading, reach) // len(rids)
        followed, key = reading.records.rids_by_key(reach.place.sid, key, likely + most)
        found = {*followed}.intersection(rids)
        chosen += [rid for rid in followed if rid in found]
    return chosen[:most]


def _shows_its_order(scope: Scope) -> bool:
    return scope.stream.order_field is None or scope.stream.order_field in scope.fields


def _visible_records(reading: Reading, groups: Sequence[_Group]) -> dict[str, int]:
    """How many each connection has."""
    total = dict.fromkeys(_connections(groups), 0)
    for group in groups:
        for reach in group.reaches:
            visible = count(reading, reach)
            total[reach.origin.connection_id] += visible if reach.is_whole else min(visible, COUNTED)
    return total


def _page(
    reading: Reading,
    everything: Sequence[Reach],
    scores: Mapping[int, float],
    after: Position | None,
    query: SearchQuery,
    lifted_by: Container[int],
) -> tuple[list[_Candidate], bool]:
    """The next ones in order of score, time, digest of the id; and whether more follow."""
    limit = 2 * query.limit if query.lean else query.limit
    best = inf if after is None else after.score
    ranked = sorted([score for score in scores.values() if score <= best], reverse=True)
    ties_before = 0 if after is None else ranked.count(best)
    last = ranked[: limit + ties_before + 1][-1] if ranked else 0.0
    contenders = {rid: score for rid, score in scores.items() if last <= score <= best}
    ordered = sorted(_candidates(reading, everything, contenders), key=lambda candidate: _order(candidate.position))
    if after is not None:
        ordered = [candidate for candidate in ordered if _order(candidate.position) > _order(after)]
    if not query.lean:
        return ordered[:limit], len(ordered) > limit
    size = _lean_size(ordered[:limit], query, lifted_by)
    return ordered[:size], _matches_follow(ordered[:size], ordered[size:], scores, lifted_by)


def _matches_follow(
    page: Sequence[_Candidate],
    others: Sequence[_Candidate],
    scores: Mapping[int, float],
    lifted_by: Container[int],
) -> bool:
    """Whether a further page would have a match: what only stands beside matches is no reason to turn one."""
    if any(candidate.rid not in lifted_by for candidate in others):
        return True
    least = min((candidate.position.score for candidate in (*page, *others)), default=0.0)
    return any(score < least and rid not in lifted_by for rid, score in scores.items())


def _lean_size(ordered: Sequence[_Candidate], query: SearchQuery, lifted_by: Container[int]) -> int:
    """How many make a lean page: so many matches as were asked for, and what stands beside them takes no place; a
    brief page ends where hits are much weaker than its first."""
    matches = 0
    for taken, candidate in enumerate(ordered):
        is_weak = candidate.position.score < LEAN_SHARE * ordered[0].position.score
        if matches == query.limit or (query.brief and matches and taken >= LEAN_LEAST and is_weak):
            return taken
        matches += candidate.rid not in lifted_by
    return len(ordered)


def _as_of(reading: Reading, groups: Sequence[_Group]) -> str | None:
    return newest(newest_change(reading, reach) for group in groups for reach in group.reaches)


def _order(position: Position) -> tuple[float, int, int]:
    return -position.score, -position.at, position.digest


def _candidates(reading: Reading, everything: Sequence[Reach], scores: Mapping[int, float]) -> Iterator[_Candidate]:
    by_sid = {reach.place.sid: reach for reach in everything}
    for rid, key, at in reading.records.keys(scores):
        reach = by_sid[rid >> SID_BITS]
        shown_at = at if reach.scope.stream.order_field in reach.scope.fields else None
        yield _Candidate(Position(scores[rid], shown_at or 0, _digest(reach, key)), rid, reach)


def _digest(reach: Reach, key: str) -> int:
    """A number made of what a reader sees of a record, so that any may come first."""
    handle = f"{reach.origin.connection_id}/{reach.scope.stream.name}:{key}"
    return int.from_bytes(hashlib.blake2b(handle.encode(), digest_size=8).digest()) >> 1


def _found(
    reading: Reading,
    page: Sequence[_Candidate],
    finder: Finder,
    lifted_by: Mapping[int, int],
    near: Nearness,
    *,
    lean: bool,
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
        meant = near.records.get(candidate.rid) if note is None and beside is None else None
        if meant is None:
            told = prove(finder, reach, record, note.matched if note else 0)
        else:
            told = meant_proof(record, meant, lean=lean)
        yield FoundHit(record, told, candidate.position, beside, meant)
