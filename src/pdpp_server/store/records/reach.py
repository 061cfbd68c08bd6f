"""What of a stream is visible, as numbers that any engine can narrow by."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import orjson

from pdpp_server.grants.permitted import Scope
from pdpp_server.model.sources import Origin
from pdpp_server.store.layout import StreamPlace

FEW = 2000

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
    values: dict[str, int | str]
    rids: tuple[int, ...] | None = None  # in order, where single records are all that is visible

    @property
    def is_few(self) -> bool:
        """Whether single records are visible, and so few that each can be looked at."""
        return self.shown == "few"

    @property
    def is_whole(self) -> bool:
        """Whether nothing in the range is hidden."""
        return self.shown == "whole"


def named(reach: Reach, rids: Iterable[int]) -> Reach:
    """Of what a reach shows, only these records. All of them are visible, so nothing else bounds them any longer."""
    ordered = tuple(sorted(rids))
    low, high = (ordered[0], ordered[-1] + 1) if ordered else (0, 0)
    values: dict[str, int | str] = {"low": low, "high": high, "rids": orjson.dumps(ordered).decode()}
    return replace(reach, shown="few" if len(ordered) <= FEW else "many", values=values, rids=ordered)


class IndexedRange(NamedTuple):
    """A range of one indexed field in which every record that passes lies; both ends belong to it."""

    table: str
    fid: int
    least: int | float | str
    most: int | float | str
