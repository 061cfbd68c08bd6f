"""Full-text search over granted streams: bounded work, order by visible facts, proven offsets."""

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
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
from pdpp_server.store.records.candidates import (
    CANDIDATES,
    ReachGroup,
    count_matches,
    granted_fields,
    grouped_by_columns,
    note_candidates,
    read_texts,
    totals,
    visible_records,
)
from pdpp_server.store.records.dates import AskedDates, AskedDays, dates_in
from pdpp_server.store.records.excerpts import Proof, Proving, meant_proof
from pdpp_server.store.records.fetch import require_declared
from pdpp_server.store.records.filters import left_of
from pdpp_server.store.records.freshness import newest_change
from pdpp_server.store.records.fusion import fused
from pdpp_server.store.records.meanings import Near, Nearness, meant_fields, nearness, similarities
from pdpp_server.store.records.neighbours import TitlesRead, lifted, of_talks
from pdpp_server.store.records.query_records import newest_of
from pdpp_server.store.records.rank import HeldPhrases
from pdpp_server.store.records.ranked_page import Position, RankedRecord, in_order, next_page
from pdpp_server.store.records.reach import Reach
from pdpp_server.store.records.scope import reaches
from pdpp_server.store.records.scores import scored
from pdpp_server.store.records.showing import Showing, StoredRow
from pdpp_server.store.records.suggestions import FEW_RECORDS, Suggestion, suggestions
from pdpp_server.store.records.texts import Texts
from pdpp_server.store.records.titled import of_titles
from pdpp_server.store.records.words import Finder, Phrase, WordQuery

LOOKED = 1000  # of the newest records, or of those that hold a word that may have been meant


class FoundHit(NamedTuple):
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
    if by is not None and not by.words_count and words.unwanted:
        raise InvalidRequest(
            "A search by meaning alone cannot leave words out.",
            param="q",
            remedy="Leave out the minus, or use hybrid.",
        )
    if not words.has_topic:
        return _newest(reading, grouped_by_columns(everything), permitted.query, words)
    if by is not None and not by.words_count:  # words are counted where a record could be found, and nowhere else
        everything = [reach for reach in everything if meant_fields(reach)]
    groups = grouped_by_columns(everything)
    held, holding, is_complete = note_candidates(reading, groups, words)
    counts = totals(held, words)
    reached = [reach for group in groups for reach in group.reaches]
    told = scored(reading, reached, words, held, holding, visible_records(reading, groups), dates)
    scores = of_titles(reading, reached, permitted.query.text, told.scores)
    # A neighbour might hold what must not occur: where a query says that, only matches are found. Where words do not
    # count, they lift nothing.
    lifts = not words.unwanted and (by is None or by.words_count)
    titles = TitlesRead(reading)
    around = _around(reading, permitted, reached) if lifts else ()
    ranked, lifted_by = lifted(reading, around, scores, titles)
    ranked = of_talks(reached, ranked, titles)
    beside = len(ranked) - len(scores)
    near = Nearness()
    if by is not None:
        asked = by.model.asked(reading.tokenizer.without(permitted.query.text, told.names))
        near = _near(reading, everything, asked, scores if words.unwanted else None)
        similar = similarities(reading, everything, near, told.names)
        ranked = fused(ranked if by.words_count else {}, similar)
    page, has_more = next_page(reading, everything, ranked, after, permitted.query, lifted_by)
    matches = len(scores) if is_complete else max(*counts, len(scores))
    each = [*_each_word(words, counts, told.dates)] if permitted.query.lean and reached else []
    window = None if is_complete else CANDIDATES
    meant = sum(1 for rid in ranked if rid not in scores and rid not in lifted_by) if by else 0
    held_by = tuple([(words.wanted[i].typed, counts[i]) for i in each])
    here = _held_here(reading, page, each)
    recall = Recall(is_complete, matches, is_complete, len(scores), window, beside, held_by, meant=meant, here=here)
    finder = reading.tokenizer.finder(words.wanted, told.weights)
    if dates.is_relative:
        page = [candidate.counted_from(asked_on.toordinal()) for candidate in page]
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


def _held_here(reading: Reading, page: Sequence[RankedRecord], each: Sequence[int]) -> tuple[int, ...]:
    """How many records of the page hold each of these words."""
    of_all = reading.words.noted
    noted = [note for candidate in page if (note := of_all.get(candidate.rid))]
    return tuple([sum(1 for note in noted if note.held.counts[place]) for place in each])


