"""The next page of what was ranked, in an order made of visible facts; and beside a match what was said there."""

import hashlib
import struct
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import NamedTuple

from pdpp_server.model.queries import SearchQuery
from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import SID_BITS
from pdpp_server.store.records.reach import Reach

WEAK_SHARE, FEW_MATCHES = 0.25, 3  # of the best score on a brief page, below which it ends; but not before so many
BESIDE_MOST, BESIDE_SHARE = 4, 0.5  # on a page; or that share of its matches, where this is more

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

    @property
    def order(self) -> tuple[float, int, int]:
        """Score, time, digest of the id."""
        return -self.score, -self.at, self.digest


class RankedRecord(NamedTuple):
    position: Position
    rid: int
    reach: Reach

    def counted_from(self, asked_on: int) -> "RankedRecord":
        return self._replace(position=self.position._replace(asked_on=asked_on))


def next_page(
    reading: Reading,
    reached: Sequence[Reach],
    scores: Mapping[int, float],
    after: Position | None,
    query: SearchQuery,
    lifted_by: Mapping[int, int],
) -> tuple[list[RankedRecord], bool]:
    """The next ones in order, and whether more follow.

    A lean page has as many matches as were asked for, and among them by rank some of what stands beside one of them.
    """
    if not query.lean:
        ordered = _next_in_order(reading, reached, scores, after, query.limit + 1)
        return ordered[: query.limit], len(ordered) > query.limit
    matched = dict(scores)
    for rid in lifted_by:
        matched.pop(rid, None)
    ordered = _next_in_order(reading, reached, matched, after, query.limit + 1)
    size = _brief_size(ordered[: query.limit]) if query.brief else query.limit
    matches, has_more = ordered[:size], len(ordered) > size
    least = WEAK_SHARE * matches[0].position.score if query.brief and matches else 0.0
    page = _with_beside(reading, reached, scores, matches, least, lifted_by)
    if len(matches) == query.limit:
        page = page[: page.index(matches[-1]) + 1]  # what follows it might stand after a match of the next page
    return page, has_more


def in_order(reading: Reading, reached: Sequence[Reach], scores: Mapping[int, float]) -> list[RankedRecord]:
    return sorted(_candidates(reading, reached, scores), key=lambda candidate: candidate.position.order)


def _next_in_order(
    reading: Reading, reached: Sequence[Reach], scores: Mapping[int, float], after: Position | None, most: int
) -> list[RankedRecord]:
    """Only those that can be among them are looked at closely."""
    best = inf if after is None else after.score
    left = scores.values() if after is None else [score for score in scores.values() if score <= best]
    ranked = sorted(left, reverse=True)
    ties_before = 0 if after is None else ranked.count(best)
    last = ranked[: most + ties_before][-1] if ranked else 0.0
    ordered = in_order(reading, reached, {rid: score for rid, score in scores.items() if last <= score <= best})
    if after is not None:
        ordered = [candidate for candidate in ordered if candidate.position.order > after.order]
    return ordered[:most]


def _brief_size(matches: Sequence[RankedRecord]) -> int:
    """A brief page ends where matches are much weaker than its first."""
    for taken, candidate in enumerate(matches):
        if taken >= FEW_MATCHES and candidate.position.score < WEAK_SHARE * matches[0].position.score:
            return taken
    return len(matches)


def _with_beside(
    reading: Reading,
    reached: Sequence[Reach],
    scores: Mapping[int, float],
    matches: Sequence[RankedRecord],
    least: float,
    lifted_by: Mapping[int, int],
) -> list[RankedRecord]:
    """In order, the matches and of what they lifted the few that rank highest."""
    shown = {candidate.rid for candidate in matches}
    worth = {rid: scores[rid] for rid, match in lifted_by.items() if match in shown and scores[rid] >= least}
    if not worth:
        return [*matches]
    most = max(BESIDE_MOST, int(BESIDE_SHARE * len(matches)))
    best = in_order(reading, reached, worth)[:most]
    return sorted([*matches, *best], key=lambda candidate: candidate.position.order)


def _candidates(reading: Reading, reached: Sequence[Reach], scores: Mapping[int, float]) -> Iterator[RankedRecord]:
    by_sid = {reach.place.sid: reach for reach in reached}
    for rid, key, at in reading.records.keys(scores):
        reach = by_sid[rid >> SID_BITS]
        shown_at = at if reach.scope.stream.order_field in reach.scope.fields else None
        yield RankedRecord(Position(scores[rid], shown_at or 0, _digest(reach, key)), rid, reach)


def _digest(reach: Reach, key: str) -> int:
    """A number made of what a reader sees of a record, so that any may come first."""
    handle = f"{reach.origin.connection_id}/{reach.scope.stream.name}:{key}"
    return int.from_bytes(hashlib.blake2b(handle.encode(), digest_size=8).digest()) >> 1
