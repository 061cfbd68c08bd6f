"""How long the log is kept: as long as its owner says. What goes is noted in the log itself.

A note is a segment of one line, written by no process (`-0-` in its id). Its header says how many days are kept, or
which segments were let go; it is never let go itself.
"""

from contextlib import suppress
from typing import Any

from pdpp_server.model.activity import KEPT_DAYS_MAX, KEPT_DAYS_MIN, Segment
from pdpp_server.model.times import DAY_MICROS, instant, iso_micros
from pdpp_server.store.activity import Activity
from pdpp_server.store.engine import Database
from pdpp_server.store.log import Chain, LogLine, disclosure_of, log_line, others_known, segment_id

AT_ONCE = 200  # segments that one note names
_NO_PROCESS = 0


def keep_for(database: Database, days: int | None, now: str) -> int:
    """From now on, for ever where no days are given. How many lines were older already, and went."""
    _note(database.activity, now, keep_days=days)
    return let_go_of_old(database, now)


def kept_days(activity: Activity) -> int | None:
    """As its owner said last; None for ever."""
    last = None
    for note in _notes(activity).values():
        last = note.content.get("keep_days", last)
    return last if isinstance(last, int) and KEPT_DAYS_MIN <= last <= KEPT_DAYS_MAX else None


def newest_root(activity: Activity) -> Segment | None:
    """The header that closed the last day: its hash stands for everything before it."""
    with activity.segments() as segments:
        for id in sorted(segments, reverse=True):
            header = next(iter(segments[id]()), None)
            if header and "closes" in header.content:
                return Segment(id, header.n, header.digest)
    return None


def let_go_of_old(database: Database, now: str) -> int:
    """Segments that ended before the days that are kept, with what was asked in them. How many lines went."""
    days = kept_days(database.activity)
    if days is None:
        return 0
    before = _midnight(now, days)
    ended = database.activity.ends("", segment_id(before))
    old = [id for id, last in ended.items() if not _is_note(id) and _time_of(last) < before]
    for start in range(0, len(old), AT_ONCE):
        _let_go(database, old[start : start + AT_ONCE], now)
    return sum(ended[id].n + 1 for id in old)  # its header is line 0


def let_go_when_old(database: Database, at: str) -> None:
    """With the first line of a day, whose answer does not fail for it: the first of tomorrow tries again."""
    with suppress(Exception):
        let_go_of_old(database, at)


def _let_go(database: Database, ids: list[str], now: str) -> None:
    """Noted first: whoever is killed in between has said what would be missed, and goes on the next time."""
    _note(database.activity, now, let_go=ids)
    with database.activity.segments() as segments:
        lines = [line for id in ids for line in segments[id]()]
    disclosures = [disclosure_of(line.content) for line in lines]
    asked = [found.request_id for found in disclosures if found]
    database.asked.drop(database.asked.find(asked))
    database.activity.remove(ids)


def _note(activity: Activity, now: str, **noted: Any) -> None:
    """Numbered, and chained to the note before it: none can be taken away unseen."""
    before = _notes(activity)
    follows = None
    for id, note in before.items():
        follows = Segment(id, note.n, note.digest)  # the last of them
    chain = Chain(segment_id(now, _NO_PROCESS))
    others = others_known(now, activity)
    header = chain.header(now, follows, others, note=len(before) + 1, **noted)
    activity.take(chain.id, [log_line(header)])


def _notes(activity: Activity) -> dict[str, LogLine]:
    """In the order in which they were written, which several in one moment have too; none that somebody else made."""
    with activity.segments() as segments:
        first = {id: next(iter(lines()), None) for id, lines in segments.items() if _is_note(id)}
    notes = [(id, line) for id, line in first.items() if line and isinstance(line.content.get("note"), int)]
    notes.sort(key=lambda each: (each[1].content["note"], _time_of(each[1])))
    return dict(notes)


def _is_note(id: str) -> bool:
    return f"-{_NO_PROCESS}-" in id


def _time_of(line: LogLine) -> str:
    """When it was written, of a header too."""
    return line.content.get("at") or line.content.get("created_at") or ""


def _midnight(now: str, days: int) -> str:
    micros = instant(now)
    if micros is None:
        raise ValueError("A note needs a time.")
    return iso_micros((micros // DAY_MICROS - days) * DAY_MICROS)
