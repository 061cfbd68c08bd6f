"""Which of the matches are scored: all that hold rare words, and of common ones some that a reader can name."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import add
from typing import NamedTuple

import orjson

from pdpp_server.grants.permitted import Scope
from pdpp_server.store.engine import Reading
from pdpp_server.store.records.asked import Fullest, Narrowed, Where
from pdpp_server.store.records.count import count
from pdpp_server.store.records.rank import HeldPhrases, Holders, MatchCounts, NotedRecords, holders
from pdpp_server.store.records.reach import Reach, named
from pdpp_server.store.records.scores import HeldCounts
from pdpp_server.store.records.texts import Texts
from pdpp_server.store.records.words import Phrase, WordQuery

CANDIDATES = 4000  # rows that one search scores at the most, about 2 µs each
EACH_PHRASE = 4  # phrases with which so many can be scored; of longer questions fewer, because each row costs more
COMMON, OF_EACH = 400, 10  # of them, the newest that hold phrases of which there are more; of each stream so many
FEW_COMMON = 200  # of those, that hold two phrases: with fewer, records that hold one of them can come among the best
OFTEN = 3000  # records that hold a phrase often, of all that are counted: by about so many it is said how often that is
FULLEST = 200  # besides, where one phrase is all that is looked for, of those that hold it more than once
BY_KEY = 200  # of those, where a hidden time leaves no order but that of keys, which is a longer way to them
COUNTED = 50_000  # matches of one phrase that are counted, about 40 ns each


@dataclass(frozen=True, slots=True)
class ReachGroup:
    """Reaches that are asked in the same columns: all that their rows have, or only the granted ones."""

    slots: tuple[int, ...]
    is_part: bool
    reaches: list[Reach]

    @property
    def indexed(self) -> Where:
        """Those for which the index is asked."""
        return Where([reach for reach in self.reaches if not reach.is_few], self.slots, self.is_part)


class Candidates(NamedTuple):
    """How many visible records hold each phrase, what the noted ones hold, and whether these are all that match."""

    held: HeldCounts
    holding: Sequence[Holders]
    is_complete: bool


def note_candidates(reading: Reading, groups: Sequence[ReachGroup], words: WordQuery) -> Candidates:
    """Notes the records to be ranked."""
    reading.words.noted.clear()
    counted, is_complete = _note_indexed(reading, groups, words)
    is_told = counted is not None and len(words.wanted) == 1  # then nobody asks who holds what
    holding = [] if is_told else holders(reading.words.noted)
    held = _held_counts(groups, words, holding) if counted is None else counted
    few = [reach for group in groups for reach in group.reaches if reach.is_few]
    if not few:
        return Candidates(held, holding, is_complete)
    named = _held_counts(groups, words, holders(_note_few(reading, few, words)))
    held = {connection: list(map(add, counts, named[connection])) for connection, counts in held.items()}
    return Candidates(held, holders(reading.words.noted), is_complete)


def grouped_by_columns(everything: Sequence[Reach]) -> list[ReachGroup]:
    grouped: dict[tuple[int, ...] | None, ReachGroup] = {}
    for reach in everything:
        granted = tuple(sorted(granted_fields(reach).values()))
        if not granted:
            continue
        is_part = len(granted) < len(reach.place.slots)
        columns = granted if is_part else None
        group = grouped.get(columns, ReachGroup((), is_part, []))
        slots = tuple(sorted({*group.slots, *granted}))
        grouped[columns] = ReachGroup(slots, is_part, [*group.reaches, reach])
    return list(grouped.values())


def granted_fields(reach: Reach) -> dict[str, int]:
    """The fields that are searched, each with its column of the index."""
    slots, stream, fields = reach.place.slots, reach.scope.stream, reach.scope.fields
    return {name: slots[name] for name in stream.lexical_fields if name in fields and name in slots}


def count_matches(reading: Reading, groups: Sequence[ReachGroup], any_of: Sequence[Phrase], most: int) -> int:
    """How many visible records hold any of these; counting stops at `most`."""
    total = 0
    for group in groups:
        if total >= most:
            return most
        total += reading.words.count(group.indexed, any_of, most - total)
    return total


def _connections(groups: Sequence[ReachGroup]) -> list[str]:
    """Those that are searched, in the order of their ids."""
    return sorted({reach.origin.connection_id for group in groups for reach in group.reaches})


def _of_connection(groups: Sequence[ReachGroup], connection: str) -> list[ReachGroup]:
    """What is searched of one of them."""
    parts: list[ReachGroup] = []
    for group in groups:
        reaches = [reach for reach in group.reaches if reach.origin.connection_id == connection]
        if reaches:
            parts.append(replace(group, reaches=reaches))
    return parts


def totals(held: HeldCounts, words: WordQuery) -> list[int]:
    """Of each phrase, how many records of all connections hold it."""
    return [sum(counts[phrase] for counts in held.values()) for phrase in range(len(words.wanted))]


def _note_indexed(reading: Reading, groups: Sequence[ReachGroup], words: WordQuery) -> tuple[HeldCounts | None, bool]:
    """Phrases that stand in no visible record are left out after one look for each: every further one would cost the
    more, the more hidden records they stand in. None for the counts where all that match are noted."""
    if _note_many(reading, groups, words):
        return None, True
    standing = {phrase for phrase in words.all if _stands(reading, groups, phrase)}
    wanted = tuple(phrase for phrase in words.wanted if phrase in standing)
    unwanted = tuple(phrase for phrase in words.unwanted if phrase in standing)
    if not wanted:
        return None, True
    asked = WordQuery(wanted, unwanted)
    held, is_complete = _note_standing(reading, groups, asked)
    if len(wanted) == len(words.wanted):
        return held, is_complete
    stands = [phrase in standing for phrase in words.wanted]
    _spread_notes(reading.words.noted, stands)
    if not held:
        return None, is_complete
    return {connection: _spread(counts, stands) for connection, counts in held.items()}, is_complete


def _note_many(reading: Reading, groups: Sequence[ReachGroup], words: WordQuery) -> bool:
    """Of many single records what they hold is noted at once: every statement has to look up each of them, so that a
    count beforehand costs as much. False where there are none such, or where more match than are scored."""
    is_many = any(reach.shown == "many" for group in groups for reach in group.reaches)
    if not is_many or words.unwanted:
        return False
    for group in groups:
        reading.words.note(group.indexed, words, None, CANDIDATES + 1)
    if len(reading.words.noted) > CANDIDATES:
        reading.words.noted.clear()
        return False
    return True


def _stands(reading: Reading, groups: Sequence[ReachGroup], phrase: Phrase) -> bool:
    return any(reading.words.stands(group.indexed, phrase) for group in groups)


def _spread_notes(noted: NotedRecords, stands: Sequence[bool]) -> None:
    """Each in its place, and once: many records share it, of several streams too."""
    for held in {id(note.held): note.held for note in noted.values()}.values():
        held.counts[:] = _spread(held.counts, stands)
        held.slots[:] = _spread(held.slots, stands)


def _spread(counts: Sequence[int], stands: Sequence[bool]) -> list[int]:
    """One count for each wanted phrase, where those that stand nowhere had none."""
    told = iter(counts)
    return [next(told) if is_there else 0 for is_there in stands]


def _note_few(reading: Reading, few: Sequence[Reach], words: WordQuery) -> NotedRecords:
    """Of records that are few and named, each is looked at: the index would pass over hidden ones between them. Those
    are kept that hold what is wanted and nothing that is not; all that hold any phrase are given."""
    texts, noted = Texts(reading.tokenizer, words.all), dict[int, MatchCounts]()
    for reach in few:
        noted |= read_texts(reading, texts, reach, reach.rids or ())
    wanted = len(words.wanted)
    for rid, note in noted.items():
        counts, slots = note.held
        if any(counts[:wanted]) and not any(counts[wanted:]):
            reading.words.noted[rid] = note._replace(held=HeldPhrases(counts[:wanted], slots[:wanted]))
    return noted


def read_texts(reading: Reading, texts: Texts, reach: Reach, rids: Sequence[int]) -> dict[int, MatchCounts]:
    """Those of the records that hold any phrase, in fields that the grant shows."""
    fields = granted_fields(reach)
    noted: dict[int, MatchCounts] = {}
    for rid, *_, data in reading.records.stored(rids):
        record = orjson.loads(data)
        held = {slot: text for name, slot in fields.items() if isinstance(text := record.get(name), str)}
        if note := texts.note(held):
            noted[rid] = note
    return noted


def _held_counts(groups: Sequence[ReachGroup], words: WordQuery, holding: Sequence[Holders]) -> HeldCounts:
    """How many of these records hold each wanted phrase."""
    connection_of = {reach.place.sid: reach.origin.connection_id for group in groups for reach in group.reaches}
    counts = {connection: [0] * len(words.wanted) for connection in _connections(groups)}
    for sid, held, records in holding:
        of_connection = counts[connection_of[sid]]
        for phrase in range(len(of_connection)):
            of_connection[phrase] += records if held.counts[phrase] else 0
    return counts


def _counted(reading: Reading, groups: Sequence[ReachGroup], words: WordQuery) -> HeldCounts:
    """How many visible records hold each phrase, by connection; counting stops somewhere."""
    connections = _connections(groups)
    most = max(COUNTED // len(connections), CANDIDATES)
    counted: dict[str, list[int]] = {}
    for connection in connections:
        part = _of_connection(groups, connection)
        counted[connection] = [count_matches(reading, part, [phrase], most) for phrase in words.wanted]
    return counted


def _note_standing(reading: Reading, groups: Sequence[ReachGroup], words: WordQuery) -> tuple[HeldCounts | None, bool]:
    """Rare phrases are followed to every record; where all of them together are too many, the common ones only add to
    the scores of records that a rare one found, and give their newest records."""
    held = None
    if len(words.all) == len(_connections(groups)) == 1:
        # Both counts are the same then, and the first would only be the beginning of the second.
        held = _counted(reading, groups, words)
    if not words.unwanted:
        found = sum(totals(held, words)) if held else count_matches(reading, groups, words.wanted, CANDIDATES + 1)
        if found <= CANDIDATES:
            if found:
                _note_all(reading, groups, words, None)
            return None, True
    held = held or _counted(reading, groups, words)
    counts = totals(held, words)
    rarest = sorted(range(len(counts)), key=counts.__getitem__)
    room = CANDIDATES * EACH_PHRASE // max(EACH_PHRASE, len(counts))
    essential: list[int] = []
    for i in rarest:
        room -= counts[i]
        if room < 0:
            break
        essential.append(i)
    if any(counts[i] for i in essential):
        _note_all(reading, groups, words, Narrowed(tuple(words.wanted[i] for i in essential)))
    common = rarest[len(essential) :]
    if common:
        _note_newest(reading, groups, words, common)
    if len(words.wanted) == len(common) == 1 and not words.wanted[0].is_prefix:
        _note_fullest(reading, groups, words, counts[0])
    return held, not common


def _note_all(reading: Reading, groups: Sequence[ReachGroup], words: WordQuery, narrowed: Narrowed | None) -> None:
    for group in groups:
        reading.words.note(group.indexed, words, narrowed)


def _note_newest(reading: Reading, groups: Sequence[ReachGroup], words: WordQuery, common: Sequence[int]) -> None:
    """The newest records that hold the two rarest of the common phrases; where these are few, the newest that hold the
    rarest. As many as there is room for beside those that are noted already."""
    parts = _each_reach(groups)
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


def _note_fullest(reading: Reading, groups: Sequence[ReachGroup], words: WordQuery, counted: int) -> None:
    """Where one word or phrase is all that is looked for, also those that hold it often and come first by that: among
    the newest alone there are few of the best. How often that is, what is noted tells. Where more hold it than are
    counted, they are found among the newest of these, unless a hidden time forbids to know which ones that are. (Of
    words that begin alike there are too many.)"""
    parts, narrowed = _each_reach(groups), Narrowed(words.wanted, hold_all=True)
    are_all_counted = counted < COUNTED // len(_connections(groups))
    newest = None if are_all_counted else COUNTED // len(parts)
    each = [note.held.counts[0] for note in reading.words.noted.values()]
    times = _often(each, OFTEN * len(each) // min(counted, COUNTED))
    most = min(FULLEST, CANDIDATES - len(each)) // len(parts)
    for part in parts:
        if are_all_counted or _shows_its_order(part.reaches[0].scope):
            reading.words.note_fullest(part, words, narrowed, Fullest(most, times, newest))


def _often(each: Sequence[int], most: int) -> int:
    """How many times a phrase has to stand in a record, twice or more, so that no more than `most` of these pass."""
    passing = sorted(each, reverse=True)[: most + 1]
    if len(passing) <= most:
        return 2
    return max(2, passing[-1] + 1)


def _each_reach(groups: Sequence[ReachGroup]) -> list[Where]:
    return [group.indexed._replace(reaches=[reach]) for group in groups for reach in group.indexed.reaches]


def _note_last(reading: Reading, part: Where, words: WordQuery, narrowed: Narrowed, most: int) -> None:
    """What is newest would tell of a hidden time. Where that is hidden, the last by their keys are taken."""
    (reach,) = part.reaches

    def find() -> list[int]:
        return _last_by_key(reading, reach, reading.words.holding(part, words, narrowed), most)

    if chosen := reading.records.known(reach, (_last_by_key, part.slots, words, narrowed, most), find):
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


def visible_records(reading: Reading, groups: Sequence[ReachGroup]) -> dict[str, int]:
    """How many each connection has."""
    total = dict.fromkeys(_connections(groups), 0)
    for group in groups:
        for reach in group.reaches:
            visible = reading.records.known(reach, count, partial(count, reading, reach))
            total[reach.origin.connection_id] += visible if reach.is_whole else min(visible, COUNTED)
    return total