def _newest(reading: Reading, groups: Sequence[ReachGroup], query: SearchQuery, words: WordQuery) -> Ranked:
    """Where a question has no word that could be looked for: what came last, without what must not occur."""
    reading.words.noted.clear()
    texts = Texts(reading.tokenizer, words.unwanted)
    most = query.limit + 1
    rids: list[int] = []
    everything = [reach for group in groups for reach in group.reaches]
    looked_at = LOOKED if words.unwanted else most
    for reach in everything:
        newest = [row.rid for row in newest_of(reading, reach, looked_at)]
        if words.unwanted:
            held = read_texts(reading, texts, reach, newest)
            newest = [rid for rid in newest if rid not in held]
        rids += newest[:most]
    ordered = in_order(reading, everything, dict.fromkeys(rids, 0.0))
    page = ordered[: query.limit]
    found = tuple(_found(reading, page, reading.tokenizer.finder((), ()), {}, Nearness(), lean=query.lean))
    recall = Recall(complete=False, matches=None, matches_exact=False, ranked=None, is_newest=True)
    return Ranked(found, len(ordered) > len(page), recall, _as_of(reading, groups), words.short)


def _suggested(
    reading: Reading, groups: Sequence[ReachGroup], words: WordQuery, counts: Sequence[int]
) -> tuple[Suggestion, ...]:
    return tuple(suggestions(reading.tokenizer, words, counts, _Standing(reading, groups))) if groups else ()


@dataclass(frozen=True, slots=True)
class _Standing:
    """What stands in granted fields of visible records."""

    reading: Reading
    groups: Sequence[ReachGroup]

    def count(self, any_of: Sequence[Phrase], most: int) -> int:
        return count_matches(self.reading, self.groups, any_of, most)

    def forms(self, phrase: Phrase) -> Counter[str]:
        """In how many records each form stands; of many records, in the first that were looked at."""
        finder = self.reading.tokenizer.finder((phrase,), (1.0,))
        forms: Counter[str] = Counter()
        for group in self.groups:
            by_sid = {reach.place.sid: granted_fields(reach) for reach in group.indexed.reaches}
            holding = self.reading.words.matching(group.indexed, [phrase])[:FEW_RECORDS]
            for rid, *_, data in self.reading.records.stored(holding):
                record = orjson.loads(data)
                written: set[str] = set()
                for name in by_sid[rid >> SID_BITS]:
                    text = record.get(name)
                    if isinstance(text, str):
                        spans = finder.spans(text, near=len(text))
                        written |= {text[span.start : span.end].lower() for span in spans}
                forms.update(written)
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


def _around(reading: Reading, permitted: Permitted[SearchQuery], reached: Sequence[Reach]) -> Sequence[Reach]:
    """Where neighbours are looked for: a lean page, which says that they are none of the matches, shows also those
    that do not pass the filter."""
    if not (permitted.query.lean and permitted.query.conditions):
        return reached
    searched = {reach.place.sid for reach in reached}
    whole = [reach for scope in permitted.scopes for reach in reaches(reading, scope)]
    return [reach for reach in whole if reach.place.sid in searched]


def _as_of(reading: Reading, groups: Sequence[ReachGroup]) -> str | None:
    return newest(newest_change(reading, reach) for group in groups for reach in group.reaches)


def _found(
    reading: Reading,
    page: Sequence[RankedRecord],
    finder: Finder,
    lifted_by: Mapping[int, int],
    near: Nearness,
    *,
    lean: bool,
) -> Iterator[FoundHit]:
    stored = {row[0]: row for row in reading.records.stored(candidate.rid for candidate in page)}
    noted = reading.words.noted
    shapes: dict[int, tuple[Showing, Callable[[Record, HeldPhrases | None], Proof]]] = {}
    reaches_shown = {candidate.rid >> SID_BITS: candidate.reach for candidate in page}
    for reach in reaches_shown.values():
        proving = Proving(finder, reach)
        showing = Showing(reading, reach.scope, reach.origin, reach.place.sid)
        shapes[reach.place.sid] = showing, proving.lean_proof if lean else proving.proof
    for position, rid, _ in page:
        showing, prove = shapes[rid >> SID_BITS]
        _, key, version, revised, emitted_at, text = stored[rid]
        record = showing.record(StoredRow(rid, key, version, revised, emitted_at, orjson.loads(text)))
        note = noted.get(rid)
        held = note.held if note else None
        lifting = stored.get(lifted_by.get(rid, 0))
        beside = record.id._replace(key=lifting[1]) if lifting else None
        meant = near.records.get(rid) if note is None and beside is None else None
        told = prove(record, held) if meant is None else meant_proof(record, meant, lean=lean)
        yield FoundHit(record, told, position, beside, meant)
