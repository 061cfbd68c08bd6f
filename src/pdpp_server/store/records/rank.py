"""Ranking by what is visible: a score that knows no statistics but those of the granted records and fields."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log
from operator import attrgetter
from typing import NamedTuple

from pdpp_server.store.layout import SID_BITS

K1, B = 1.2, 0.6
USUAL_LENGTH = 40  # words; a constant pivot, because an average over the table would tell of hidden rows
LONG = 400  # words; more cost a text nothing, or a whole contract would count less than a line that names it
MENTIONED = 0.25  # what a name is worth in a record that holds it and was said by somebody else
DATE_WORDS = 0.25  # what the words of a date are worth, which says more by the time that it names


class HeldPhrases(NamedTuple):
    """How often each phrase stands in the granted columns of a record, and in which of them, as bits."""

    counts: list[int]
    slots: list[int]


class MatchCounts(NamedTuple):
    """What of one record counts: the words in its granted columns, and what they hold."""

    length: int
    held: HeldPhrases


_HELD = attrgetter("held")


class Holders(NamedTuple):
    """Records of one stream that hold the same, and how many they are."""

    sid: int
    held: HeldPhrases
    records: int


NotedRecords = Mapping[int, MatchCounts]  # by rid


def rids_by_stream(rids: Iterable[int]) -> Mapping[int, list[int]]:
    """Records by the sid of their stream, in the order in which they came."""
    by_sid: dict[int, list[int]] = {}
    for rid in rids:
        by_sid.setdefault(rid >> SID_BITS, []).append(rid)
    return by_sid


def by_stream(noted: NotedRecords) -> Mapping[int, NotedRecords]:
    """The notes of each stream, by its sid."""
    if noted and (sid := min(noted) >> SID_BITS) == max(noted) >> SID_BITS:
        return {sid: noted}
    parts = defaultdict[int, dict[int, MatchCounts]](dict)
    for rid, note in noted.items():
        parts[rid >> SID_BITS][rid] = note
    return parts


def holders(noted: NotedRecords) -> list[Holders]:
    """An engine notes once what many records hold: what is true of all of them need not be found for each."""
    found: list[Holders] = []
    for sid, of_stream in by_stream(noted).items():
        held = [*map(_HELD, of_stream.values())]
        known = dict(zip(map(id, held), held, strict=True))
        found += [Holders(sid, known[one], count) for one, count in Counter(map(id, held)).items()]
    return found


def fullest(noted: NotedRecords, most: int) -> set[int]:
    """The records in which the one phrase that was looked for counts most, whatever it is worth; none that ties with
    one left out."""
    notes = {id(note): note for note in noted.values()}
    worth = {one: _fullness(note) for one, note in notes.items()}
    by_record = {rid: worth[id(note)] for rid, note in noted.items()}
    left_out = sorted(by_record.values(), reverse=True)[most:][:1]
    return {rid for rid, full in by_record.items() if not left_out or full > left_out[0]}


def _fullness(note: MatchCounts) -> float:
    times = note.held.counts[0]
    return times / (times + _norm(note.length))


class SourceCounts(NamedTuple):
    """What is visible of one connection: how many records, and how many of them hold each phrase."""

    visible: int
    holding: Sequence[int]


class Question(NamedTuple):
    """What the phrases of a question are worth in records of one source; which of them name who spoke."""

    weights: Sequence[float]
    names: Sequence[bool]

    @property
    def weight(self) -> float:
        return sum(self.weights)


def weight(visible_records: int, matching: int) -> float:
    """How telling a phrase is (the idf of BM25, never negative), from counts inside the grant."""
    return log(1 + (max(visible_records, matching) - matching + 0.5) / (matching + 0.5))


def together(sources: Sequence[SourceCounts]) -> SourceCounts:
    """All sources as one."""
    holding = [sum(column) for column in zip(*(source.holding for source in sources), strict=True)]
    return SourceCounts(sum(source.visible for source in sources), holding)


def weighed(
    sources: Mapping[str, SourceCounts], worth: Sequence[float], names: Sequence[bool]
) -> Mapping[str, Question]:
    """The question as each source hears it: a phrase is as telling as it is there or among all, whichever is more. What
    is common in one source may be rare in another; and a source that lacks a phrase covers less of the question.

    A phrase that stands nowhere counts nothing.
    """
    among_all = together([*sources.values()])
    common = [
        weight(among_all.visible, holding) * share if holding else 0.0
        for holding, share in zip(among_all.holding, worth, strict=True)
    ]
    told: dict[str, Question] = {}
    for name, source in sources.items():
        own = [weight(source.visible, holding) * share for holding, share in zip(source.holding, worth, strict=True)]
        told[name] = Question([max(a, b) if a else 0.0 for a, b in zip(common, own, strict=True)], names)
    return told


class Worth(NamedTuple):
    """What it is worth that records of a source hold certain phrases, however long their texts are."""

    parts: Sequence[tuple[float, int]]  # of each phrase its weight with the number of its places, and that number
    share: float  # of the question's weight
    whole: float


def worth_of(held: HeldPhrases, question: Question, named_in: int) -> Worth:
    """`named_in` is the column in which a name counts in full, as a bit: who spoke, or what the record is called."""
    parts: list[tuple[float, int]] = []
    share = 0.0
    for count, slots, worth, is_name in zip(held.counts, held.slots, question.weights, question.names, strict=True):
        if not count:
            continue
        if is_name:
            count = 1
            if not slots & named_in:
                worth *= MENTIONED
        parts.append((worth * count * (K1 + 1), count))
        share += worth
    return Worth(parts, share, question.weight)


def score(length: int, worth: Worth) -> float:
    """BM25, times the share of the question's weight that the record holds."""
    parts, share, whole = worth
    norm = _norm(length)
    total = 0.0
    for weighed, count in parts:
        total += weighed / (count + norm)
    return total * share / whole


def _norm(length: int) -> float:
    return K1 * (1 - B + B * min(length, LONG) / USUAL_LENGTH)
