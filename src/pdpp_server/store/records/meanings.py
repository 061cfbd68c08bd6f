"""What is near to a question by its meaning: among the records and fields that the grant shows, and nothing else."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from pdpp_server.meaning.blocks import Meant, field_number, is_of_size, passage_of_bytes, passages_of_bytes
from pdpp_server.meaning.loading import MeantQuestion
from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import SID_BITS
from pdpp_server.store.records.count import count
from pdpp_server.store.records.reach import Reach
from pdpp_server.store.records.scores import actor_field
from pdpp_server.store.records.texts import Texts
from pdpp_server.store.records.words import Phrase

OF_OTHERS = 0.5  # what a record is worth that somebody else said than whom the question names


class Near(NamedTuple):
    """The passage of a record that is nearest to the question."""

    similarity: float
    field: str
    start: int
    chars: int


@dataclass(frozen=True, slots=True)
class Nearness:
    """The nearest records by rid; and how many of the visible ones are not indexed yet."""

    records: dict[int, Near] = field(default_factory=dict[int, Near])
    waiting: int = 0


def meant_fields(reach: Reach) -> dict[int, str]:
    """The fields whose meaning is looked at, each by its number in the index."""
    declared, granted = reach.scope.stream.semantic_fields, reach.scope.fields
    return {field_number(name): name for name in declared if name in granted}


def nearness(reading: Reading, reaches: Iterable[Reach], question: MeantQuestion) -> Nearness:
    """Hidden records are taken out before anything is compared, so that they neither count nor crowd others out."""
    meant = [reach for reach in reaches if meant_fields(reach)]
    total = sum(count(reading, reach) for reach in meant)
    if reading.meanings.model() != question.model:
        return Nearness(waiting=total)
    seen = [_seen(reading, reach, question) for reach in meant if not reach.is_few]
    chosen = question.alike(seen)
    kept = dict(reading.meanings.of({rid for rid, _ in chosen}))
    found: list[tuple[int, Meant]] = []
    for rid, number in chosen:
        passage = passage_of_bytes(kept.get(rid, b""), number, question.dimensions)
        if passage is not None:
            found.append((rid, passage))
    few = _of_few(reading, [reach for reach in meant if reach.is_few], question)
    for rid, passages in few.items():
        found += [(rid, passage) for passage in passages]
    indexed = len(few) + sum(one.records for one in seen)
    names = {reach.place.sid: meant_fields(reach) for reach in meant}
    return Nearness(_nearest(names, found, question), total - indexed)


def _seen(reading: Reading, reach: Reach, question: MeantQuestion) -> Any:
    """Kept for the next question by the same grant. Nobody else's is faster for it: that would tell of this one."""
    see = partial(_look, reading, reach, question)
    if reach.rids is not None:
        return see()
    fields = tuple(meant_fields(reach))
    whose = (reach.scope.grant_id, reach.place.sid, *reach.values.values(), fields, question.model)
    return reading.meanings.seen(whose, see)


def _look(reading: Reading, reach: Reach, question: MeantQuestion) -> Any:
    values = reach.values
    low, high = int(values["low"]), int(values["high"])
    within, also = (low, high), list[int]()
    if reach.rids is not None:
        within, also = (0, 0), list(reach.rids)
    elif not reach.is_whole:
        within, also = (int(values["inner_low"]), int(values["inner_high"])), reading.meanings.at_edges(reach)
    return question.seen(reading.meanings.blocks(low, high), meant_fields(reach), within, also)


def _of_few(reading: Reading, reaches: Sequence[Reach], question: MeantQuestion) -> dict[int, list[Meant]]:
    """Records that are named one by one are looked up one by one. Of what another model has made nothing is known."""
    rids = [rid for reach in reaches for rid in reach.rids or ()]
    kept = reading.meanings.of(rids) if rids else ()
    size = question.dimensions
    return {rid: passages_of_bytes(passages, size) for rid, passages in kept if is_of_size(passages, size)}


def _nearest(
    names: Mapping[int, Mapping[int, str]], found: Sequence[tuple[int, Meant]], question: MeantQuestion
) -> dict[int, Near]:
    """The best passage of each record; of those that are as near, the first."""
    shown = [(rid, passage) for rid, passage in found if passage.field in names[rid >> SID_BITS]]
    similar = question.similarities([passage.vector for _, passage in shown])
    best: dict[int, Near] = {}
    for (rid, passage), similarity in zip(shown, similar, strict=True):
        near = Near(similarity, names[rid >> SID_BITS][passage.field], passage.start, passage.chars)
        if rid not in best or _order(near) < _order(best[rid]):
            best[rid] = near
    return best


def _order(near: Near) -> tuple[float, str, int]:
    return -near.similarity, near.field, near.start


def similarities(
    reading: Reading, reaches: Iterable[Reach], near: Nearness, names: Sequence[Phrase]
) -> dict[int, float]:
    """How near each record is. Where the question names who spoke, what others said counts less."""
    similar = {rid: one.similarity for rid, one in near.records.items()}
    if not names:
        return similar
    for reach in reaches:
        rids = [rid for rid in similar if rid >> SID_BITS == reach.place.sid]
        for rid in _said_by_others(reading, reach, rids, names):
            similar[rid] *= OF_OTHERS
    return similar


def _said_by_others(reading: Reading, reach: Reach, rids: Sequence[int], names: Sequence[Phrase]) -> list[int]:
    """Those of the records that somebody said whom the question does not name."""
    actor = actor_field(reach)
    if actor is None or not rids:
        return []
    texts = Texts(reading.tokenizer, names)
    actors = {rid: str(value) for rid, value in reading.records.field_of(rids, actor).items() if value}
    is_named = {value: texts.note({0: value}) is not None for value in set(actors.values())}
    return [rid for rid, value in actors.items() if not is_named[value]]
