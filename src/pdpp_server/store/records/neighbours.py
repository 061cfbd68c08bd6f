"""Neighbours: what was said right before and after a match, or in a talk with many, is lifted, inside the grant."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import fsum, sqrt
from operator import itemgetter

from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import day_in
from pdpp_server.store.records.conditions import index_of
from pdpp_server.store.records.rank import rids_by_stream
from pdpp_server.store.records.reach import Reach

SHARES = (0.5, 0.25)  # of a score, for the first and the second record on either side
AFTER_ASKING = (0.9, 0.25)  # after a question: what is said next answers it, often in other words
SOURCES, QUESTIONS = 100, 10  # best records whose neighbours are looked for, and that may be questions
TALK = 0.5  # how much the talk that matches most is lifted, as a share of its records' scores; others by less
SILENCE = 3_600_000_000  # microseconds without a word that end a talk

_ASKS_BACKWARDS = re.compile(r"[^\w?\uff1f\u061f]*+[?\uff1f\u061f]").match  # from its end: looked at once, however long

_NOTHING = (0.0, 0)  # given, by no match
_AMOUNT = itemgetter(0)
_Lifts = tuple[int, Sequence[tuple[int, float]]]  # a match, and what it lifts, each by which share of its score


class FieldTold:
    """What one field tells of records, each read once in a search. An engine that keeps it for the next one keeps
    nothing of the text itself."""

    def __init__(self, reading: Reading, tell: Callable[[object], object]) -> None:
        self._reading, self._tell = reading, tell
        self._known: dict[int, dict[int, object]] = {}  # by sid

    def of(self, reach: Reach, field: str | None, rids: Iterable[int]) -> Mapping[int, object]:
        if field is None:
            return {}
        known = self._known.setdefault(reach.place.sid, dict[int, object]())
        if unknown := {*rids}.difference(known):
            read = partial(self._read, field)
            known.update(self._reading.records.told(reach, (self._tell, field), sorted(unknown), read))
        return known

    def _read(self, field: str, rids: Sequence[int]) -> dict[int, object]:
        texts = self._reading.records.field_of(rids, field)
        return {rid: self._tell(texts.get(rid)) for rid in rids}


class TitlesRead(FieldTold):
    """Of which talk a record is a part, by its title where one is declared: a number by which it is known again."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading, _known_again)

    def of_reach(self, reach: Reach, rids: Iterable[int]) -> Mapping[int, object]:
        return self.of(reach, _title(reach), rids)


def lifted(
    reading: Reading, reaches: Iterable[Reach], scores: Mapping[int, float], titles: TitlesRead
) -> tuple[Mapping[int, float], Mapping[int, int]]:
    """The scores with the shares of neighbours, and those neighbours that had no score, each with what lifted it
    most."""
    best = _best(scores, SOURCES)
    by_sid = rids_by_stream(best)
    first = {*_best({rid: scores[rid] for rid in best}, QUESTIONS)}
    given = defaultdict[int, list[tuple[float, int]]](list)  # to each, and by which match; the least rid first
    for reach in reaches:
        sources = by_sid.get(reach.place.sid)
        if sources and _is_talk(reach):
            for source, lifts in _beside(reading, reach, sources, first, titles):
                score = scores[source]
                for rid, share in lifts:
                    given[rid].append((share * score, -source))
    ranked = dict(scores)
    for rid, parts in given.items():
        own = scores.get(rid, 0.0)
        if len(parts) == 1:
            ranked[rid] = own + parts[0][0]
        else:  # the exact sum is the same in every order; the order in which rows come may tell of hidden ones
            ranked[rid] = fsum([own, *map(_AMOUNT, parts)])
    return ranked, {rid: -max(_NOTHING, *given[rid])[1] for rid in given.keys() - scores.keys()}


