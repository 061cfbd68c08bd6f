"""What of a stream is visible, as numbers that any engine can narrow by."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import orjson

from pdpp_server.grants.permitted import Scope
from pdpp_server.model.sources import Origin
from pdpp_server.store.layout import MAX_DAY, StreamPlace, day_of, first_rid

FEW = 2000
ALWAYS, NEVER = -(1 << 62), 1 << 62

# whole: every record of a range. timed: those of its inner days, and of its edge days what lies inside the time bounds.
# few, many: single records; few are looked up one by one, of many what lies between them is passed over.
ReachShown = Literal["whole", "timed", "few", "many"]
BoundValue = int | float | str | bytes


@dataclass(frozen=True, slots=True)
class Reach:
    """The visible records of one stream of one connection, as a range of rids and what bounds it."""

    scope: Scope
    origin: Origin
    place: StreamPlace
    shown: ReachShown
    values: dict[str, Any]  # by the names under which an engine binds them
    rids: tuple[int, ...] | None = None  # in order, where single records are all that is visible

    @property
    def is_few(self) -> bool:
        """Whether single records are visible, and so few that each can be looked at."""
        return self.shown == "few"

    @property
    def is_whole(self) -> bool:
        """Whether nothing in the range is hidden."""
        return self.shown == "whole"

    def searches(self, field: str | None) -> bool:
        """Whether words are looked for in it: it is granted, and declared and indexed for that."""
        return field in self.place.slots and field in self.scope.fields and field in self.scope.stream.lexical_fields

    @property
    def edge_days(self) -> tuple[int, int]:
        """The days that time bounds cut; without bounds the first and the last of all, which hold what lies beyond."""
        if self.shown != "timed":
            return 0, MAX_DAY
        return day_of(int(self.values["since"])), day_of(int(self.values["until"]))


def timed(reach: Reach, since: int | None, until: int | None) -> Reach:
    """Of a whole stream, what lies within the time; of one that is bounded already, what lies within both."""
    sid = reach.place.sid
    least = max(ALWAYS if since is None else since, int(reach.values.get("since", ALWAYS)))
    most = max(least, min(NEVER if until is None else until, int(reach.values.get("until", NEVER))))
    first_day, last_day = day_of(least), day_of(most)
    values: dict[str, int | str] = {
        "low": first_rid(sid, first_day),
        "high": first_rid(sid, last_day + 1),
        "inner_low": first_rid(sid, first_day + 1),
        "inner_high": first_rid(sid, last_day),
        "since": least,
        "until": most,
    }
    return replace(reach, shown="timed", values=values)


def named(reach: Reach, rids: Iterable[int], few: int = FEW) -> Reach:
    """Of what a reach shows, only these records. All of them are visible, so nothing else bounds them any longer."""
    ordered = tuple(sorted(rids))
    low, high = (ordered[0], ordered[-1] + 1) if ordered else (0, 0)
    values: dict[str, int | str] = {"low": low, "high": high, "rids": orjson.dumps(ordered).decode()}
    return replace(reach, shown="few" if len(ordered) <= few else "many", values=values, rids=ordered)


class IndexedRange(NamedTuple):
    """A range of one indexed field in which every record that passes lies; both ends belong to it, unless said."""

    table: str
    fid: int
    least: BoundValue
    most: BoundValue
    is_above: bool = False  # whether what passes lies above the least value,
    is_below: bool = False  # and below the most

    @property
    def is_one_value(self) -> bool:
        return self.least == self.most
