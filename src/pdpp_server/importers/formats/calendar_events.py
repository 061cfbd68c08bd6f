"""One event of a calendar: what it says, as the fields of a record."""

import re
from dataclasses import dataclass
from datetime import UTC, timedelta
from zoneinfo import ZoneInfo

from pdpp_server.importers.formats.calendar_times import Clock, When, duration
from pdpp_server.importers.formats.content_lines import Component, ContentLine, parts, unescaped
from pdpp_server.importers.formats.html_text import html_text
from pdpp_server.importers.identity import digest, record_key
from pdpp_server.model.ingest import Rejection
from pdpp_server.model.times import iso
from pdpp_server.wire.envelope import Json

_MARKUP = re.compile(r"<(?:br|p|a|div|span|ul|li|b|html)[\s/>]", re.IGNORECASE)
_STATUS = {"CONFIRMED": "confirmed", "TENTATIVE": "tentative", "CANCELLED": "cancelled"}
_ANSWERS = {"ACCEPTED": "accepted", "DECLINED": "declined", "TENTATIVE": "tentative", "DELEGATED": "delegated"}


@dataclass(frozen=True, slots=True)
class CalendarEvent:
    """One VEVENT, its times read."""

    place: str
    component: Component
    clock: Clock
    uid: str
    start: When
    end: When
    instead_of: When | None  # the time of the series that this one replaces

    @property
    def key(self) -> str:
        return record_key(self.uid) if self.instead_of is None else f"{record_key(self.uid)}_{self.instead_of.stamp}"

    @property
    def is_for_the_future(self) -> bool:
        """Whether it changes every later time of its series too."""
        line = self.component.first("RECURRENCE-ID")
        return line is not None and (line.param("RANGE") or "").upper() == "THISANDFUTURE"

    @property
    def edition(self) -> tuple[int, str]:
        """The later, the truer."""
        sequence = value_of(self.component, "SEQUENCE")
        is_number = sequence.isdecimal() and len(sequence) < 10
        return int(sequence) if is_number else 0, value_of(self.component, "LAST-MODIFIED")

    @property
    def said(self) -> list[tuple[str, str]]:
        """What two copies of an event have in common, wherever and whenever they were written down."""
        return [(line.name, line.value) for line in self.component.lines if line.name != "DTSTAMP"]


def read_event(component: Component, place: str, clock: Clock) -> CalendarEvent | Rejection:
    if not component.is_whole:
        return Rejection(place, "invalid_record", "the event has no end: the file was cut, or a line is missing")
    start = clock.read(component.first("DTSTART"))
    if start is None:
        return Rejection(place, "invalid_record", "the event has no start that can be read")
    instead_of = clock.read(component.first("RECURRENCE-ID"))
    if instead_of is None and component.first("RECURRENCE-ID"):
        return Rejection(place, "invalid_record", "RECURRENCE-ID is no time")
    uid = value_of(component, "UID")
    uid = uid or digest(start.stamp, value_of(component, "SUMMARY"), value_of(component, "LOCATION"))
    return CalendarEvent(place, component, clock, uid, start, _end(component, start, clock), instead_of)


def _end(component: Component, start: When, clock: Clock) -> When:
    """Where none is told, a date lasts a day and a time no time at all (RFC 5545 section 3.6.1)."""
    end = clock.read(component.first("DTEND"))
    if end and end.is_date == start.is_date:
        return end if end.utc >= start.utc else start
    lasts = duration(value_of(component, "DURATION"))
    return start.after(timedelta(days=1 if start.is_date else 0) if lasts is None else lasts)


def occurrence_data(event: CalendarEvent, start: When) -> Json:
    """One time that the event takes place; it ends as long after its start as the event itself."""
    lasts = event.end.wall - event.start.wall if start.is_date else event.end.utc - event.start.utc
    return {"event_id": event.key, **_brief(event), **_times(start, start.after(lasts))}


