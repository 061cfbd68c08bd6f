"""The scores of what was noted: the question as each source hears it, who spoke, and the time that it names."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pdpp_server.model.times import instant
from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import date_of, day_in, day_of
from pdpp_server.store.records.dates import NO_DATES, AskedDates
from pdpp_server.store.records.rank import (
    DATE_WORDS,
    Holders,
    NotedRecords,
    Question,
    SourceCounts,
    by_stream,
    rids_by_stream,
    score,
    together,
    weighed,
    worth_of,
)
from pdpp_server.store.records.reach import Reach
from pdpp_server.store.records.titled import title_column
from pdpp_server.store.records.words import Phrase, WordQuery

HeldCounts = Mapping[str, Sequence[int]]  # of each connection, how many of its visible records hold each wanted phrase


class Scored(NamedTuple):
    scores: Mapping[int, float]  # by rid
    weights: Sequence[float]  # of the phrases, among all sources
    names: tuple[Phrase, ...] = ()  # those that were understood as who spoke
    dates: AskedDates = NO_DATES  # those that lift what is of their time, where the grant shows times


def scored(
    reading: Reading,
    reaches: Iterable[Reach],
    words: WordQuery,
    held: HeldCounts,
    holding: Sequence[Holders],
    visible: Mapping[str, int],
    dates: AskedDates,
) -> Scored:
    """Every noted record, and what those hold. `held` and `visible` are counted inside the grant, by connection."""
    noted, by_sid = reading.words.noted, {reach.place.sid: reach for reach in reaches}
    if not any(_times(reach) for reach in by_sid.values()):
        dates = NO_DATES
    if not noted:
        return Scored({}, [0.0] * len(words.wanted), dates=dates)
    actors = {sid: _actor_column(reach) for sid, reach in by_sid.items()}
    names = _names(words, holding, actors)
    if any(names):
        held = _said(held, names, holding, by_sid, actors)
    sources = {connection: SourceCounts(visible[connection], holding) for connection, holding in held.items()}
    worth = [DATE_WORDS if phrase in words.dated else 1.0 for phrase in words.wanted]
    questions = weighed(sources, worth, names)
    heard = {sid: questions[reach.origin.connection_id] for sid, reach in by_sid.items()}
    # Where nobody speaks, a name counts in full where it is what the record is called.
    named_in = {sid: actors[sid] or title_column(reach) for sid, reach in by_sid.items()}
    scores = _scores(noted, heard, named_in)
    if dates.days:
        _lift(reading, by_sid, scores, dates)
    among_all = weighed({"": together([*sources.values()])}, worth, names)[""]
    named = tuple([phrase for phrase, is_name in zip(words.wanted, names, strict=True) if is_name])
    return Scored(scores, among_all.weights, named, dates)


def _scores(noted: NotedRecords, heard: Mapping[int, Question], named_in: Mapping[int, int]) -> dict[int, float]:
    """Records of a stream that share a note share a score, and those that hold the same what that is worth."""
    scores: dict[int, float] = {}
    for sid, of_stream in by_stream(noted).items():
        notes = dict(zip(map(id, of_stream.values()), of_stream.values(), strict=True))
        held = {id(note.held): note.held for note in notes.values()}
        worths = {one: worth_of(holding, heard[sid], named_in[sid]) for one, holding in held.items()}
        known = {one: score(note.length, worths[id(note.held)]) for one, note in notes.items()}
        scores.update(zip(of_stream, map(known.__getitem__, map(id, of_stream.values())), strict=True))
    return scores


# Who spoke ---------------------------------------------------------------------------------------------------------


def actor_field(reach: Reach) -> str | None:
    """The field that says who spoke; none where it is not declared, granted and searched."""
    actor = reach.scope.stream.field_of("actor")
    return actor if reach.searches(actor) else None


def _actor_column(reach: Reach) -> int:
    """Its column of the index, as a bit."""
    actor = actor_field(reach)
    return 0 if actor is None else 1 << reach.place.slots[actor]


def _names(words: WordQuery, found: Sequence[Holders], actors: Mapping[int, int]) -> list[bool]:
    """Of each phrase whether it names who spoke: a mere word beside others, which stands there in at least half of the
    records that hold it. (A word of some sender's name is still a word.)"""
    wanted = words.wanted
    if len(wanted) < 2 or not any(actors.values()):
        return [False] * len(wanted)
    holding, saying = [0] * len(wanted), [0] * len(wanted)
    for sid, held, records in found:
        for place, slots in enumerate(held.slots):
            if slots:
                holding[place] += records
                saying[place] += records if slots & actors[sid] else 0
    mere = words.plain - words.dated
    return [
        phrase in mere and 0 < held_by <= 2 * said_by
        for phrase, held_by, said_by in zip(wanted, holding, saying, strict=True)
    ]


def _said(
    held: HeldCounts,
    names: Sequence[bool],
    found: Sequence[Holders],
    by_sid: Mapping[int, Reach],
    actors: Mapping[int, int],
) -> HeldCounts:
    """The counts, where of a name those records count that were said by it; by the share among the noted ones."""
    holding = {connection: [0] * len(names) for connection in held}
    saying = {connection: [0] * len(names) for connection in held}
    for phrase in [place for place, is_name in enumerate(names) if is_name]:
        for sid, (_, all_slots), records in found:
            connection, slots = by_sid[sid].origin.connection_id, all_slots[phrase]
            holding[connection][phrase] += records if slots else 0
            saying[connection][phrase] += records if slots & actors[sid] else 0
    said: dict[str, list[int]] = {}
    for connection, counts in held.items():
        shares = zip(counts, saying[connection], holding[connection], strict=True)
        said[connection] = [count * by_them // noted if noted else count for count, by_them, noted in shares]
    return said


# The time ----------------------------------------------------------------------------------------------------------


def _lift(reading: Reading, by_sid: Mapping[int, Reach], scores: dict[int, float], dates: AskedDates) -> None:
    """Of streams whose time the grant shows, the records of that time."""
    lifts: dict[int, float] = {}  # by day
    for sid, of_stream in rids_by_stream(scores).items():
        for rid, day in _days(reading, by_sid[sid], of_stream):
            if day not in lifts:
                at = date_of(day)
                lifts[day] = 1.0 if at is None else dates.lift(at)
            scores[rid] *= lifts[day]


def _times(reach: Reach) -> list[str]:
    """The fields that may say when a record happened, as far as the grant shows them."""
    return [name for name in reach.scope.stream.time_fields if name in reach.scope.fields]


def _days(reading: Reading, reach: Reach, rids: Sequence[int]) -> Iterable[tuple[int, int]]:
    """The day of each record by the time that is shown of it. The layout knows it, unless it goes by another field."""
    shown = _times(reach)
    if not shown:
        return ()
    if shown[0] == reach.scope.stream.order_field:
        return [(rid, day_in(rid)) for rid in rids]
    times = reading.records.field_of(sorted(rids), shown[0])
    return [(rid, day_of(instant(times.get(rid)))) for rid in rids]
