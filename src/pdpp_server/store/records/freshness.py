"""When what a reader can see of a stream last changed: kept by whoever writes, so that no read has to look for it.

Decision page 0016 says what counts as a change for whom, and what does not because it could not be known cheaply.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise

import orjson

from pdpp_server.grants.permitted import Scope
from pdpp_server.store.engine import Reading
from pdpp_server.store.layout import MAX_DAY, day_of, first_moment
from pdpp_server.store.records.noted import CAME_OR_WENT, EDITED, EVER, MOVED, SHIFTS, NewestChange
from pdpp_server.store.records.reach import Reach
from pdpp_server.store.records.scope import shows
from pdpp_server.store.records.showing import Showing, StoredRow


def newest_change(reading: Reading, reach: Reach) -> str | None:
    """When something that the reach shows last changed; None where it shows nothing, or where that is not known."""
    return reading.records.known(reach, (_find_newest, reach.scope.granted), lambda: _find_newest(reading, reach))


def _find_newest(reading: Reading, reach: Reach) -> str | None:
    scope = reach.scope
    if scope.resources is not None:
        return _newest_named(reading, reach)
    kinds = [CAME_OR_WENT, *(EDITED + name for name in scope.granted)]
    if not scope.is_bounded:
        is_empty = reading.records.live(reach.place.sid) == 0
        return None if is_empty else _newest_of(reading, reach, kinds, [(EVER, 0, 1)])
    if scope.stream.order_field not in scope.granted:
        return None  # whether a record came from outside the bounds or was there before, only a hidden time tells
    first, end = whole_days(scope)
    if not reading.records.has_days(reach.place.sid, first, end):
        return None
    return _newest_of(reading, reach, [*kinds, MOVED], stretches(first, end))


def whole_days(scope: Scope) -> tuple[int, int]:
    """The days that lie wholly inside the time bounds, from the first until before the second.

    Day 0 is none of them: records without a time lie there.
    """
    first, end = 1, MAX_DAY + 1
    if scope.since is not None:
        day = day_of(scope.since)
        first = max(first, day if first_moment(day) >= scope.since else day + 1)
    if scope.until is not None:
        end = day_of(scope.until)
    return first, end


def stretches(first: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Days as few places as can be: a shift, and the places from the first until before the second."""
    for shift, larger in pairwise(SHIFTS):
        size = 1 << (larger - shift)
        inner_first, inner_end = -(-first // size), end // size
        if inner_first >= inner_end:
            yield shift, first, end
            return
        yield shift, first, inner_first * size
        yield shift, inner_end * size, end
        first, end = inner_first, inner_end
    yield SHIFTS[-1], first, end


def _newest_of(reading: Reading, reach: Reach, kinds: list[str], places: Iterable[tuple[int, int, int]]) -> str | None:
    found = [
        reading.records.newest_change(reach.place.sid, kinds, shift, low, high)
        for shift, low, high in places
        if low < high
    ]
    latest = max((NewestChange(*row) for row in found if row), default=None)
    return latest.emitted_at if latest else None


def _newest_named(reading: Reading, reach: Reach) -> str | None:
    """Of few records each can be looked at, newest first; of most of them one look at their number is enough."""
    scope, sid = reach.scope, reach.place.sid
    showing = Showing(reading, scope, reach.origin, sid)
    named = reading.records.named(sid, scope.resources or ())
    latest: NewestChange | None = None
    for rid, key, version, revised, emitted_at, at in sorted(named, key=lambda row: -row[2]):
        if latest and version <= latest.version:
            break
        if not shows(scope, key, at):
            continue
        change = NewestChange(version, emitted_at)
        if revised:
            data = orjson.loads(reading.records.data(rid))
            change = NewestChange(*showing.seen_since(StoredRow(rid, key, version, revised, emitted_at, data)))
        latest = max(change, latest or change)
    return latest.emitted_at if latest else None