def _times(start: When, end: When) -> Json:
    data: Json = {"start": iso(start.utc), "end": iso(max(start.utc, end.utc)), "is_all_day": start.is_date}
    if start.is_date:
        last = max(start.wall, end.wall - timedelta(days=1))
        data["start_date"] = f"{start.wall:%Y-%m-%d}"
        data["end_date"] = f"{last:%Y-%m-%d}"
    else:
        data["start_local"] = start.wall.isoformat()
    return data


def _brief(event: CalendarEvent) -> Json:
    component = event.component
    return _told(
        {
            "title": _text_of(component, "SUMMARY"),
            "location": _text_of(component, "LOCATION"),
            "status": _STATUS.get(value_of(component, "STATUS").upper()),
        }
    )


def _told(data: Json) -> Json:
    return {name: value for name, value in data.items() if value}


def event_data(event: CalendarEvent) -> Json:
    component, clock = event.component, event.clock
    described = _text_of(component, "DESCRIPTION")
    organizer = component.first("ORGANIZER")
    organizer_name, organizer_address = _person(organizer) if organizer else ("", "")
    invited = [*component.all("ATTENDEE")]
    people = [organizer, *invited] if organizer else invited
    rules = [line.value.strip() for line in (*component.all("RRULE"), *component.all("RDATE"))]
    categories = [name for line in component.all("CATEGORIES") for name in parts(line.value, ",")]
    data: Json = {
        "description": html_text(described) if _MARKUP.search(described) else described,
        "series_id": record_key(event.uid) if event.instead_of else None,
        "time_zone": _zone_name(event.start),
        "recurrence": "; ".join(rules),
        "is_recurring": bool(rules),
        "organizer_name": organizer_name,
        "organizer_address": organizer_address,
        "attendees": [_attendee(line) for line in invited],
        "people": ", ".join(_shown(line) for line in people),
        "categories": [name for name in categories if name],
        "links": _links(component),
        "visibility": value_of(component, "CLASS").lower(),
        "is_free": value_of(component, "TRANSP").upper() == "TRANSPARENT",
        "created_at": _instant(clock.read(component.first("CREATED"))),
        "updated_at": _instant(clock.read(component.first("LAST-MODIFIED"))),
    }
    kept = {name: value for name, value in data.items() if value not in (None, "", [])}
    return {"id": event.key, **_brief(event), **_times(event.start, event.end), **kept}


def _attendee(line: ContentLine) -> Json:
    name, address = _person(line)
    status = (line.param("PARTSTAT") or "").upper()
    return _told({"name": name, "address": address, "answer": _ANSWERS.get(status, "none")})


def _person(line: ContentLine) -> tuple[str, str]:
    """Name and address; an address that is none is left out."""
    value = line.value.strip()
    name = " ".join((line.param("CN") or "").split())
    scheme, _, address = value.partition(":")
    if scheme.lower() != "mailto":
        address = line.param("EMAIL") or value
    return name, address.lower() if "@" in address else ""


def _shown(line: ContentLine) -> str:
    name, address = _person(line)
    if name and address and name.lower() != address:
        return f"{name} <{address}>"
    return name or address


def _links(component: Component) -> list[str]:
    names = ("URL", "X-GOOGLE-CONFERENCE", "CONFERENCE", "ATTACH")
    values = (line.value.strip() for name in names for line in component.all(name))
    return list(dict.fromkeys(value for value in values if value.startswith(("https://", "http://"))))


def _zone_name(when: When) -> str | None:
    """None for a zone that only its file knows."""
    if isinstance(when.zone, ZoneInfo):
        return when.zone.key
    return "UTC" if when.zone is UTC else None


def _instant(when: When | None) -> str | None:
    return iso(when.utc) if when else None


def _text_of(component: Component, name: str) -> str:
    return unescaped(value_of(component, name)).strip()


def value_of(component: Component, name: str) -> str:
    line = component.first(name)
    return line.value.strip() if line else ""
