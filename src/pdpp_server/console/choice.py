"""The owner's choice: what was asked as boxes and dates, and what is ticked as a decision."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, time, tzinfo

from pdpp_server.console.streams import day_named
from pdpp_server.console.visit import Visit, unreadable_form
from pdpp_server.errors import InvalidRequest
from pdpp_server.evidence.said import say
from pdpp_server.evidence.words import local_day
from pdpp_server.model.authorization import Decision
from pdpp_server.model.grants import StreamGrant
from pdpp_server.model.selections import Selection, StreamSelection, TimeRange
from pdpp_server.model.times import instant, iso
from pdpp_server.wire.declarations import required_fields

VIEW, END = "view.", "end."  # of one stream, of one selection, by its place
_DATE_CHARS = len("2026-11-15")

Most = tuple[tuple[StreamGrant, ...], ...]  # for each selection, the most that it asks for


@dataclass(frozen=True, slots=True)
class Ticks:
    """Streams and fields by their places: which selection, which stream of it."""

    streams: frozenset[tuple[int, int]]
    connections: frozenset[tuple[int, str]]
    fields: frozenset[tuple[int, int, str]]
    views: Mapping[tuple[int, int], str]
    since: str
    before: str
    end: str  # a day of the owner's clock; empty for none
    once: bool
    ai_training: bool
    ends: Mapping[int, str] = field(default_factory=dict[int, str])  # of selections with an end of their own


# What is ticked -------------------------------------------------------------------------------------------------------


def first_ticks(asked: tuple[Selection, ...], most: Most, end: str, ends: Mapping[int, str] | None = None) -> Ticks:
    """What the client needs and nothing else: no optional stream, and no connection where there are several."""
    return Ticks(
        streams=frozenset((i, j) for i, j, stream in _places(most) if necessity(asked[i], stream) == "required"),
        connections=frozenset(
            (i, connection)
            for i, _, stream in _places(most)
            if _named(asked[i], stream) or len(stream.connections) == 1
            for connection in stream.connections
        ),
        fields=_every_field(most),
        views={},
        since="",
        before="",
        end=end,
        once=bool(asked) and all(selection.access_mode == "single_use" for selection in asked),
        ai_training=False,
        ends=ends or {},
    )


def ticks_of(decision: Decision, most: Most, asked: tuple[Selection, ...], zone: tzinfo) -> Ticks:
    """The boxes as that decision would have them ticked; what must be affirmed by itself is never ticked before."""
    decided: dict[tuple[int, str], StreamSelection] = {}
    ends: dict[int, str] = {}
    for i, selection in enumerate(asked):
        for place, made in enumerate(decision.selections):
            if _is_of(made, selection):
                decided |= {(i, stream.name): stream for stream in made.streams}
                if place in decision.ends:
                    ends[i] = local_day(decision.ends[place], zone)
    chosen = [(i, j, stream, decided[i, stream.name]) for i, j, stream in _places(most) if (i, stream.name) in decided]
    times = [made.time for _, _, stream, made in chosen if made.time and not _was_asked(made.time, stream)]
    return Ticks(
        streams=frozenset((i, j) for i, j, *_ in chosen),
        connections=frozenset((i, each) for i, _, _, made in chosen for each in made.connections or ()),
        fields=frozenset(
            (i, j, name)
            for i, j, stream, made in chosen
            for name in (stream.fields if made.fields is None else made.fields)
        ),
        views={(i, j): made.view for i, j, _, made in chosen if made.view},
        since=next((time.since for time in times if time.since and len(time.since) == _DATE_CHARS), ""),
        before=next((time.until for time in times if time.until and len(time.until) == _DATE_CHARS), ""),
        end=local_day(decision.expires_at, zone) if decision.expires_at else "",
        once=all(made.access_mode == "single_use" for made in decision.selections),
        ai_training=False,
        ends=ends,
    )


def _was_asked(time: TimeRange, stream: StreamGrant) -> bool:
    return stream.time is not None and (time.since, time.until) == (stream.time.since, stream.time.until)


def _is_of(made: Selection, asked: Selection) -> bool:
    """Whether that was decided about this; of one source there may be two, about other connections of it."""
    named = {each for stream in asked.streams for each in stream.connections or ()}
    decided = {each for stream in made.streams for each in stream.connections or ()}
    return made.source_id == asked.source_id and (not named or bool(named & decided))


def ticks_of_form(visit: Visit) -> Ticks:
    streams = [place_of(value) for value in visit.values("stream")]
    connections = [named_place(value) for value in visit.values("connection")]
    fields = [named_place(value) for value in visit.values("field")]
    views = [(place_of(place), value) for place, value in _named_after(VIEW, visit)]
    ends = [(place_of(place), value) for place, value in _named_after(END, visit) if value]
    return Ticks(
        streams=frozenset((place[0], place[1]) for place in streams if len(place) == 2),
        connections=frozenset((place[0], name) for place, name in connections),
        fields=frozenset((place[0], place[1], name) for place, name in fields if len(place) == 2),
        views={(place[0], place[1]): value for place, value in views if value and len(place) == 2},
        since=visit.value("since"),
        before=visit.value("before"),
        end="" if visit.value("no_end") else visit.value("end"),
        once=visit.value("mode") == "single_use",
        ai_training=visit.value("ai_training") == "yes",
        ends={place[0]: value for place, value in ends},
    )


def _named_after(prefix: str, visit: Visit) -> list[tuple[str, str]]:
    """What stands behind that prefix in the names of a form, with the values."""
    return [(name.removeprefix(prefix), value) for name, value in visit.form if name.startswith(prefix)]


# The decision ---------------------------------------------------------------------------------------------------------


def decision_of(ticks: Ticks, asked: tuple[Selection, ...], most: Most, zone: tzinfo) -> Decision:
    """Raises `InvalidRequest` where something is left to choose."""
    kept = kept_of(ticks, asked, most)
    if not kept:
        raise InvalidRequest(say("Choose at least one stream."), param="stream")
    ends = {place: day_as_time(ticks.ends[i], zone) for place, i in enumerate(kept) if i in ticks.ends}
    end = day_as_time(ticks.end, zone) if ticks.end else None
    return Decision(tuple(kept.values()), end, ticks.ai_training, ends)


def kept_of(ticks: Ticks, asked: tuple[Selection, ...], most: Most) -> dict[int, Selection]:
    """What is ticked of each selection, by its place; one of which nothing is ticked is left out."""
    kept: dict[int, Selection] = {}
    for i, selection in enumerate(asked):
        streams = tuple(_streams(ticks, i, selection, most[i]))
        if streams:
            mode = "single_use" if ticks.once else selection.access_mode
            kept[i] = replace(selection, streams=streams, preset=None, access_mode=mode)
    return kept


def day_as_time(day: str, zone: tzinfo) -> str:
    """When that day begins by the owner's clock."""
    return iso(datetime.combine(day_named(day), time(), zone))


