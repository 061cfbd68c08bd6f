"""What changed last, noted by whoever writes: the newest change of each kind, by day and by ever larger stretches."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import orjson

from pdpp_server.store.engine import Writing

CAME_OR_WENT, MOVED, EDITED = "+", ">", "."  # as newest_changes.what; an edit with the name of its field
SHIFTS = (0, 6, 12)  # a day, then stretches of 64 and of 4,096 days
EVER = 17  # the one stretch that holds all days

_NOTE = """
insert into newest_changes(sid, what, shift, place, version, emitted_at) values(?, ?, ?, ?, ?, ?)
on conflict(sid, what, shift, place) do update set version = excluded.version, emitted_at = excluded.emitted_at
"""


class NewestChange(NamedTuple):
    version: int
    emitted_at: str


_Change = tuple[int, str]  # the same, as it is made for every record that comes


class Noted:
    """The newest change of each kind and day in one batch."""

    def __init__(self) -> None:
        self._newest: dict[tuple[str, int], _Change] = {}

    def came_or_went(self, day: int, change: _Change) -> None:
        self._newest[CAME_OR_WENT, day] = change

    def edited(self, fields: Iterable[str], before: int, after: int, change: _Change) -> None:
        """`before` and `after` are the days of the record."""
        for name in fields:
            self._newest[EDITED + name, after] = change
        if before != after:
            self._newest[MOVED, before] = self._newest[MOVED, after] = change

    def keep(self, writer: Writing, sid: int) -> None:
        kept: dict[tuple[str, int, int], _Change] = {}
        for (what, day), change in self._newest.items():
            for shift in (*SHIFTS, EVER):
                place = (what, shift, day >> shift)
                kept[place] = max(change, kept.get(place, change))
        writer.run_many(_NOTE, [(sid, *place, *kept[place]) for place in sorted(kept)])


def edited_fields(declared: Iterable[str], before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The declared fields that are not as they were; of others nobody can be granted anything."""
    return [name for name in declared if _written(before, name) != _written(after, name)]


def _written(data: Mapping[str, Any], name: str) -> bytes:
    """As JSON, in which 1, 1.0 and true are three things; nothing where the field is missing."""
    return orjson.dumps(data[name], option=orjson.OPT_SORT_KEYS) if name in data else b""
