"""The page on which the owner changes what a client may read: less of it, another end; a successor takes its place."""

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256

from pdpp_server.console.boxes import boxes
from pdpp_server.console.choice import Most, Ticks, day_as_time, first_ticks, kept_of, ticks_of_form
from pdpp_server.console.clients import STATES, labels, rows_of, service_of, services
from pdpp_server.console.consent import CHANGED
from pdpp_server.console.desks import Desks
from pdpp_server.console.page import Page, SeeOther
from pdpp_server.console.visit import Visit
from pdpp_server.console.would_read import grants_read, is_telling
from pdpp_server.errors import InvalidRequest
from pdpp_server.evidence.refusals import message_text
from pdpp_server.evidence.said import say
from pdpp_server.evidence.words import local_day
from pdpp_server.model.grants import Grant
from pdpp_server.model.selections import Selection
from pdpp_server.model.times import iso
from pdpp_server.owner.changes import selection_of
from pdpp_server.owner.desk import GrantRow


def show(desks: Desks, visit: Visit) -> Page:
    rows = _living(desks, visit.named["grant_id"])
    return _page(desks, visit, rows, _ticks(desks, rows))


def take(desks: Desks, visit: Visit) -> Page | SeeOther:
    """Once: a form that comes again finds other grants than its page showed, and leads to what holds now."""
    grant_id = visit.named["grant_id"]
    rows = _living(desks, grant_id)
    if visit.value("was") != _was(rows):
        return SeeOther(f"/clients/{rows[0].standing}")
    ticks = replace(ticks_of_form(visit), once=False)
    try:
        kept, ends = _kept(rows, ticks), _ends(desks, rows, ticks)
        would = desks.owner.changed_grants(grant_id, ends, kept)
    except InvalidRequest as refusal:
        return _page(desks, visit, rows, ticks, said=message_text(refusal))
    wants, reviewed = visit.value("action") == "change", _reviewed(kept, ends)
    if not wants or visit.value("reviewed") != reviewed:  # only what was on the page is done
        return _page(desks, visit, rows, ticks, would, CHANGED if wants else "", reviewed)
    return SeeOther(f"/clients/{desks.owner.change_grant(grant_id, ends, kept)[0].standing}")


def preview(desks: Desks, visit: Visit) -> Page:
    """What it would see if it asked now."""
    rows = _living(desks, visit.named["grant_id"])
    reads = grants_read(desks, tuple(row.grant for row in rows))
    values = {
        "name": rows[0].name,
        "id": rows[0].standing,
        "is_active": STATES[rows[0].word(iso(desks.now()))] == "active",
        "reads": reads,
        "is_once": all(row.grant.access_mode == "single_use" for row in rows),
        "marks_sensitive": is_telling([each.is_sensitive for each in reads]),
    }
    return Page("preview.html", values)


def note(desks: Desks, visit: Visit) -> SeeOther:
    grant_id = visit.named["grant_id"]
    rows = rows_of(desks, grant_id)
    desks.owner.note_grant(grant_id, visit.value("name"), visit.value("note"))
    return SeeOther(f"/clients/{rows[0].standing}")


def _living(desks: Desks, grant_id: str) -> list[GrantRow]:
    """Of a package those that are alive; all where none is."""
    rows, now = rows_of(desks, grant_id), iso(desks.now())
    return [row for row in rows if row.word(now) == "active"] or rows


def _was(rows: list[GrantRow]) -> str:
    return " ".join(row.grant.grant_id for row in rows)


def _asked(rows: list[GrantRow]) -> tuple[Selection, ...]:
    """What is granted, as if it were asked for now."""
    return tuple(selection_of(row.grant) for row in rows)


def _most(rows: list[GrantRow]) -> Most:
    return tuple(row.grant.streams for row in rows)


def _ticks(desks: Desks, rows: list[GrantRow]) -> Ticks:
    """Everything as it is; where the ends differ, the last is that of all, and the others are their own."""
    days = [_end_day(desks, row) for row in rows]
    last = "" if "" in days else max(days)
    own = {place: day for place, day in enumerate(days) if day != last}
    return first_ticks(_asked(rows), _most(rows), last, own)


def _kept(rows: list[GrantRow], ticks: Ticks) -> dict[str, Selection]:
    kept = kept_of(ticks, _asked(rows), _most(rows))
    if not kept:
        raise InvalidRequest(say("Leave something that it may read, or end its access."), param="stream")
    return {rows[place].grant.grant_id: selection for place, selection in kept.items()}


def _ends(desks: Desks, rows: list[GrantRow], ticks: Ticks) -> dict[str, str | None]:
    """Of each grant; as it is to the second, where the day was not touched."""
    days = [ticks.ends.get(place, ticks.end) for place in range(len(rows))]
    return {row.grant.grant_id: _end(desks, row, day) for row, day in zip(rows, days, strict=True)}


def _end(desks: Desks, row: GrantRow, day: str) -> str | None:
    if day == _end_day(desks, row):
        return row.grant.expires_at
    return day_as_time(day, desks.zone) if day else None


def _end_day(desks: Desks, row: GrantRow) -> str:
    return local_day(row.grant.expires_at, desks.zone) if row.grant.expires_at else ""


def _reviewed(kept: Mapping[str, Selection], ends: Mapping[str, str | None]) -> str:
    """What stands for this change, so that no other one is made in its place."""
    return sha256(repr((sorted(kept.items()), sorted(ends.items()))).encode()).hexdigest()


def _page(
    desks: Desks,
    visit: Visit,
    rows: list[GrantRow],
    ticks: Ticks,
    would: tuple[Grant, ...] = (),
    said: str = "",
    reviewed: str = "",
) -> Page:
    reads = grants_read(desks, would)
    state = STATES[rows[0].word(iso(desks.now()))]
    values = {
        "name": rows[0].name,
        "id": visit.named["grant_id"],
        "was": _was(rows),
        "is_active": state == "active",
        "state": state,
        "is_once": all(row.grant.access_mode == "single_use" for row in rows),
        "sources": boxes(_asked(rows), _most(rows), ticks, labels(desks), services(desks)),
        "ticks": ticks,
        "today": desks.local_now().date().isoformat(),
        "said": said,
        "reviewed": reviewed,
        "reads": reads,
        "ended": _ended(desks, rows, would),
        "marks_sensitive": is_telling([each.is_sensitive for each in reads]),
    }
    return Page("change.html", values)


def _ended(desks: Desks, rows: list[GrantRow], would: tuple[Grant, ...]) -> list[str]:
    """Sources of which nothing would be left."""
    if not would:
        return []
    known = services(desks)
    left = {grant.source.id for grant in would}
    grants = {row.grant.source.id: row.grant for row in rows}
    return [service_of(grant, known) for id, grant in grants.items() if id not in left]