def _streams(ticks: Ticks, i: int, selection: Selection, most: tuple[StreamGrant, ...]) -> Iterator[StreamSelection]:
    for j, stream in enumerate(most):
        if (i, j) not in ticks.streams:
            continue
        asked = _asked(selection, stream)
        connections = tuple(each for each in stream.connections if (i, each) in ticks.connections)
        if len(stream.connections) == 1:
            connections = stream.connections
        if not connections:
            raise InvalidRequest(say("Choose from which of your connections it may read."), param="connection")
        view, fields = _narrowed_fields(ticks, (i, j), stream, asked)
        yield StreamSelection(
            name=stream.name,
            necessity=necessity(selection, stream),
            connections=connections,
            time=_narrowed_time(ticks, stream),
            view=view,
            fields=fields,
            resources=None if stream.resources is None else tuple(sorted(stream.resources)),
        )


def _narrowed_fields(
    ticks: Ticks, place: tuple[int, int], stream: StreamGrant, asked: StreamSelection | None
) -> tuple[str | None, tuple[str, ...] | None]:
    """As it was asked, as long as nothing of it is taken away."""
    if view := ticks.views.get(place):
        return view, None
    kept = tuple(name for name in stream.declared.fields if name in stream.fields and (*place, name) in ticks.fields)
    if {*kept} | required_fields(stream.declared) < stream.fields:
        return None, kept or tuple(stream.declared.primary_key)
    if asked is not None:
        return asked.view, asked.fields
    return None, None if len(stream.fields) == len(stream.declared.fields) else kept


def _narrowed_time(ticks: Ticks, stream: StreamGrant) -> TimeRange | None:
    """What was asked and what the owner says, whichever is less."""
    if stream.declared.consent_time_field is None:
        return None
    asked = stream.time or TimeRange()
    starts = [time for time in (asked.since, ticks.since) if time]
    ends = [time for time in (asked.until, ticks.before) if time]
    if not starts and not ends:
        return None
    return TimeRange(max(starts, key=_moment, default=None), min(ends, key=_moment, default=None))


def _moment(time: str) -> int:
    found = instant(time)
    if found is None:
        raise InvalidRequest(say("A date is written as 2026-01-31."), param="since")
    return found


# What the page shows --------------------------------------------------------------------------------------------------


def necessity(selection: Selection, stream: StreamGrant) -> str:
    asked = _asked(selection, stream)
    return asked.necessity if asked else "required"


def _asked(selection: Selection, stream: StreamGrant) -> StreamSelection | None:
    return next((each for each in selection.streams if each.name in {stream.name, "*"}), None)


def _named(selection: Selection, stream: StreamGrant) -> bool:
    """Whether the client itself said which connections it means."""
    asked = _asked(selection, stream)
    return asked is not None and asked.connections is not None


def _places(most: Most) -> Iterator[tuple[int, int, StreamGrant]]:
    for i, streams in enumerate(most):
        for j, stream in enumerate(streams):
            yield i, j, stream


def _every_field(most: Most) -> frozenset[tuple[int, int, str]]:
    return frozenset((i, j, name) for i, j, stream in _places(most) for name in stream.fields)


def named_place(value: str) -> tuple[tuple[int, ...], str]:
    """`1.2:name` is the place (1, 2) and a name, in which anything may stand."""
    place, _, name = value.partition(":")
    return place_of(place), name


def place_of(text: str) -> tuple[int, ...]:
    parts = text.split(".")
    if not all(part.isascii() and part.isdigit() and len(part) < 9 for part in parts):
        raise unreadable_form()
    return tuple(map(int, parts))