def of_talks(reaches: Iterable[Reach], ranked: Mapping[int, float], titles: TitlesRead) -> Mapping[int, float]:
    """The scores, where the best of them are lifted the more, the more of these belong to the same talk: what was said
    on one day, and where a title is declared under one title. What belongs to no talk stands for itself."""
    by_sid = rids_by_stream(_best(ranked, SOURCES))
    talks: list[list[int]] = []
    for reach in reaches:
        talks += _talks(reach, by_sid.get(reach.place.sid, []), titles)
    masses = [sqrt(fsum([ranked[rid] ** 2 for rid in talk])) for talk in talks]
    most = max(masses, default=0.0) or 1.0  # words that say nothing weigh nothing
    lifted = dict(ranked)
    for talk, mass in zip(talks, masses, strict=True):
        lift = 1 + TALK * mass / most
        for rid in talk:
            lifted[rid] = ranked[rid] * lift
    return lifted


def _talks(reach: Reach, rids: list[int], titles: TitlesRead) -> list[list[int]]:
    if len(rids) < 2 or not _is_talk(reach):
        return [[rid] for rid in rids]
    known = titles.of_reach(reach, rids)
    talks: dict[tuple[int, str], list[int]] = {}
    for rid in rids:
        talks.setdefault((day_in(rid), str(known.get(rid))), []).append(rid)
    return list(talks.values())


def _best(scores: Mapping[int, float], most: int) -> list[int]:
    """Without those that tie with one left out: which of them comes first is nothing that a reader sees."""
    if len(scores) <= most:
        return list(scores)
    left_out = sorted(scores.values(), reverse=True)[most]
    return [rid for rid, score in scores.items() if score > left_out]


def _is_talk(reach: Reach) -> bool:
    """Whether somebody says something in each record, and pages follow the time, which the grant shows.

    Single records that a grant or a filter names have no stretch of time around them.
    """
    stream, place, granted = reach.scope.stream, reach.place, reach.scope.granted
    time, title = stream.order_field, _title(reach)
    if time is None or time != place.position or reach.rids is not None:
        return False
    if time not in granted or (title is not None and title not in granted):
        return False
    field = stream.fields[time]
    return stream.has_speakers and field.is_date and index_of(place, field) is not None


def _title(reach: Reach) -> str | None:
    return reach.scope.stream.field_of("primary-title")


def _asking(reading: Reading, reach: Reach, rids: Collection[int]) -> set[int]:
    """Those whose text ends as a question does."""
    body = reach.scope.stream.field_of("primary-body")
    if body not in reach.scope.granted or not rids:
        return set()
    asking = FieldTold(reading, _asks).of(reach, body, rids)
    return {rid for rid in rids if asking[rid]}


def _asks(text: object) -> bool:
    """Whether nothing but signs follows a question mark."""
    return isinstance(text, str) and _ASKS_BACKWARDS(text[::-1]) is not None


def _known_again(title: object) -> int | None:
    return None if title is None else hash(str(title))


def _beside(
    reading: Reading, reach: Reach, sources: list[int], first: Container[int], titles: TitlesRead
) -> Iterator[_Lifts]:
    """What stands beside these. Those of the `first` ones that are questions lift more what follows them."""
    assert reach.place.position is not None
    fid = reach.place.fids[reach.place.position]
    sides = [side for side in reading.records.beside(reach, fid, sources, SILENCE, len(SHARES)) if side[1] or side[2]]
    asking = _asking(reading, reach, [source for source, _, after in sides if after and source in first])
    is_titled = _title(reach) is not None
    everything = [rid for source, before, after in sides for rid in (source, *before, *after)]
    talk_of = titles.of_reach(reach, everything).get
    for source, before, after in sides:
        then = AFTER_ASKING if source in asking else SHARES
        lifts = [*zip(before, SHARES, strict=False), *zip(after, then, strict=False)]
        if is_titled:
            talk = talk_of(source)
            lifts = [lift for lift in lifts if talk_of(lift[0]) == talk]
        yield source, lifts
